/**
 * The package over etcd, as tests use it, and what it asks on the way.
 * @module
 */
import WebSocket from "ws";
import { createWatchCache } from "watchcache";
import { etcdSource } from "watchcache/etcd";

/** What a source has asked etcd for. */
export class EtcdTraffic {
  /** @type {{ url: string, body: any, headers: Headers, answer?: any }[]} every request, in order; the answers of some */
  asked = [];
  /** @type {{ url: string, protocols: string[], socket: WebSocket }[]} */
  sockets = [];

  constructor() {
    const traffic = this;
    /** @type {typeof fetch} */
    this.fetch = async (input, init) => {
      const request = { url: String(input), body: JSON.parse(String(init?.body)), headers: new Headers(init?.headers) };
      traffic.asked.push(request);
      const answer = await fetch(input, init);
      if (!request.url.endsWith("/authenticate")) return answer;
      const text = await answer.text();
      Object.assign(request, { answer: JSON.parse(text) });
      return new Response(text, { status: answer.status });
    };
    this.WebSocket = /** @type {any} */ (
      class extends WebSocket {
        /** @param {string} url @param {string[]} protocols */
        constructor(url, protocols) {
          super(url, protocols);
          traffic.sockets.push({ url, protocols, socket: this });
        }
      }
    );
  }

  /** Requests of this path. @param {string} end */
  to(end) {
    return this.asked.filter(({ url }) => url.endsWith(end));
  }

  /** Cuts every open watch. */
  cut() {
    for (const { socket } of this.sockets) socket.terminate();
  }
}

/**
 * A cache over keys of etcd, which ends with its test.
 * @param {import("node:test").TestContext} t
 * @param {import("watchcache/etcd").EtcdSourceOptions} options
 * @param {import("watchcache").WatchCacheOptions} [settings]
 */
export function openEtcd(t, options, settings = {}) {
  const source = etcdSource({ WebSocket: /** @type {any} */ (WebSocket), ...options });
  const cache = createWatchCache({ flush: "microtask", retry: { initialMs: 10, capMs: 100 }, ...settings });
  t.after(() => cache.close());
  const resource = cache.resource({ source, id: "keys" });
  // Somebody looks at it all the time.
  t.after(resource.view().subscribe(() => {}));
  return { source, cache, resource };
}
