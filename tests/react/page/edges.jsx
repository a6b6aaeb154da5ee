// Where one thing meets another: a mended mistake, a stream that ends while it is shown, a component that ends it.
import { Activity, Suspense, useEffect, useLayoutEffect, useState } from "react";
import { createWatchCache } from "watchcache";
import { useInformer, useObject, useResource, useStatus, useSuspenseView, useView, useWatch, WatchCacheProvider } from "watchcache/react";
import { Boundary, history, later, mount, open, settled, sleep, thing, things, until, views } from "./lib.jsx";

const size = [{ path: "spec.size", as: "number" }];

function Rows({ resource, spec, deps }) {
  const { rows, total, loaded, error } = useView(resource, { orderBy: size, ...spec }, deps);
  return `${loaded ? "loaded" : "loading"} ${total}: ${rows.map(({ spec }) => spec.size).join(" ")}${error ? ` (${error.code})` : ""}`;
}

function One({ resource, id }) {
  const { object, last, deleted, loaded, stale, error } = useObject(resource, id);
  return `${loaded ? "loaded" : "loading"}${stale ? " stale" : ""}${deleted ? " deleted" : ""} ${object?.spec.size ?? "none"} ${last?.spec.size ?? "none"}${error ? ` (${error.code})` : ""}`;
}

/** A first spec whose window or search is refused, and is mended, with the same filter. */
export async function mended() {
  const { resource } = things({ count: 5 });
  await resource.synced();
  const seen = [];
  for (const [wrong, right] of [
    [{ window: { offset: NaN, limit: 2 } }, { window: { offset: 0, limit: 2 } }],
    [{ search: { text: "x", paths: ["a["] } }, { search: "thing-1" }],
  ]) {
    const { text, render, unmount } = mount(<Rows resource={resource} spec={wrong} />);
    await until(() => text().endsWith("(invalid)"));
    render(<Rows resource={resource} spec={right} />);
    await until(() => text().startsWith("loaded") && !text().includes("invalid"));
    seen.push(text());
    // The view stays from then on.
    render(<Rows resource={resource} spec={{ ...right, window: { offset: 0, limit: 1 } }} />);
    await settled();
    seen.push(text());
    unmount();
  }
  return seen;
}

/** What is no resource yet, where there have to be rows. */
export async function suspendsOnNothing() {
  const Waits = () => useSuspenseView(null).total;
  const { text } = mount(
    <Boundary>
      <Suspense fallback="waiting">
        <Waits />
      </Suspense>
    </Boundary>,
  );
  await until(() => text() !== "" && text() !== "waiting");
  return text();
}

export async function wrongDeps() {
  const { resource } = things({ count: 2 });
  const said = [];
  for (const deps of [5, "a", {}, null]) {
    const { text, unmount } = mount(
      <Boundary>
        <Rows resource={resource} deps={deps} />
      </Boundary>,
    );
    await until(() => text() !== "" && !text().startsWith("loading"));
    said.push(text());
    unmount();
  }
  return said;
}

/** A key is one object, and no other of its name. */
export async function exactKeys() {
  const { resource } = things({
    objects: [
      thing(1),
      { metadata: { name: "thing-1" }, spec: { size: "free" } },
      { metadata: { name: "b", namespace: "a" }, spec: { size: "ab" } },
      thing(2),
    ],
  });
  const said = [];
  for (const key of ["odd/thing-1", "thing-1", "thing-2", "b", "a/b", "even/thing-1"]) {
    const { text, unmount } = mount(<One resource={resource} id={key} />);
    await until(() => text().startsWith("loaded"));
    said.push(`${key}: ${text()}`);
    unmount();
  }
  return said;
}

