// Five namespaces in one table: as one resource with one view, and as five resources with a view each, whose rows the page sorts together.
import { createWatchCache } from "watchcache";
import { flat, podTexts, template } from "./frames.js";
import { Checksum, settle, timed, turn, until } from "./measure.js";
import { FRAMES_A_TASK, LISTED } from "./upstream.js";

const NAMES = ["a", "b", "c", "d", "e"];
const ROWS = 50;

/** The open sockets, by namespace. */
const sockets = new Map();

class NamedSocket {
  onopen = null;
  onmessage = null;
  onclose = null;
  onerror = null;

  constructor(url) {
    sockets.set(/namespaces\/(\w+)\//.exec(String(url))[1], this);
    queueMicrotask(() => this.onopen?.(new Event("open")));
  }

  close() {}
}

/** A pod of a namespace, by its number. */
function podsOf(namespace) {
  const pod = template(4_000);
  return podTexts({ ...pod, metadata: { ...pod.metadata, namespace } });
}

const newestFirst = [{ path: "metadata.resourceVersion", as: "number", descending: true }];
const version = (pod) => Number(pod.metadata.resourceVersion);

const harnesses = {
  async watchcache(cache) {
    const pods = cache.resource({ version: "v1", resource: "pods", namespaces: NAMES });
    await pods.synced();
    const view = pods.view({ orderBy: newestFirst, window: { offset: 0, limit: ROWS } });
    const end = view.subscribe(() => {});
    return { rows: () => view.rows, total: () => pods.size, end };
  },
  async "five resources"(cache) {
    const all = NAMES.map((namespace) => cache.resource({ version: "v1", resource: "pods", namespace }));
    await Promise.all(all.map((pods) => pods.synced()));
    const views = all.map((pods) => pods.view({ orderBy: newestFirst, window: { offset: 0, limit: ROWS } }));
    const ends = views.map((view) => view.subscribe(() => {}));
    const rows = () =>
      views
        .flatMap((view) => view.rows)
        .sort((a, b) => version(b) - version(a))
        .slice(0, ROWS);
    return { rows, total: () => all.reduce((sum, pods) => sum + pods.size, 0), end: () => ends.forEach((end) => end()) };
  },
};

let running;

/** @param {{ harness: keyof typeof harnesses, objects: number }} options so many pods in each namespace */
export async function openNamespaces({ harness, objects }) {
  const texts = Object.fromEntries(NAMES.map((name) => [name, podsOf(name)]));
  const cache = createWatchCache({
    fetch: async (url) => {
      const of = texts[/namespaces\/(\w+)\//.exec(String(url))[1]];
      const items = Array.from({ length: objects }, (_, i) => of(i, LISTED - i - 1));
      const metadata = `{"resourceVersion":"${LISTED}"}`;
      const body = `{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[${items.join()}]}`;
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
    WebSocket: NamedSocket,
    linger: 3_600_000,
    idleTimeout: 3_600_000,
  });
  const shown = await harnesses[harness](cache);
  await until(() => shown.total() === NAMES.length * objects && sockets.size === NAMES.length, "not all is there");
  running = { cache, shown, texts, objects, at: LISTED, checksum: new Checksum() };
  await settle();
}

/** @param {{ events: number }} options so many, in all namespaces in turn */
export async function roundNamespaces({ events }) {
  const { shown, texts, objects, checksum } = running;
  const frames = Array.from({ length: events }, (_, i) => {
    const name = NAMES[i % NAMES.length];
    return [name, flat(`{"type":"MODIFIED","object":${texts[name]((i * 7) % objects, ++running.at)}}\n`)];
  });
  const newest = () => version(shown.rows()[0] ?? { metadata: { resourceVersion: 0 } });
  const time = await timed(async () => {
    for (let i = 0; i < frames.length; i++) {
      if (i % FRAMES_A_TASK === 0) {
        await turn();
        // What a page shows after each task.
        shown.rows();
      }
      sockets.get(frames[i][0]).onmessage({ data: frames[i][1] });
      await undefined;
    }
    await until(() => newest() === running.at, "the last event was not shown");
  });
  // Each view is told with a frame of its own, and the last event may be shown before those of the other views.
  for (let i = 0; i < 3; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
  for (const pod of shown.rows()) checksum.add(`${pod.metadata.namespace}/${pod.metadata.name}@${version(pod)}`);
  return time;
}

/** Ends the harness; gives the checksum over the rows that were shown after each round. */
export async function closeNamespaces() {
  const { cache, shown, checksum } = running;
  shown.end();
  await cache.close();
  sockets.clear();
  running = undefined;
  return { checksum: `${checksum}` };
}
