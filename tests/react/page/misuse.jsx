// What nobody should do, and somebody does.
import { useLayoutEffect, useReducer, useState } from "react";
import { flushSync } from "react-dom";
import { useInformer, useObject, useStatus, useSuspenseView, useView, useWatch } from "watchcache/react";
import { Boundary, mount, noting, settled, sleep, thing, things, until, views } from "./lib.jsx";

/** What a hook says of a spec that is none. */
export async function wrongSpecs() {
  const { resource } = things({ count: 2 });
  await resource.synced();
  const loop = {};
  loop.labelSelector = loop;
  const said = {};
  for (const [name, spec] of Object.entries({
    map: { derive: new Map() },
    number: 7,
    text: "app=web",
    loop,
    bigint: { window: { offset: 0n, limit: 1 } },
    nan: { window: { offset: NaN, limit: 1 } },
    unknown: { labelSelectr: "app" },
    null: null,
    nothing: undefined,
    member: { labelSelector: undefined, search: null },
  })) {
    const Table = () => {
      const { total, error } = useView(resource, spec);
      return error ? `${error.code}: ${error.message}` : String(total);
    };
    const { text, unmount } = mount(
      <Boundary>
        <Table />
      </Boundary>,
    );
    await until(() => text() !== "" && text() !== "0");
    said[name] = text();
    unmount();
  }
  return said;
}

export async function wrongResources() {
  const said = [];
  const { cache } = things();
  for (const wrong of ["pods", {}, cache, 7]) {
    const Table = () => String(useView(wrong).total);
    const One = () => String(useObject(wrong, "a").loaded);
    const Phase = () => String(useStatus(wrong)?.phase);
    const Watching = () => String(useWatch(wrong, () => {}).error);
    const Following = () => String(useInformer(wrong, {}).synced);
    const Suspended = () => String(useSuspenseView(wrong).total);
    for (const Wrong of [Table, One, Phase, Watching, Following, Suspended]) {
      const { text, unmount } = mount(
        <Boundary>
          <Wrong />
        </Boundary>,
      );
      await until(() => text() !== "");
      said.push(text());
      unmount();
    }
  }
  return said;
}

/** A spec that is changed in place, and rendered again. */
export async function mutatedSpec() {
  const { resource } = things({ count: 6 });
  const spec = { labelSelector: "app=db", orderBy: [{ path: "spec.size", as: "number" }], window: { offset: 0, limit: 9 } };
  let again;
  const Table = () => {
    again = useReducer((n) => n + 1, 0)[1];
    return useView(resource, spec)
      .rows.map(({ spec }) => spec.size)
      .join(" ");
  };
  const { text } = mount(<Table />);
  await until(() => text() === "0 3");
  spec.labelSelector = "app=web";
  flushSync(again);
  await until(() => text() === "1 2 4 5");
  spec.window.limit = 2;
  flushSync(again);
  await until(() => text() === "1 2");
  return text();
}

/** A hundred objects at once, over a table's stream: no stream of its own for any. */
export async function manyObjects() {
  const { upstream, cache, resource } = things({ count: 200 });
  const One = ({ i }) => useObject(resource, `${i % 2 ? "odd" : "even"}/thing-${i}`).object?.spec.size ?? "…";
  const Total = () => useView(resource, { window: { offset: 0, limit: 0 } }).total;
  const all = Array.from({ length: 100 }, (_, i) => <One key={i} i={i} />);
  const { text, unmount } = mount([...all, " ", <Total key="total" />]);
  const wanted = `${Array.from({ length: 100 }, (_, i) => i).join("")} 200`;
  await until(() => text() === wanted);
  upstream.put(thing(7, { spec: { size: "seven" } }));
  await until(() => text() === wanted.replace("0123456789", "0123456seven89"));
  const { streams } = upstream;
  unmount();
  await until(() => views(cache) === 0 && upstream.streams === 0);
  return streams;
}

export async function oddKeys() {
  const odd = { metadata: { name: "a,b=c\\d:e" }, spec: { size: 1 } };
  const { resource } = things({ objects: [odd, { metadata: { name: "plain" }, spec: { size: 2 } }] });
  const said = [];
  for (const key of ["a,b=c\\d:e", "plain", "", "none/plain", "a/b/c", "%", "plain/"]) {
    const One = () => {
      const { object, loaded, error } = useObject(resource, key);
      return `${loaded ? (object?.spec.size ?? "none") : "loading"}${error ? ` ${error.code}` : ""}`;
    };
    const { text, unmount } = mount(
      <Boundary>
        <One />
      </Boundary>,
    );
    await settled();
    await sleep(30);
    said.push(text());
    unmount();
  }
  return said;
}

