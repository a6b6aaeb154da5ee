// How often a frame crosses between JavaScript and WebAssembly. Imports and exports of the package's wasm are counted in Node, where each
// call goes through a counter. Prints one line of JSON a figure; `--each` adds which functions they are.
//
// The crossings of a frame depend only on the code. Frames come in bursts as from a socket. The clock stands still, so that no slice ends
// early.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/lib/project.mjs";

const FRAMES = 2_000;
const BURST = 20;
const PODS = 20;

const counts = { imports: new Map(), exports: new Map() };

function counting(functions, into) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, value]) => {
      if (typeof value !== "function") return [name, value];
      const counted = (...args) => (into.set(name, (into.get(name) ?? 0) + 1), value(...args));
      return [name, counted];
    }),
  );
}

/** Counts from here on. */
function reset() {
  counts.imports.clear();
  counts.exports.clear();
}

const sum = (map) => [...map.values()].reduce((total, count) => total + count, 0);

const { Instance } = WebAssembly;
WebAssembly.Instance = function (module, imports = {}) {
  const counted = Object.fromEntries(Object.entries(imports).map(([name, module]) => [name, counting(module, counts.imports)]));
  return { exports: counting(new Instance(module, counted).exports, counts.exports) };
};
const started = performance.now();
performance.now = () => started;

/** The socket of the watch, in the hands of the test. */
class Socket {
  static last;
  constructor() {
    Socket.last = this;
    queueMicrotask(() => this.onopen?.(new Event("open")));
  }
  close() {}
}

const { createWatchCache, init } = await import(join(root, "dist/index.js"));
await init(readFileSync(join(root, "dist/wasm/watchcache_bg.wasm")));

const pod = JSON.parse(readFileSync(join(root, "tests/data/pod.json"), "utf8"));
const text = (i, version) =>
  JSON.stringify({ ...pod, metadata: { ...pod.metadata, name: `pod-${i % PODS}`, resourceVersion: String(version) } });
const list = (count) =>
  `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1000"},"items":[${Array.from({ length: count }, (_, i) => text(i, 1000))}]}`;
const turn = () => new Promise((resolve) => setImmediate(resolve));

async function open(body = list(PODS)) {
  const fetch = async () => new Response(body, { headers: { "content-type": "application/json" } });
  const cache = createWatchCache({ server: "http://guard.invalid", fetch, WebSocket: Socket, flush: "microtask" });
  const resource = cache.resource("pods");
  await resource.synced();
  while (resource.status.phase !== "live") await turn();
  return { cache, resource };
}

/** Frames through an open resource, in bursts. */
async function feed(resource, from) {
  for (let i = 0; i < FRAMES; i++) {
    Socket.last.onmessage({ data: `{"type":"MODIFIED","object":${text(i, from + i)}}` });
    if (i % BURST === BURST - 1) await turn();
  }
  const last = String(from + FRAMES - 1);
  for (let turns = 0; resource.resourceVersion !== last; turns++) {
    if (turns > 1_000) throw new Error(`version ${resource.resourceVersion} instead of ${last}`);
    await turn();
  }
}

function print(name, units) {
  const each = (map) => Object.fromEntries([...map].sort((a, b) => b[1] - a[1]).map(([key, count]) => [key, count / units]));
  const detail = process.argv.includes("--each") ? { imports: each(counts.imports), exports: each(counts.exports) } : {};
  console.log(JSON.stringify({ name, value: (sum(counts.imports) + sum(counts.exports)) / units, ...detail }));
}

/** Crossings a frame, once everything is warm. `subscribe` gives a check of what was heard. */
async function measure(name, subscribe) {
  const { cache, resource } = await open();
  const check = await subscribe(resource);
  await feed(resource, 2_000);
  reset();
  await feed(resource, 10_000);
  print(name, FRAMES);
  check(2 * FRAMES);
  cache.close();
}

await measure("crossings-nobody", async () => () => {});
await measure("crossings-100-callbacks", async (resource) => {
  let heard = 0;
  for (let i = 0; i < 100; i++) void resource.watch({ resourceVersion: "1000" }).forEach(() => void heard++);
  return (frames) => {
    if (heard !== frames * 100) throw new Error(`${heard} deliveries instead of ${frames * 100}`);
  };
});
await measure("crossings-one-reader", async (resource) => {
  let read = 0;
  void resource.watch({ resourceVersion: "1000" }).forEach((event) => void (read += event.object.metadata.name.length > 0));
  return (frames) => {
    if (read !== frames) throw new Error(`${read} objects read instead of ${frames}`);
  };
});
await measure("crossings-view", async (resource) => {
  const view = resource.view({ orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 10 } });
  let shown = 0;
  view.subscribe(() => void (shown += view.rows.length));
  await turn();
  return () => {
    if (shown === 0) throw new Error("the view showed nothing");
  };
});

reset();
const { cache } = await open(list(500));
print("crossings-list-item", 500);
cache.close();
process.exit(0);
