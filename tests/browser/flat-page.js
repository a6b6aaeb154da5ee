// What tests/browser/flat.test.mjs runs in a page: a cache over an upstream that is fed by hand, with subscribers of every kind.
import { createWatchCache } from "/dist/index.js";

const PODS = 200;
const LISTED = 1_000;
/** As many frames as a busy socket has ready at a time. */
const BURST = 200;

/** The watch's socket, in the hands of the test. */
class FedSocket {
  static latest;
  onmessage = null;
  onopen = null;
  constructor() {
    FedSocket.latest = this;
    queueMicrotask(() => this.onopen?.(new Event("open")));
  }
  close() {}
}

/** A turn of the event loop. */
const channel = new MessageChannel();
const turn = () =>
  new Promise((resolve) => {
    channel.port1.onmessage = () => resolve();
    channel.port2.postMessage(null);
  });

let version = LISTED;

function pod(number, at) {
  const labels = `"app":"app-${number % 5}","hash":"h${at % 1_000}"`;
  return `{"metadata":{"name":"pod-${number}","namespace":"team-${number % 7}","uid":"u${number}","resourceVersion":"${at}","labels":{${labels}}},"spec":{"nodeName":"node-${at % 50}"}}`;
}

const list = `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${LISTED}"},"items":[${Array.from({ length: PODS }, (_, i) => pod(i, LISTED)).join(",")}]}`;

const upstream = {
  server: location.origin,
  fetch: async () => new Response(list, { headers: { "content-type": "application/json" } }),
  WebSocket: FedSocket,
};
const cache = createWatchCache({
  ...upstream,
  linger: 3_600_000,
  idleTimeout: 3_600_000,
  history: { maxBytes: 1_000_000, maxEvents: 1_000 },
});
const resource = cache.resource("pods");

/** Events upstream. Every eleventh takes a pod away, which comes back. */
async function feed(count) {
  for (let i = 0; i < count; i++) {
    version += 1;
    const type = version % 11 === 0 ? "DELETED" : "MODIFIED";
    FedSocket.latest.onmessage({ data: `{"type":"${type}","object":${pod((version * 7) % PODS, version)}}` });
    if (i % BURST === BURST - 1) await turn();
  }
  while (resource.resourceVersion !== String(version)) await turn();
}

/** Who stays: callbacks, one that reads, one that is slow, a view that is shown. */
function settle() {
  let heard = 0;
  let read = 0;
  void resource.watch().forEach(() => void heard++);
  void resource.watch({ labelSelector: "app in (app-1,app-2)" }).forEach((event) => {
    heard++;
    if (heard % 100 === 0) read += event.object.metadata.name.length;
  });
  const slow = resource.watch({ onOverflow: "coalesce" })[Symbol.asyncIterator]();
  const view = resource.view({
    orderBy: [{ path: "metadata.name", as: "natural" }],
    window: { offset: 0, limit: 20 },
    groupBy: "spec.nodeName",
  });
  view.subscribe(() => void (read += view.rows.length));
  const taken = setInterval(() => void slow.next(), 100);
  return { heard: () => heard, stop: () => clearInterval(taken) };
}

/** So many come and go at a time. */
const TOGETHER = 20;

/** Subscribers that come and go in every way: stopped, aborted, closed. */
async function cycles(count) {
  for (let i = 0; i < count; i += TOGETHER) {
    const leave = Array.from({ length: TOGETHER }, (_, j) => come(i + j));
    await feed(2);
    await Promise.all(leave.map((left) => left()));
  }
}

/** One of each kind comes; the function that is given has them go. */
function come(i) {
  const nothing = () => {};
  const labelSelector = `app=app-${i % 9}`;
  const controller = new AbortController();
  const { signal } = controller;

  const stopped = resource.watch({ labelSelector });
  void stopped.forEach(nothing);
  void resource
    .watch({ fieldSelector: `spec.nodeName=node-${i}`, signal })
    .forEach(nothing)
    .catch(nothing);

  const view = resource.view({ labelSelector, window: { offset: 0, limit: 5 } });
  const unsubscribe = view.subscribe(nothing);
  const read = resource.view({ window: { offset: 0, limit: 5 } });
  read.rows;
  const aborted = resource.view({ labelSelector });
  aborted.subscribe(nothing, { signal });

  const refused = [resource.synced({ signal }), resource.get("team-0/pod-0", { resourceVersion: "999999999", signal })];
  const listed = resource.list({ resourceVersion: "0", limit: 5 });
  return async () => {
    await listed;
    view.rows;
    stopped.stop();
    unsubscribe();
    controller.abort();
    [view, read, aborted].forEach((one) => one.close());
    await Promise.allSettled(refused);
  };
}

/** Caches that are closed, one after the other, while a view of theirs is shown. Whoever shows it has not let go of it. */
async function closed(count, mode) {
  for (let i = 0; i < count; i++) {
    const isInline = mode === "inline";
    const one = createWatchCache({ linger: 100, ...(isInline ? upstream : { mode, identity: "jane" }) });
    const source = new URL("./source-module.js", import.meta.url);
    const things = one.resource(isInline ? "pods" : { source, id: "things" });
    things.view().subscribe(() => {});
    await things.synced();
    await one.close();
  }
}

const stats = () => cache.stats().resources[0];

globalThis.flat = { feed, settle, cycles, closed, stats, turn, memoryBytes: () => cache.stats().memoryBytes };
globalThis.ready = (async () => {
  await resource.synced();
  while (resource.status.phase !== "live") await turn();
})();
