// An informer of the package and one of `@kubernetes/client-node`, in Node and in the browser, over the same kind of stream. Beside them
// stands a reader that only looks for the ends of lines: it shows what the stream itself costs. Each harness has these methods:
//
// - `sync(told)` starts it with one handler. It resolves when the informer is synced and the handler has heard of `env.expected` objects.
// - `handlers(n, told, reads)` replaces the handlers by n others, which hear of changes alone. `reads` says what each reads of a change:
//   "names" its key and version, "fields" two of its fields as well, "object" the whole object.
// - `extraBytes()` is what it holds beside the JavaScript heap.
// - `stats()` changes as long as it has work to do.
// - `close()` ends it.
//
// They call `told(handler, key, version, number)`: the number stands for what was read, and is part of the checksum.

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;
const lengths = ({ metadata, spec, status }) => metadata.name.length + spec.containers.length + status.conditions.length;

/** What a handler does with an event of the package. */
const ofEvent = {
  names: () => 0,
  fields: (event) => event.get("spec.nodeName").length + event.get("status.phase").length,
  object: (event) => lengths(event.object),
};

/** What it does with the object that the peer hands over. */
const ofObject = {
  names: () => 0,
  fields: ({ spec, status }) => spec.nodeName.length + status.phase.length,
  object: lengths,
};

const ours =
  (transport) =>
  async ({ server, createWatchCache, expected }) => {
    const cache = createWatchCache({ server, linger: 3_600_000, transport });
    const resource = cache.resource("pods");
    let registrations = [];
    let informer;
    return {
      async sync(told) {
        informer = resource.informer({ start: false });
        await heardAll(expected, (once) => {
          registrations = [informer.addEventHandler((event) => (told(0, event.key, event.resourceVersion, 0), once()))];
          informer.start();
        });
        await informer.synced;
      },
      async handlers(count, told, reads) {
        for (const registration of registrations) await registration.remove();
        const read = ofEvent[reads];
        registrations = Array.from({ length: count }, (_, handler) =>
          // A handler that joins hears of what is there first; only changes count here.
          informer.addEventHandler((event) => {
            if (event.type === "update") told(handler, event.key, event.resourceVersion, read(event));
          }),
        );
        await Promise.all(registrations.map(({ synced }) => synced));
      },
      extraBytes: () => cache.stats().memoryBytes,
      stats: () =>
        cache
          .stats()
          .resources.map(({ bytes, historyBytes }) => `${bytes}/${historyBytes}`)
          .join(),
      close: () => cache.close(),
    };
  };

const LINE_END = 10;

export const harnesses = {
  /** The peer streams by fetch, so that is how both are compared. */
  watchcache: ours("fetch"),

  "watchcache over a WebSocket": ours("websocket"),

  async "client-node informer"({ kubeConfig, makeInformer, list, expected, restartMs }) {
    const informer = makeInformer(kubeConfig, "/api/v1/pods", list);
    // As its README says: an error ends it, and it is started again.
    informer.on("error", () => setTimeout(() => void informer.start(), restartMs));
    let registered = [];
    const on = (verb, callback) => {
      informer.on(verb, callback);
      registered.push([verb, callback]);
    };
    const offAll = () => {
      for (const [verb, callback] of registered) informer.off(verb, callback);
      registered = [];
    };
    return {
      async sync(told) {
        await heardAll(expected, (once) => {
          on("add", (object) => {
            told(0, keyOf(object), object.metadata.resourceVersion, 0);
            once();
          });
          void informer.start();
        });
      },
      async handlers(count, told, reads) {
        offAll();
        const read = ofObject[reads];
        for (let handler = 0; handler < count; handler++) {
          on("update", (object) => told(handler, keyOf(object), object.metadata.resourceVersion, read(object)));
        }
      },
      extraBytes: () => 0,
      stats: () => "",
      close: () => informer.stop(),
    };
  },

  async "the stream alone"({ server }) {
    const ended = new AbortController();
    let line = () => {};
    const read = async (body) => {
      const reader = body.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        for (let at = next.value.indexOf(LINE_END); at >= 0; at = next.value.indexOf(LINE_END, at + 1)) line();
      }
    };
    return {
      async sync() {
        const { metadata } = await (await fetch(`${server}/api/v1/pods?limit=1`)).json();
        const query = `watch=true&resourceVersion=${metadata.resourceVersion}`;
        const { body } = await fetch(`${server}/api/v1/pods?${query}`, { signal: ended.signal });
        void read(body).catch(() => {});
      },
      async handlers(count, told) {
        line = () => {
          for (let handler = 0; handler < count; handler++) told(handler, "", "0", 0);
        };
      },
      extraBytes: () => 0,
      stats: () => "",
      close: () => ended.abort(),
    };
  },
};

/** Resolves when what `start` gets has been called so often. */
function heardAll(expected, start) {
  return new Promise((resolve) => {
    let heard = 0;
    start(() => {
      if (++heard === expected) resolve();
    });
  });
}

/** What handlers were told: each of every change, none twice, none left out. */
export class Told {
  count = 0;
  sum = 0;
  #waiting;

  hear = (handler, key, version, number) => {
    this.count++;
    this.sum = (this.sum + number + Math.imul(handler + 1, Number(version) + key.length)) | 0;
    if (this.#waiting && this.count >= this.#waiting.count) this.#waiting.resolve();
  };

  reached(count) {
    if (this.count >= count) return Promise.resolve();
    return new Promise((resolve) => void (this.#waiting = { count, resolve }));
  }
}