/** The resource and the cache are closed under components. */
export async function closedUnderneath() {
  const { cache, resource } = things({ count: 3 });
  let state;
  function All() {
    const { total, error } = useView(resource);
    const { last, error: why } = useObject(resource, "even/thing-0");
    state = useWatch(resource, () => {});
    return `${total} ${error?.code} ${last?.spec.size} ${why?.code} ${useStatus(resource).phase}`;
  }
  const { text, unmount, render } = mount(<All />);
  await until(() => text() === "3 undefined 0 undefined live");
  resource.close();
  await until(() => text() === "3 closed 0 closed closed");
  render(<All />);
  await settled();
  const after = text();
  // A watch tells its end a few tasks later.
  await until(() => state.error !== undefined);
  const watched = state.error?.code;
  await cache.close();
  await settled();
  unmount();
  return { after, watched };
}

/** Handlers that throw, reject, set state, and take their component away. */
export async function wildHandlers() {
  const { upstream, cache, resource } = things({ count: 3 });
  const heard = [];
  const reported = [];
  const report = (event) => {
    reported.push(event.error?.message ?? event.reason?.message);
    event.preventDefault();
  };
  addEventListener("error", report);
  let away;
  function Watching() {
    const [seen, set] = useState(0);
    useWatch(resource, async ({ key }) => {
      heard.push(key);
      set((n) => n + 1);
      if (heard.length === 2) throw new Error("thrown");
      if (heard.length === 3) away(true);
    });
    return seen;
  }
  function App() {
    const [gone, setGone] = useState(false);
    away = setGone;
    return gone ? "gone" : <Watching />;
  }
  const { text } = mount(<App />);
  await until(() => text() === "gone");
  upstream.put(thing(9));
  await until(() => cache.stats().resources.every(({ watchers }) => watchers === 0));
  await sleep(30);
  removeEventListener("error", report);
  return { heard: heard.length, reported };
}

/** Events between the commit that takes a component away and the effects that end its watch. */
export async function heardWhenGone() {
  const { upstream, cache, resource } = things({ count: 1, options: { flush: "microtask" } });
  const heard = [];
  let away;
  let at;
  function Watching() {
    useWatch(resource, ({ key }) => void heard.push(`watch ${key}`));
    useInformer(resource, { onAdd: ({ metadata }) => void heard.push(`informer ${metadata.name}`) });
    return null;
  }
  function App() {
    const [gone, setGone] = useState(false);
    away = setGone;
    useLayoutEffect(() => {
      if (!gone) return;
      at = cache.stats().resources[0].watchers;
      upstream.put(thing(2));
    }, [gone]);
    return gone ? null : <Watching />;
  }
  mount(<App />, { strict: false });
  await until(() => heard.length === 2);
  // In no event of the page: then effects run in a task of their own.
  setTimeout(() => away(true));
  await until(() => cache.stats().resources.every(({ watchers, informers }) => watchers + informers === 0));
  await sleep(30);
  return { at, heard };
}

/** Renders while nothing changes that is shown. */
export async function idleRenders() {
  const { upstream, resource } = things({ count: 20 });
  const renders = { view: 0, object: 0, status: 0, watch: 0, selected: 0 };
  const counted = (name, hook) => {
    const Counted = () => {
      renders[name]++;
      hook();
      return null;
    };
    return <Counted key={name} />;
  };
  const all = [
    counted("view", () => useView(resource, { namespaces: ["even"], window: { offset: 0, limit: 5 } })),
    counted("selected", () => useView(resource, { select: { size: "spec.size" } })),
    counted("object", () => useObject(resource, "even/thing-0")),
    counted("status", () => useStatus(resource)),
    counted("watch", () => useWatch(resource, () => {})),
  ];
  mount(all, { strict: false });
  await until(() => resource.status.phase === "live");
  await sleep(100);
  const before = { ...renders };
  for (let i = 0; i < 20; i++) {
    upstream.put(thing(1, { status: { beat: i } }));
    await settled();
  }
  noting(() => JSON.stringify(renders));
  return Object.fromEntries(Object.entries(renders).map(([name, times]) => [name, times - before[name]]));
}

/** Five hundred components come and go; what stays is counted by the test. */
export async function comeAndGo() {
  const { cache, resource } = things({ count: 20 });
  const hold = resource.view();
  const stop = hold.subscribe(() => {});
  await resource.synced();
  let listeners = 0;
  for (const [name, step] of Object.entries({ addEventListener: 1, removeEventListener: -1 })) {
    const original = resource[name];
    const value = (...given) => {
      listeners += step;
      original(...given);
    };
    Object.defineProperty(resource, name, { value });
  }
  const All = ({ n }) => {
    useView(resource, { window: { offset: n % 7, limit: 3 } });
    useObject(resource, "even/thing-0");
    useStatus(resource);
    useWatch(resource, () => {});
    useInformer(resource, { onAdd() {} });
    return useSuspenseView(resource, { window: { offset: n % 5, limit: 2 } }).rows.length;
  };
  for (let n = 0; n < 500; n++) {
    const { unmount, render } = mount(null, { strict: false });
    flushSync(() => render(<All n={n} />));
    unmount();
  }
  await until(() => views(cache) === 1);
  const [{ watchers, views: left, informers }] = cache.stats().resources;
  stop();
  return { watchers, views: left, informers, listeners };
}
