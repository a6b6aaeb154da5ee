// Events of a real kube-apiserver to the subscribers of served.js: the package, what one writes by hand, and the informer of
// `@kubernetes/client-node`. All list and watch the config maps of one namespace.
import { ListWatch } from "@kubernetes/client-node/dist/cache.js";
import { createWatchCache } from "watchcache";
import { Watch, network } from "./peers/client-node-watch.js";
import { keyOf } from "./peers/object.js";

const valueOf = ({ data }) => ({ n: Number(data.n), at: Number(data.at) });
const pathOf = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;

/** The subprotocols that carry a token. @param {string} token */
function protocolsFor(token) {
  const text = btoa(token).replace(/=+$/, "").replace(/\+/g, "-").replace(/\//g, "_");
  return [`base64url.bearer.authorization.k8s.io.${text}`, "base64.binary.k8s.io"];
}

const list = async (namespace, token) =>
  (await fetch(pathOf(namespace), { headers: { authorization: `Bearer ${token}` }, cache: "no-store" })).json();

export const kubernetes = {
  async watchcache({ namespace, token }, subscribers) {
    const cache = createWatchCache({ auth: async () => ({ token }), linger: 3_600_000, idleTimeout: 3_600_000 });
    const resource = cache.resource({ version: "v1", resource: "configmaps", namespace });
    await resource.synced();
    const from = resource.resourceVersion;
    for (const tell of subscribers) {
      const watcher = resource.watch({ resourceVersion: from, bufferSize: 100_000 });
      void watcher.forEach(({ object }) => tell(valueOf(object)));
    }
    return { held: () => resource.size, end: () => cache.close() };
  },

  async "WebSocket and JSON.parse by hand"({ namespace, token }, subscribers) {
    const { metadata, items } = await list(namespace, token);
    const held = new Map(items.map((item) => [keyOf(item), item]));
    const origin = location.origin.replace("http", "ws");
    const query = `watch=1&resourceVersion=${metadata.resourceVersion}&allowWatchBookmarks=true`;
    const socket = new WebSocket(`${origin}${pathOf(namespace)}?${query}`, protocolsFor(token));
    socket.onmessage = ({ data }) => {
      const { type, object } = JSON.parse(data);
      if (type === "BOOKMARK") return;
      if (type === "DELETED") held.delete(keyOf(object));
      else held.set(keyOf(object), object);
      for (const tell of subscribers) tell(valueOf(object));
    };
    await new Promise((resolve) => (socket.onopen = resolve));
    return { held: () => held.size, end: () => socket.close() };
  },

  async "client-node informer"({ namespace, token }, subscribers) {
    network.fetch = (url, init) => fetch(url, { ...init, headers: { authorization: `Bearer ${token}` } });
    const watch = new Watch({ getCurrentCluster: () => ({ server: location.origin }) });
    const informer = new ListWatch(pathOf(namespace), watch, () => list(namespace, token), false);
    await informer.start();
    for (const tell of subscribers) informer.on("change", (object) => tell(valueOf(object)));
    return { held: () => informer.list().length, end: () => informer.stop() };
  },
};
