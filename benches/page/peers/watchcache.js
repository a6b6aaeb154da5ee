// The package, fed through the WebSocket that it is given as an option.
import { openCache, reached } from "../upstream.js";
import { GROUP } from "./object.js";
import { HIDDEN, ROWS } from "./rows.js";

export async function watchcache({ items, version, options }) {
  const { cache, resource, socket } = await openCache(items, version, options);
  return {
    cache,
    resource,
    take: (frame) => socket.onmessage({ data: frame }),
    flush() {},
    subscribe(group, hear) {
      const labelSelector = group === undefined ? {} : { labelSelector: `${GROUP}=${group}` };
      const watcher = resource.watch({ resourceVersion: resource.resourceVersion, ...labelSelector });
      void watcher.ended.then(({ reason }) => {
        if (reason !== "closed") throw new Error(`a watch ended: ${reason}`);
      });
      void watcher.forEach((event) => hear(event.key, event.resourceVersion, event));
    },
    view(hear) {
      const orderBy = [{ path: "status.startTime", descending: true, as: "time" }];
      const view = resource.view({ labelSelector: `${GROUP}!=${HIDDEN}`, orderBy, window: { offset: 0, limit: ROWS } });
      view.subscribe(() => hear(view.rows));
      hear(view.rows);
      return () => view.close();
    },
    keys: () => [...resource.indexValues("namespace")].flatMap((namespace) => resource.byIndex("namespace", namespace)).map(keyOf),
    get: (key) => resource.peek(key),
    settled: (last) => reached(resource, last),
    close: () => cache.close(),
  };
}

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;