/** A cache over the page's server, and the lists that were asked of it. */
function noting() {
  const asked = [];
  const noted = (input, init) => {
    const url = decodeURIComponent(String(input?.url ?? input));
    if (!url.includes("watch=")) asked.push(url.replace(/^.*\/api\/v1\//, "").replace(/[?&](limit|pretty|resourceVersion\w*)=[^&]*/g, ""));
    return fetch(input, init);
  };
  const cache = createWatchCache({ fetch: noted, linger: 20, transport: "fetch" });
  later(() => cache.close());
  return { cache, asked };
}

/** Over a resource of one namespace, open or not. `key` is in that namespace. */
export async function objectsNarrowed({ namespace, name, elsewhere }) {
  const { cache, asked } = noting();
  const spec = { version: "v1", resource: "pods", namespace };
  const Named = ({ id }) => {
    const { object, loaded } = useObject(useResource(spec), id);
    return loaded ? (object?.metadata.name ?? "none") : "…";
  };
  const Total = () => String(useView(useResource(spec)).loaded);
  const page = (children) => <WatchCacheProvider cache={cache}>{children}</WatchCacheProvider>;
  const { text, render } = mount(page(<Named id={`${namespace}/${name}`} />));
  await until(() => text() === name);
  const alone = asked.splice(0);
  render(page(<Named id={elsewhere} />));
  await until(() => text() === "none");
  asked.splice(0);
  render(page(<Total />));
  await until(() => text() === "true" && open(cache) === 1);
  asked.splice(0);
  render(page([<Total key="total" />, <Named key="name" id={`${namespace}/${name}`} />]));
  await until(() => text() === `true${name}`);
  return { alone, beside: asked, streams: open(cache) };
}

/** Hidden for longer than streams linger, and shown again. */
export async function objectHidden() {
  const { upstream, cache, resource } = things({ count: 3, options: { linger: 20 } });
  const at = (mode) => (
    <Activity mode={mode}>
      <One resource={resource} id="odd/thing-1" />
    </Activity>
  );
  const { text, render, container } = mount(at("visible"));
  await until(() => text() === "loaded 1 1");
  render(at("hidden"));
  await until(() => open(cache) === 0 && upstream.streams === 0);
  upstream.delay = 100;
  const seen = history(container);
  upstream.put(thing(1, { spec: { size: 11 } }));
  render(at("visible"));
  await until(() => text() === "loaded 11 11");
  return seen;
}

/** Closed before it is mounted, and while it is hidden. */
export async function objectOfClosed() {
  const said = [];
  {
    const { cache, resource } = things({ count: 3 });
    await cache.close();
    const { text } = mount(
      <Boundary>
        <One resource={resource} id="odd/thing-1" />
      </Boundary>,
    );
    await until(() => text().includes("closed"));
    await settled();
    said.push(text());
  }
  {
    const { upstream, cache, resource } = things({ count: 3, options: { linger: 20 } });
    const at = (mode) => (
      <Boundary>
        <Activity mode={mode}>
          <One resource={resource} id="odd/thing-1" />
        </Activity>
      </Boundary>
    );
    const { text, render } = mount(at("visible"));
    await until(() => text() === "loaded 1 1");
    render(at("hidden"));
    await until(() => open(cache) === 0 && upstream.streams === 0);
    await cache.close();
    render(at("visible"));
    await until(() => text().includes("closed"));
    await settled();
    said.push(text());
  }
  return said;
}

/** Hidden, over a server, where the stream of the table has gone meanwhile. */
export async function objectHiddenAlone({ name }) {
  const { cache, asked } = noting();
  const seen = [];
  const Named = () => {
    const { object, deleted, loaded } = useObject(useResource("pods"), name);
    const now = `${loaded} ${deleted} ${object?.metadata.name}`;
    if (seen.at(-1) !== now) seen.push(now);
    return now;
  };
  const Total = () => (useView(useResource("pods")).loaded ? "table" : "…");
  const page = (mode, table) => (
    <WatchCacheProvider cache={cache}>
      <Activity mode={mode}>
        <Named />
      </Activity>
      {table && <Total />}
    </WatchCacheProvider>
  );
  const { text, render } = mount(page("visible", true));
  await until(() => text().endsWith("table") && text().startsWith("true"));
  render(page("hidden", false));
  await until(() => open(cache) === 0);
  await sleep(50);
  seen.splice(0);
  asked.splice(0);
  render(page("visible", false));
  await until(() => asked.length === 1 && cache.stats().resources.some(({ phase, objects }) => phase === "live" && objects === 1));
  await settled();
  return { seen: [...new Set(seen)], asked };
}

/** Over a resource of several namespaces that is not open. `key` is in one of them. */
export async function objectOfNamespaces({ namespaces, namespace, name, elsewhere }) {
  const { cache, asked } = noting();
  const spec = { version: "v1", resource: "pods", namespaces };
  const Named = ({ id }) => {
    const { object, loaded, error } = useObject(useResource(spec), id);
    return error?.message ?? (loaded ? (object?.metadata.name ?? "none") : "…");
  };
  const page = (id) => (
    <WatchCacheProvider cache={cache}>
      <Named id={id} />
    </WatchCacheProvider>
  );
  const { text, render } = mount(page(`${namespace}/${name}`));
  await until(() => text() === name);
  const alone = asked.splice(0);
  render(page(elsewhere));
  await until(() => text() !== name && text() !== "…");
  return { alone, elsewhere: text() };
}

/** Deleted, and made again: another object of the same name. */
export async function objectMadeAgain() {
  const { upstream, resource } = things({ count: 3 });
  const seen = [];
  const Uid = () => {
    const { object, last, deleted } = useObject(resource, "odd/thing-1");
    if (object) seen.push(object.metadata.uid);
    return `${deleted} ${object === last}`;
  };
  const { text } = mount(<Uid />, { strict: false });
  await until(() => text() === "false true" && seen.length > 0);
  upstream.remove("odd/thing-1");
  await until(() => text() === "true false");
  upstream.put(thing(1));
  await until(() => text() === "false true");
  upstream.remove("odd/thing-1");
  upstream.put(thing(1));
  await settled();
  return { uids: new Set(seen).size, text: text() };
}

/** An error is that of what is watched now. */
export async function watchErrorEnds() {
  const { resource } = things({ count: 1 });
  let state;
  const Watching = ({ of, options }) => {
    state = useWatch(of, () => {}, options);
    return null;
  };
  const { render } = mount(<Watching of={resource} options={{ labelSelectr: "a" }} />);
  await until(() => state?.error?.code === "invalid");
  render(<Watching of={null} />);
  await settled();
  return state.error?.code;
}

/** The provider's cache is another. */
export async function otherCache() {
  const one = things({ count: 3 });
  const two = things({ count: 5 });
  const source = one.upstream;
  const Total = () => {
    const { total, loaded } = useView(useResource({ source, id: "things" }));
    return loaded ? String(total) : "…";
  };
  const at = ({ cache }) => (
    <WatchCacheProvider cache={cache}>
      <Total />
    </WatchCacheProvider>
  );
  const { text, render, container } = mount(at(one));
  await until(() => text() === "3");
  const seen = history(container);
  render(at(two));
  await until(() => text() === "3" && seen.length > 1);
  await until(() => source.streams === 1);
  return seen;
}

/** Closed while the first list is under way, and in callbacks of what is closed. */
export async function closedMidway() {
  const said = [];
  {
    const { upstream, cache, resource } = things({ count: 3 });
    upstream.delay = 50;
    const { text } = mount(
      <Boundary>
        <Rows resource={resource} />
        <One resource={resource} id="odd/thing-1" />
      </Boundary>,
    );
    await until(() => upstream.requests.length === 1);
    await cache.close();
    await settled();
    said.push(text());
  }
  {
    const { cache, resource } = things({ count: 3 });
    let state;
    const Closes = () => {
      state = useWatch(resource, () => void cache.close());
      return useStatus(resource).phase;
    };
    const { text } = mount(<Closes />);
    await until(() => text() === "closed");
    await settled();
    said.push(state.error?.code);
  }
  {
    const { cache, resource } = things({ count: 3 });
    const Follows = () => useInformer(resource, { onAdd: () => void cache.close() }).error?.code ?? "…";
    const { text } = mount(<Follows />);
    await until(() => resource.status.phase === "closed");
    await settled();
    said.push(text());
  }
  {
    // An effect closes what the component shows.
    const { resource } = things({ count: 3 });
    const Ends = () => {
      const live = useView(resource);
      useEffect(() => {
        if (live.loaded) live.view.close();
      }, [live]);
      return String(live.total);
    };
    const { text } = mount(<Ends />);
    await until(() => text() === "3");
    await settled();
    said.push(text());
  }
  return said;
}

/** A component goes in the flush that tells it. */
export async function goesInItsFlush() {
  const { upstream, cache, resource } = things({ count: 2 });
  let away;
  const Shown = () => {
    const { total } = useView(resource);
    useLayoutEffect(() => {
      if (total === 3) away(true);
    }, [total]);
    return String(total);
  };
  const App = () => {
    const [gone, set] = useState(false);
    away = set;
    return gone ? "gone" : [<Shown key="a" />, <Shown key="b" />, <One key="c" resource={resource} id="even/thing-2" />];
  };
  const { text } = mount(<App />);
  await until(() => text().startsWith("22"));
  upstream.put(thing(2));
  await until(() => text() === "gone");
  await until(() => views(cache) === 0 && upstream.streams === 0);
  return text();
}

/** A server that is down when the page opens, and comes back. */
export async function downAtFirst() {
  const { upstream, resource } = things({ count: 2, options: { retry: { initialMs: 10, jitter: 0 } } });
  upstream.fail(new TypeError("fetch failed"));
  const Waits = () => `${useSuspenseView(resource).total} `;
  const { text, container } = mount(
    <Boundary>
      <Suspense fallback="waiting ">
        <Waits />
      </Suspense>
      <Rows resource={resource} /> <One resource={resource} id="odd/thing-1" />
    </Boundary>,
  );
  const seen = history(container);
  await until(() => resource.status.phase === "reconnecting");
  await sleep(50);
  upstream.recover();
  await until(() => text() === "2 loaded 2: 0 1 loaded 1 1");
  return seen;
}

export async function hugeWindows() {
  const { resource } = things({ count: 5 });
  const said = [];
  for (const window of [
    { offset: 0, limit: 0xffff_ffff },
    { offset: 0xffff_ffff, limit: 0xffff_ffff },
    { offset: 4, limit: 0xffff_ffff },
    { offset: 0, limit: 0 },
    { offset: -1, limit: 1 },
    { offset: 0, limit: 2 ** 32 },
    { offset: 0.5, limit: 1 },
  ]) {
    const { text, unmount } = mount(<Rows resource={resource} spec={{ window }} />);
    await until(() => text().startsWith("loaded") || text().includes("invalid"));
    said.push(text());
    unmount();
  }
  return said;
}

/** Keys that come and go, and deps of another length. */
export async function comesAndGoes() {
  const { cache, resource } = things({ count: 5 });
  const { text, render } = mount(<One resource={resource} id={null} />);
  const seen = [];
  for (const id of [null, "odd/thing-1", undefined, "odd/thing-1", "", "odd/thing-3"]) {
    render(<One resource={resource} id={id} />);
    await settled();
    await until(() => !id || text().startsWith("loaded"));
    seen.push(text());
  }
  await until(() => views(cache) === 1);
  return seen;
}

export async function depsOfAnotherLength() {
  const { resource } = things({ count: 5 });
  const at = (least, deps) => <Rows resource={resource} spec={{ where: ({ spec }) => spec.size >= least }} deps={deps} />;
  const { text, render } = mount(at(3, [3]));
  await until(() => text() === "loaded 2: 3 4");
  render(at(2, [2, 2]));
  await until(() => text() === "loaded 3: 2 3 4");
  render(at(1, [1]));
  await until(() => text() === "loaded 4: 1 2 3 4");
  return text();
}

/** The boundary is reset: too early, and with the status that follows once somebody has acted. */
export async function boundaryReset() {
  const { upstream, resource } = things({ count: 2, options: { linger: 5_000 } });
  upstream.fail({ code: 403, reason: "Forbidden", message: "not you" });
  const Waits = () => String(useSuspenseView(resource).total);
  const { text, container } = mount(
    <Boundary>
      <Suspense fallback="waiting">
        <Waits />
      </Suspense>
    </Boundary>,
  );
  const reset = () => container.querySelector("button")?.click();
  await until(() => text().startsWith("caught forbidden"));
  const asked = upstream.requests.length;
  reset();
  await settled();
  const early = [text(), upstream.requests.length - asked];
  upstream.recover();
  resource.addEventListener("status", () => resource.status.phase !== "failed" && reset());
  resource.resume();
  await until(() => text() === "2");
  return early;
}
