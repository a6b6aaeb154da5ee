import { memo, startTransition, useState, useTransition } from "react";
import { flushSync } from "react-dom";
import { useView } from "watchcache/react";
import { frame, history, later, mount, open, settled, sleep, thing, things, until, views } from "./lib.jsx";

/** Rows, and all that is said of them. */
function Rows({ resource, spec, deps }) {
  const { keys, total, loaded, stale, error } = useView(resource, spec, deps);
  return `${loaded ? "loaded" : "loading"}${stale ? " stale" : ""} ${total}: ${keys.map((key) => key.split("-")[1]).join(" ")}${error ? ` (${error.code})` : ""}`;
}

const size = [{ path: "spec.size", as: "number" }];

export async function rows() {
  const { upstream, cache, resource } = things({ count: 6 });
  const { text, unmount } = mount(
    <Rows resource={resource} spec={{ labelSelector: "app=web", orderBy: [{ ...size[0], descending: true }] }} />,
  );
  await until(() => text() === "loaded 4: 5 4 2 1");
  upstream.put(thing(7));
  await until(() => text() === "loaded 5: 7 5 4 2 1");
  const now = [views(cache), upstream.streams, upstream.asked("list").length];
  unmount();
  // A view may go a task later than the stream.
  await until(() => upstream.streams === 0 && views(cache) === 0);
  return { now, after: [open(cache), views(cache)] };
}

export async function windows() {
  const { cache, resource } = things({ count: 100 });
  const at = (offset) => <Rows resource={resource} spec={{ orderBy: size, window: { offset, limit: 3 } }} />;
  const { text, render, container } = mount(at(0));
  await until(() => text() === "loaded 100: 0 1 2");
  const seen = history(container);
  for (const offset of [3, 50, 97]) {
    render(at(offset));
    await until(() => text() === `loaded 100: ${offset} ${offset + 1} ${offset + 2}`);
  }
  render(<Rows resource={resource} spec={{ orderBy: size }} />);
  await until(() => text().split(" ").length === 102);
  return { seen: seen.slice(0, 4), views: views(cache) };
}

/** What a service selects: before it is there, in another version of it, and when it selects otherwise. */
export async function related() {
  const { cache, resource } = things({ count: 4 });
  const service = (app, version) => ({
    metadata: { namespace: "odd", name: "s", resourceVersion: String(version) },
    spec: { selector: { app }, ports: [] },
  });
  const at = (selectedBy) => <Rows resource={resource} spec={{ selectedBy, orderBy: size }} />;
  const { text, render, container } = mount(at(null));
  await until(() => text() === "loaded 0: ");
  const seen = history(container);
  render(at(service("web", 1)));
  await until(() => text() === "loaded 1: 1");
  const before = views(cache);
  seen.length = 0;
  render(at(service("web", 2)));
  await frame();
  const another = { seen: [...seen], views: views(cache) - before };
  render(at(service("db", 3)));
  await until(() => text() === "loaded 1: 3");
  render(at({ metadata: {}, spec: { selector: "app=db" } }));
  await until(() => text() === "loaded 1: 3 (invalid)");
  return another;
}

export async function refused() {
  const { upstream, resource } = things({ count: 4 });
  const at = (labelSelector) => <Rows resource={resource} spec={{ labelSelector, orderBy: size }} />;
  const { text, render, container } = mount(at("app=web"));
  await until(() => text() === "loaded 2: 1 2");
  const seen = history(container);
  render(at("app in ("));
  await until(() => text() === "loaded 2: 1 2 (invalid)");
  upstream.put(thing(5));
  await until(() => text() === "loaded 3: 1 2 5 (invalid)");
  render(at("app=db"));
  await until(() => text() === "loaded 2: 0 3");
  render(<Rows resource={resource} spec={{ labelSelector: "app=db", orderBy: size, search: { text: "x", paths: ["a["] } }} />);
  await until(() => text() === "loaded 2: 0 3 (invalid)");
  return seen.filter((text) => !text.includes(": "));
}

/** A mistake that follows a good spec before its rows are there. */
export async function refusedMidway() {
  const { resource } = things({ count: 2_000 });
  const at = (labelSelector) => <Rows resource={resource} spec={{ labelSelector, orderBy: size, window: { offset: 0, limit: 2 } }} />;
  const { text, render } = mount(at("app=none"));
  await until(() => text() === "loaded 0: ");
  for (const typed of ["app=we", "app=web", "app in"]) {
    flushSync(() => render(at(typed)));
  }
  await until(() => text() === "loaded 1333: 1 2 (invalid)");
  return text();
}

/** A first spec that is refused, before the core is there to read it or after, and one that follows it. */
export async function refusedFirst() {
  const { resource } = things({ count: 4 });
  const at = (labelSelector) => <Rows resource={resource} spec={{ labelSelector, orderBy: size }} />;
  const { text, render } = mount(at("app in ("));
  await until(() => text().endsWith("(invalid)"));
  const first = text();
  render(at("app=db"));
  await until(() => text() === "loaded 2: 0 3");
  return first;
}

