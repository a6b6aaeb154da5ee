// A list+watch API in memory, given to the package as a `Source`: pages, versions, history, bookmarks, drops, refusals.

/** A small pod, with what a real one carries that must not reach the cache. */
export function pod(key, { labels = { app: "web" }, phase = "Running", node = "node-1" } = {}) {
  const [namespace, name] = key.split("/");
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: key, labels, managedFields: [{ manager: "kubelet" }] },
    spec: { nodeName: node },
    status: { phase, restarts: 0 },
  };
}

export class Upstream {
  version = 100;
  pageSize = Infinity;
  lists = [];
  watches = [];
  /** It knows no watch that begins with the state. */
  withoutWatchList = false;
  /** The key of an object whose version is none, wherever it is sent. */
  spoiled;
  /** Set it to have the next requests refused with it. */
  refusal;
  #objects = new Map();
  #history = [];
  #oldest = 100;
  #streams = new Set();

  constructor(objects = []) {
    for (const object of objects) this.put(object);
    this.forget();
  }

  put(object) {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const type = this.#objects.has(key) ? "MODIFIED" : "ADDED";
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } };
    this.#objects.set(key, stored);
    this.#tell({ type, object: stored });
    return stored;
  }

  remove(key) {
    const object = this.#objects.get(key);
    this.#objects.delete(key);
    this.#tell({ type: "DELETED", object: { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.version) } } });
  }

  bookmark() {
    const object = { kind: "Pod", apiVersion: "v1", metadata: { resourceVersion: String(this.version) } };
    for (const stream of this.#streams) stream.push(JSON.stringify({ type: "BOOKMARK", object }));
  }

  /** Sends a frame as it stands. */
  send(frame) {
    for (const stream of this.#streams) stream.push(frame);
  }

  /** Closes every stream. */
  drop() {
    for (const stream of this.#streams) stream.end();
  }

  /** Breaks every stream. */
  break(message) {
    for (const stream of this.#streams) stream.fail(new TypeError(message));
  }

  /** The past is gone: who resumes from it gets 410. */
  forget() {
    this.#history = [];
    this.#oldest = this.version;
  }

  get open() {
    return this.#streams.size;
  }

  async list(request) {
    this.lists.push(request);
    if (this.refusal !== undefined) throw this.refusal;
    const all = [...this.#objects.values()].sort((a, b) => (a.metadata.uid < b.metadata.uid ? -1 : 1));
    const from = Number(request.continue ?? 0);
    const limit = Math.min(request.limit ?? Infinity, this.pageSize);
    const items = all.slice(from, from + limit).map((object) => this.#sent(object));
    const left = all.length - from - items.length;
    const metadata = {
      resourceVersion: String(this.version),
      ...(left > 0 ? { continue: String(from + limit), remainingItemCount: left } : {}),
    };
    return { body: JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata, items }) };
  }

  async *watch(request, signal) {
    this.watches.push(request);
    if (this.refusal !== undefined) throw this.refusal;
    const initial = request.sendInitialEvents === true && !this.withoutWatchList;
    if (request.sendInitialEvents && !initial) throw { code: 422, reason: "Invalid", message: "sendInitialEvents is forbidden" };
    const from = initial ? this.version : Number(request.resourceVersion);
    if (from < this.#oldest) throw { code: 410, reason: "Expired", message: "too old resource version" };
    const waiting = this.#history.filter(({ version }) => version > from).map(({ frame }) => frame);
    if (initial) {
      const metadata = { resourceVersion: String(from), annotations: { "k8s.io/initial-events-end": "true" } };
      const events = [...this.#objects.values()].map((object) => ({ type: "ADDED", object }));
      waiting.push(...[...events, { type: "BOOKMARK", object: { kind: "Pod", metadata } }].map((event) => JSON.stringify(event)));
    }
    let wake;
    let ended = false;
    let failure;
    const stream = {
      push: (frame) => {
        if (!ended) waiting.push(frame);
        wake?.();
      },
      end: () => {
        ended = true;
        wake?.();
      },
      fail: (error) => {
        failure = error;
        stream.end();
      },
    };
    signal.addEventListener("abort", stream.end);
    this.#streams.add(stream);
    try {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift();
        if (failure !== undefined) throw failure;
        if (ended) return;
        await new Promise((resolve) => (wake = resolve));
      }
    } finally {
      this.#streams.delete(stream);
    }
  }

  /** As it goes out. */
  #sent(object) {
    if (object.metadata.uid !== this.spoiled) return object;
    return { ...object, metadata: { ...object.metadata, resourceVersion: `v${object.metadata.resourceVersion}` } };
  }

  #tell(event) {
    const frame = JSON.stringify({ ...event, object: this.#sent(event.object) });
    this.#history.push({ version: this.version, frame });
    for (const stream of this.#streams) stream.push(frame);
  }
}
