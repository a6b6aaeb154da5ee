// Where the table's rows come from. The package's side is all in `ours`: what it offers for a table is used here and nowhere else. Each
// harness gives
//   columns, keyOf    what the table shows of a row, and what the row is called
//   subscribe, getRows   as React's `useSyncExternalStore` wants them
//   version()         the last version that was taken in
//   close()
import { createWatchCache } from "watchcache";
import { COLUMNS, HIDDEN, keyOf, ROWS, shownOf } from "./columns.js";
import { FIELDS, podOf } from "./fields.js";

const PODS = "/api/v1/pods";
const PAGE = 500;

async function ours() {
  const cache = createWatchCache({ pageSize: PAGE, linger: 3_600_000 });
  const resource = cache.resource("pods");
  const view = resource.view({
    labelSelector: `group!=${HIDDEN}`,
    orderBy: [{ path: "metadata.creationTimestamp", as: "time", descending: true }, { path: "metadata.name" }],
    window: { offset: 0, limit: ROWS },
    select: FIELDS,
  });
  await resource.synced();
  return {
    columns: COLUMNS.map(({ title, cell }) => ({ title, cell: (row) => cell(podOf(row)) })),
    keyOf: ({ key }) => key,
    subscribe: view.subscribe,
    getRows: () => view.getSnapshot().rows,
    version: () => Number(resource.resourceVersion),
    close: () => cache.close(),
  };
}

function connect(version, onmessage) {
  const url = new URL(`${PODS}?watch=true&resourceVersion=${version}`, location.href);
  url.protocol = "ws:";
  const socket = new WebSocket(url);
  socket.onmessage = onmessage;
  return new Promise((resolve, reject) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = () => reject(new Error("the watch did not open"));
  });
}

/** By hand: every frame is parsed and kept in a Map, which is filtered and sorted once a frame of the screen. */
async function byHand() {
  const objects = new Map();
  let version;
  let next = "";
  do {
    const answer = await fetch(`${PODS}?limit=${PAGE}${next && `&continue=${next}`}`, { cache: "no-store" });
    const { items, metadata } = await answer.json();
    for (const object of items) objects.set(keyOf(object), object);
    next = metadata.continue ?? "";
    version = Number(metadata.resourceVersion);
  } while (next !== "");
  let rows = shownOf(objects.values());
  let drawing;
  const listeners = new Set();
  const draw = () => {
    drawing = undefined;
    rows = shownOf(objects.values());
    for (const listener of listeners) listener();
  };
  const socket = await connect(version, ({ data }) => {
    const { object } = JSON.parse(data);
    objects.set(keyOf(object), object);
    version = Number(object.metadata.resourceVersion);
    drawing ??= requestAnimationFrame(draw);
  });
  return {
    columns: COLUMNS,
    keyOf,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getRows: () => rows,
    version: () => version,
    close: () => socket.close(),
  };
}

/** What nobody can do without: the browser brings each frame's text to the page. */
async function dropped() {
  let length = 0;
  let frames = 0;
  const version = 1000;
  const socket = await connect(version, ({ data }) => {
    length += data.length;
    frames++;
  });
  const none = [];
  return {
    columns: COLUMNS,
    keyOf,
    subscribe: () => () => {},
    getRows: () => none,
    version: () => (length > 0 ? version + frames : version),
    close: () => socket.close(),
  };
}

export const stores = { watchcache: ours, "Map, filter and sort": byHand, "read and dropped": dropped };
