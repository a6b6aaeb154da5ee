import { Activity, Suspense, useState } from "react";
import { hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { createWatchCache } from "watchcache";
import { useObject, useResource, useStatus, useSuspenseView, useView, useWatchCache, WatchCacheProvider } from "watchcache/react";
import { Boundary, later, mount, open, settled, sleep, thing, things, until, views } from "./lib.jsx";

/** Two clusters in one tree: by nested providers, and by the option. */
export async function clusters() {
  const one = things({ count: 3 });
  const two = things({ count: 5 });
  const three = things({ count: 7 });
  const Total = ({ of, cache }) => {
    const resource = useResource({ source: of.upstream, id: "things" }, cache && { cache });
    const { total } = useView(resource, { window: { offset: 0, limit: 0 } });
    return `${total} `;
  };
  const Same = ({ of }) => String(useWatchCache() === of.cache);
  const { text } = mount(
    <WatchCacheProvider cache={one.cache}>
      <Total of={one} />
      <WatchCacheProvider cache={two.cache}>
        <Total of={two} />
        <Total of={three} cache={three.cache} />
        <Same of={two} />
      </WatchCacheProvider>
    </WatchCacheProvider>,
  );
  await until(() => text() === "3 5 7 true");
  return [one, two, three].map(({ cache }) => cache.stats().resources.length);
}

/** A spec that is written in place names one resource. */
export async function specsInPlace() {
  const cache = createWatchCache();
  later(() => cache.close());
  const seen = new Set();
  function Named({ namespace }) {
    seen.add(useResource({ resource: "pods", version: "v1", namespace }, { cache }));
    return namespace ?? "all";
  }
  const { render, text } = mount(<Named namespace="a" />);
  await until(() => text() === "a");
  render(<Named namespace="a" />);
  await settled();
  const once = seen.size;
  render(<Named />);
  await until(() => text() === "all");
  return [once, seen.size];
}

export async function mistakes() {
  const cache = createWatchCache();
  const None = () => void useResource("pods");
  const Wrong = () => void useResource("pods/", { cache });
  const Closed = () => void useResource("pods", { cache });
  const shown = async (element) => {
    const { text } = mount(<Boundary>{element}</Boundary>);
    await until(() => text().startsWith("caught"));
    return text();
  };
  const all = [await shown(<None />), await shown(<Wrong />), await shown(<WatchCacheProvider cache={{}} />)];
  await cache.close();
  return [...all, await shown(<Closed />)];
}

/** Hidden by Activity, a table lets go; shown again, it goes on with the rows that it had, and where it was scrolled to. */
export async function hidden() {
  const { upstream, cache, resource } = things({ count: 50 });
  let live;
  function Table() {
    live = useView(resource, { orderBy: [{ path: "spec.size", as: "number" }], window: { offset: 0, limit: 2 } });
    return live.rows.map(({ spec }) => spec.size).join(" ");
  }
  const at = (mode) => (
    <Activity mode={mode}>
      <Table />
    </Activity>
  );
  const { text, render } = mount(at("visible"));
  await until(() => text() === "0 1");
  live.setWindow({ offset: 10, limit: 2 });
  await until(() => text() === "10 11");
  render(at("hidden"));
  await until(() => views(cache) === 0 && upstream.streams === 0);
  upstream.remove("even/thing-10");
  render(at("visible"));
  await until(() => text() === "11 12");
  await sleep(50);
  return { after: text(), views: views(cache) };
}

/** Mounting and unmounting again and again leaves nothing. */
export async function comings() {
  const { upstream, cache, resource } = things({ count: 10 });
  let go;
  function Table({ n }) {
    const { total } = useView(resource, { fieldSelector: `spec.size!=${n}` });
    return total;
  }
  function App() {
    const [n, set] = useState(0);
    go = set;
    return <Table key={n} n={n} />;
  }
  const { text, unmount } = mount(<App />);
  await settled();
  for (let n = 0; n < 50; n++) {
    go(n % 5);
    await settled();
  }
  await until(() => text() === "9");
  upstream.put(thing(20));
  await until(() => text() === "10");
  unmount();
  await until(() => open(cache) === 0 && upstream.streams === 0 && views(cache) === 0);
  return upstream.asked("list").length;
}

/** What a server sent is taken over as it is, and is live from then on. */
export async function hydrated() {
  const { upstream, cache, resource } = things({ count: 3 });
  await resource.synced();
  const order = [{ path: "spec.size", as: "number" }];
  const Table = () => {
    const { loaded, rows } = useView(resource, { orderBy: order });
    return <p>{loaded ? rows.map(({ spec }) => spec.size).join(" ") : "loading"}</p>;
  };
  const Waits = () => <p>{useSuspenseView(resource, { orderBy: order }).rows.length}</p>;
  const Detail = () => <p>{useObject(resource, "odd/thing-1").object?.spec.size ?? "none"}</p>;
  const Phase = () => <p>{useStatus(resource).phase}</p>;
  const app = (
    <WatchCacheProvider cache={cache}>
      <Table />
      <Detail />
      <Phase />
      <Suspense fallback={<p>waiting</p>}>
        <Waits />
      </Suspense>
    </WatchCacheProvider>
  );
  const container = document.body.appendChild(document.createElement("div"));
  // The suspended part is of the browser alone.
  container.innerHTML = renderToString(app);
  const sent = container.textContent;
  const first = container.querySelector("p");
  const errors = [];
  const root = hydrateRoot(container, app, { onRecoverableError: (error) => errors.push(String(error)) });
  later(() => {
    root.unmount();
    container.remove();
  });
  await until(() => container.textContent === "0 1 21live3");
  upstream.put(thing(3));
  await until(() => container.textContent === "0 1 2 31live4");
  return { sent, same: container.querySelector("p") === first, errors };
}