export async function typed() {
  const { cache, upstream, resource } = things({ count: 2_000, options: { linger: 5_000 } });
  const { text, render, container } = mount(<Rows resource={resource} spec={{ window: { offset: 0, limit: 2 }, orderBy: size }} />);
  await until(() => text() === "loaded 2000: 0 1");
  const seen = history(container);
  const most = [];
  for (let i = 1; i <= 20; i++) {
    render(<Rows resource={resource} spec={{ fieldSelector: `spec.size!=${i}`, window: { offset: 0, limit: 2 }, orderBy: size }} />);
    if (i % 3 === 0) await frame();
    most.push(views(cache));
  }
  await until(() => text() === "loaded 1999: 0 1");
  await settled();
  return { most: Math.max(...most), end: views(cache), streams: upstream.streams, blank: seen.filter((text) => !text.includes(": 0 ")) };
}

/** Texts that are typed in transitions, of which most are never on the screen. */
export async function typedInTransitions() {
  const { cache, resource } = things({ count: 2_000, options: { linger: 5_000 } });
  let type;
  function Table() {
    const [field, setField] = useState();
    type = setField;
    return <Rows resource={resource} spec={{ fieldSelector: field, window: { offset: 0, limit: 2 }, orderBy: size }} />;
  }
  const { text } = mount(<Table />);
  await until(() => text() === "loaded 2000: 0 1");
  for (let i = 1; i <= 50; i++) {
    startTransition(() => type(`spec.size!=${i}`));
    if (i % 10 === 0) await Promise.resolve();
  }
  await until(() => text() === "loaded 1999: 0 1");
  await settled();
  return views(cache);
}

export async function searched() {
  const { cache, resource } = things({ count: 200 });
  let made;
  function Table({ search, offset = 0 }) {
    const live = useView(resource, { search, orderBy: size, window: { offset, limit: 2 } });
    made = live;
    return `${live.total}: ${live.rows.map(({ spec }) => spec.size).join(" ")}`;
  }
  const { text, render, container } = mount(<Table />);
  await until(() => text() === "200: 0 1");
  made.setWindow({ offset: 150, limit: 2 });
  await until(() => text() === "200: 150 151");
  const seen = history(container);
  // What was scrolled to is of the search before.
  render(<Table search="thing-19" />);
  await until(() => text() === "11: 19 190");
  // Both in one render.
  render(<Table search="thing-1" offset={1} />);
  await until(() => text() === "111: 10 11");
  const one = made.view;
  made.setWindow({ offset: 3, limit: 2 });
  await until(() => text() === "111: 12 13");
  render(<Table search="thing-1" offset={1} />);
  await settled();
  const stays = text();
  render(<Table search={null} />);
  await until(() => text() === "200: 0 1");
  return { seen, stays, same: one === made.view, views: views(cache), setWindow: made.setWindow === made.view.setWindow };
}

export async function otherResource() {
  const one = things({ count: 4 });
  const other = things({ count: 2 });
  other.upstream.delay = 100;
  const at = ({ resource }) => <Rows resource={resource} spec={{ orderBy: size }} />;
  const { text, render, container } = mount(at(one));
  await until(() => text() === "loaded 4: 0 1 2 3");
  const seen = history(container);
  render(at(other));
  await until(() => text() === "loaded 2: 0 1");
  render(at({ resource: null }));
  await until(() => text() === "loading 0: ");
  return seen;
}

export async function functionsByDeps() {
  const { cache, resource } = things({ count: 10, options: { linger: 5_000 } });
  let renders = 0;
  function Table({ least, other }) {
    renders++;
    const { rows } = useView(resource, { where: ({ spec }) => spec.size >= least, orderBy: size }, [least]);
    return `${other} ${rows.map(({ spec }) => spec.size).join(" ")}`;
  }
  const { text, render } = mount(<Table least={8} other="a" />);
  await until(() => text() === "a 8 9");
  render(<Table least={8} other="b" />);
  await until(() => text() === "b 8 9");
  const one = views(cache);
  render(<Table least={7} other="b" />);
  await until(() => text() === "b 7 8 9");
  await sleep(100);
  return { one, end: views(cache), renders };
}

export async function functionsInPlace() {
  const { cache, upstream, resource } = things({ count: 10 });
  let renders = 0;
  function Table({ deps }) {
    renders++;
    const { rows, error } = useView(resource, { where: ({ spec }) => spec.size >= 8, orderBy: size }, deps);
    return `${rows.map(({ spec }) => spec.size).join(" ")}${error ? ` (${error.code}) ${error.message}` : ""}`;
  }
  const { text, render } = mount(<Table />);
  await until(() => text().includes("(invalid)"));
  const message = text();
  const before = renders;
  await sleep(300);
  const after = renders;
  upstream.put(thing(12));
  await until(() => text().startsWith("8 9 12 (invalid)"));
  render(<Table deps={[]} />);
  await until(() => text() === "8 9 12");
  await until(() => views(cache) === 1);
  return { message, calm: after - before, views: views(cache) };
}

