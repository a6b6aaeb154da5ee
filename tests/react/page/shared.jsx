// Components whose streams are a worker's, and whose rows come from the disk.
import { createWatchCache, forgetPersisted } from "watchcache";
import { useInformer, useObject, useStatus, useView, useWatch } from "watchcache/react";
import { frame, history, later, mount, open, sleep, until, views } from "./lib.jsx";

const spec = { select: { name: "metadata.name" }, orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 2 } };

function Table({ pods, id }) {
  const { rows, total, loaded, stale } = useView(pods, spec);
  const { phase } = useStatus(pods);
  const { object } = useObject(pods, id);
  useWatch(pods, () => {});
  useInformer(pods, {});
  return `${loaded ? total : "-"} ${rows.map(({ name }) => name).join(" ")} ${object?.metadata.name ?? "-"} ${stale ? "stale" : phase}`;
}

function cacheOf(options) {
  const cache = createWatchCache({ identity: "jane", linger: 300, ...options });
  later(() => cache.close());
  return { cache, pods: cache.resource("pods") };
}

/** Mounted and unmounted quickly, it is one stream of the worker, and nothing stays behind. */
export async function behindWorker({ mode, id }) {
  const { cache, pods } = cacheOf({ mode });
  const table = <Table pods={pods} id={id} />;
  const { render, text, unmount } = mount(table);
  const isLive = () => /^\d+ .* live$/.test(text());
  await until(isLive, 20_000);
  for (let i = 0; i < 30; i++) {
    render(null);
    if (i % 3 > 0) await frame();
    render(table);
    if (i % 2 > 0) await frame();
  }
  await until(isLive);
  const name = text().split(" ")[1];
  await pods.patch(id, { metadata: { labels: { seen: mode } } }, { type: "merge" });
  const { watchers, informers } = cache.stats().resources[0];
  const there = { mode: cache.stats().mode, views: views(cache), watchers, informers };
  unmount();
  await until(() => open(cache) === 0, 10_000);
  return { there, named: id.endsWith(`/${name}`), label: pods.peek(id)?.metadata.labels.seen, views: views(cache) };
}

const fault = (name, options) => fetch(`/demo/faults/${name}`, { method: "POST", body: JSON.stringify(options) });

/** The names of all that is kept. */
async function kept() {
  const request = indexedDB.open("watchcache");
  await new Promise((resolve) => (request.onsuccess = resolve));
  const states = request.result.transaction("states").objectStore("states").getAllKeys();
  await new Promise((resolve) => (states.onsuccess = resolve));
  request.result.close();
  return states.result;
}

/** What the next start shows while the server is away, and then. */
export async function warmStart({ mode, id }) {
  const before = cacheOf({ mode, persist: {} });
  const first = mount(<Table pods={before.pods} id={id} />);
  await until(() => / live$/.test(first.text()), 20_000);
  for (let i = 0; (await kept()).length === 0 && i < 100; i++) await sleep(100);
  const rows = first.text().replace(/ live$/, "");
  first.unmount();
  await before.cache.close();
  later(() => forgetPersisted("jane"));

  later(() => fault("clear"));
  await fault("status", { on: "all", code: 503 });
  const next = cacheOf({ mode, persist: {}, idleTimeout: 59_000 });
  const { container, text } = mount(<Table pods={next.pods} id={id} />);
  const seen = history(container);
  await until(() => text() === `${rows} stale`, 20_000);
  await fault("clear");
  next.pods.resume();
  await until(() => text() === `${rows} live`, 20_000);
  return seen.slice(seen.findIndex((text) => text.startsWith(rows))).map((text) => text.replace(rows, "rows"));
}
