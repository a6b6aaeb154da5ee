// An informer of the package and one of `@kubernetes/client-node`, driven alike, in Node and in the browser. `open(env)` gives
//   sync(hear)         starts it with one handler; resolves when the handler has heard of `env.expected` objects and the informer is synced
//   handlers(n, hear)  from now on, n handlers hear of changes, each by its number; nothing else does
//   extraBytes()       what it holds beside the JavaScript heap
//   close()
// `hear` is given (handler, key, version, object), where `object` gives the whole object.

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

export const harnesses = {
  async watchcache({ server, createWatchCache, cacheOptions, expected }) {
    const cache = createWatchCache({ server, linger: 3_600_000, ...cacheOptions });
    const resource = cache.resource("pods");
    let registrations = [];
    const register = (informer, hear, handler) =>
      informer.addEventHandler((event) => hear(handler, event.key, event.resourceVersion, () => event.object));
    let informer;
    return {
      async sync(hear) {
        informer = resource.informer({ start: false });
        await heardAll(expected, (once) => {
          registrations = [register(informer, (...told) => (hear(...told), once()), 0)];
          informer.start();
        });
        await informer.synced;
      },
      async handlers(count, hear) {
        for (const registration of registrations) await registration.remove();
        registrations = Array.from({ length: count }, (_, handler) =>
          // A handler that joins hears of what is there first; only changes count here.
          informer.addEventHandler((event) => {
            if (event.type === "update") hear(handler, event.key, event.resourceVersion, () => event.object);
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
  },

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
      async sync(hear) {
        await heardAll(expected, (once) => {
          on("add", (object) => {
            hear(0, keyOf(object), object.metadata.resourceVersion, () => object);
            once();
          });
          void informer.start();
        });
      },
      async handlers(count, hear) {
        offAll();
        for (let handler = 0; handler < count; handler++) {
          on("update", (object) => hear(handler, keyOf(object), object.metadata.resourceVersion, () => object));
        }
      },
      extraBytes: () => 0,
      stats: () => "",
      close: () => informer.stop(),
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

  /** @param {boolean} read whether each handler reads the object too */
  hear(read) {
    return (handler, key, version, object) => {
      this.count++;
      this.sum = (this.sum + Math.imul(handler + 1, Number(version) + key.length)) | 0;
      if (read) {
        const { metadata, spec, status } = object();
        this.sum = (this.sum + metadata.name.length + spec.containers.length + status.conditions.length) | 0;
      }
      if (this.#waiting && this.count >= this.#waiting.count) this.#waiting.resolve();
    };
  }

  reached(count) {
    if (this.count >= count) return Promise.resolve();
    return new Promise((resolve) => void (this.#waiting = { count, resolve }));
  }
}