/** How often each row was rendered, while objects change and fields that rows show do not. */
export async function renders() {
  const { upstream, resource } = things({ count: 5 });
  const drawn = {};
  const Row = memo(function Row({ row }) {
    drawn[row.key ?? row.metadata.name] = (drawn[row.key ?? row.metadata.name] ?? 0) + 1;
    return <li>{row.size ?? row.spec.size} </li>;
  });
  const select = { size: "spec.size" };
  function Selected() {
    const { rows } = useView(resource, { select, orderBy: size });
    return rows.map((row) => <Row key={row.key} row={row} />);
  }
  function Whole() {
    const { rows } = useView(resource, { orderBy: size });
    return rows.map((row) => <Row key={row.metadata.name} row={row} />);
  }
  const { text } = mount(
    <>
      <Selected />
      <Whole />
    </>,
    { strict: false },
  );
  await until(() => text() === "0 1 2 3 4 0 1 2 3 4 ");
  for (let beat = 0; beat < 10; beat++) {
    upstream.put(thing(3, { status: { beat } }));
    await settled();
  }
  upstream.put(thing(3, { spec: { size: 33 } }));
  await until(() => text() === "0 1 2 4 33 0 1 2 4 33 ");
  return drawn;
}

/** Components over several views of one resource, rendered in transitions while objects come and go: what they show must fit together. */
export async function tearing() {
  const { upstream, resource } = things({ count: 40 });
  const other = mount(<Sums />, { strict: false });
  const wrong = [];
  let commits = 0;
  function Slow({ children }) {
    for (const end = performance.now() + 2; performance.now() < end;) continue;
    return children;
  }
  function Total() {
    const { total } = useView(resource, { window: { offset: 0, limit: 0 } });
    return <b>{total}</b>;
  }
  function Half({ namespace }) {
    const { total } = useView(resource, { namespaces: [namespace], window: { offset: 0, limit: 0 } });
    return (
      <Slow>
        <i>{total}</i>
      </Slow>
    );
  }
  function Counted() {
    const { counts } = useView(resource, { groupBy: "metadata.namespace", window: { offset: 0, limit: 0 } });
    return <u>{[...counts.values()].reduce((sum, count) => sum + count, 0)}</u>;
  }
  function Sums() {
    return (
      <>
        <Total />
        <Half namespace="even" />
        <Half namespace="odd" />
        <Counted />
      </>
    );
  }
  let tick;
  function App() {
    const [n, setN] = useState(0);
    const [, start] = useTransition();
    tick = () => start(() => setN((n) => n + 1));
    return (
      <>
        <Sums key={n % 2 ? "a" : "b"} />
        <Slow>{null}</Slow>
        <Sums />
      </>
    );
  }
  const { container } = mount(<App />, { strict: false });
  const look = () => {
    const numbers = (tag) =>
      [...container.querySelectorAll(tag), ...other.container.querySelectorAll(tag)].map((e) => Number(e.textContent));
    const totals = [...numbers("b"), ...numbers("u")];
    const halves = numbers("i");
    for (let i = 0; i < halves.length; i += 2) totals.push(halves[i] + halves[i + 1]);
    commits++;
    if (new Set(totals).size > 1) wrong.push(totals.join(" "));
  };
  await until(() => container.textContent.startsWith("40"));
  await until(() => other.container.textContent.startsWith("40"));
  await settled();
  const observer = new MutationObserver(look);
  observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  later(() => observer.disconnect());
  for (let i = 0; i < 150; i++) {
    if (i % 3) upstream.put(thing(100 + i));
    else upstream.remove(`${(100 + i - 2) % 2 ? "odd" : "even"}/thing-${100 + i - 2}`);
    if (i % 5 === 0) tick();
    await (i % 2 ? frame() : sleep(3));
  }
  await settled();
  return { wrong: [...new Set(wrong)].slice(0, 5), commits, expected: commits > 20 };
}

/** A flush is one commit, however many components it reaches. */
export async function oneCommit() {
  const { upstream, resource } = things({ count: 3 });
  const totals = Array.from({ length: 20 }, (_, i) => (
    <Rows key={i} resource={resource} spec={{ namespaces: i % 2 ? undefined : ["even", "odd"] }} />
  ));
  const { container, text } = mount(totals, { strict: false });
  await until(() => text().split("loaded 3:").length === 21);
  let commits = 0;
  const observer = new MutationObserver(() => commits++);
  observer.observe(container, { subtree: true, characterData: true });
  later(() => observer.disconnect());
  upstream.put(thing(3));
  await until(() => text().split("loaded 4:").length === 21);
  flushSync(() => {});
  return commits;
}
