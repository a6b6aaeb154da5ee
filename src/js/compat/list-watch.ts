import { call, type Callback } from "../error/callbacks.js";
import { closedError, toError, WatchCacheError } from "../error/errors.js";
import type { ResourceImpl } from "../resource/resource.js";
import type { Informer as CacheInformer, InformerEvent, Mutable, Resource, ResourceSpec, WatchCache } from "../types.js";
import { RequestError } from "./errors.js";
import { invalid, specOfPath } from "./path.js";
import type { ErrorCallback, Informer, KubernetesObject, ListPromise, ObjectCache, ObjectCallback } from "./types.js";

/** What is alive between a start and its stop. */
interface Run<T> {
  readonly informer: CacheInformer<T, Mutable>;
  /** Resolves when the first list has been told, or with the first error, or the end. */
  readonly settled: Promise<void>;
  readonly settle: () => void;
  readonly over: () => void;
}

type Verb = "add" | "update" | "delete" | "error" | "connect";

/**
 * A list and a watch with callbacks, over the cache's one stream of the resource. See the module's description for what differs from the
 * class of `@kubernetes/client-node`.
 */
export class ListWatch<T extends KubernetesObject> implements ObjectCache<T>, Informer<T> {
  readonly #cache: WatchCache;
  readonly #spec: ResourceSpec;
  /** That of the last run, or of the next. */
  #resource: Resource<T, Mutable>;
  readonly #callbacks: Readonly<Record<Verb, Callback[]>> = { add: [], update: [], delete: [], error: [], connect: [] };
  /** The versions that callbacks were told, by key: what a start after a stop is compared with. */
  readonly #told = new Map<string, string>();
  /** Told before the last stop, and not seen since. */
  #unseen = new Set<string>();
  /** What was held at the last stops, for the last states of what vanished meanwhile. */
  #before: (readonly T[])[] = [];
  #run: Run<T> | undefined;
  /** That of the last run, which stays readable. */
  #informer: CacheInformer<T, Mutable> | undefined;

  /**
   * @param path of a collection, such as `/api/v1/namespaces/default/pods`
   * @param watch gives the cache
   * @param _listFn never called: the cache lists by itself, with the same selectors
   * @throws {WatchCacheError} `invalid` for a path that names no collection, `closed` where the cache is closed.
   */
  constructor(
    path: string,
    watch: { readonly config: WatchCache },
    _listFn?: ListPromise<T>,
    autoStart = true,
    labelSelector?: string,
    fieldSelector?: string,
  ) {
    this.#cache = watch.config;
    this.#spec = specOfPath(path, labelSelector, fieldSelector);
    this.#resource = this.#cache.resource<T, Mutable>(this.#spec);
    if (autoStart) void this.start();
  }

  // ---------------------------------------------------------------------------------------- its life

  /** Resolves when the first list has been told, or with the first error. Never rejects. Does nothing while it runs. */
  async start(): Promise<void> {
    if (this.#run !== undefined) return this.#run.settled;
    let run: Run<T>;
    try {
      run = this.#open();
    } catch (error) {
      // Closed meanwhile.
      this.#fail(toError(error));
      return;
    }
    if (this.#resource.status.phase === "live") this.#tell("connect", undefined);
    // A callback may have stopped it.
    if (this.#current(run)) run.informer.start();
    await run.settled;
  }

  /** Nothing is called afterwards. */
  async stop(): Promise<void> {
    this.#end();
  }

  #current(run: Run<T>): boolean {
    return this.#run === run;
  }

  #open(): Run<T> {
    // The same as before, unless that was closed.
    const resource = (this.#resource = this.#cache.resource<T, Mutable>(this.#spec));
    const informer = resource.informer({
      start: false,
      onWatchError: ({ error, retryAt, key }) => {
        // What goes on at once is no news, as in the original after 410.
        if (error.code !== "expired" && (retryAt !== undefined || key !== undefined)) this.#fail(error);
      },
    });
    this.#unseen = new Set(this.#told.keys());
    const registration = informer.addEventHandler((event) => this.#hear(event));
    let live = resource.status.phase === "live";
    const status = () => {
      if (informer.isStopped) return this.#lost(run);
      const now = resource.status.phase === "live";
      if (now && !live) this.#tell("connect", undefined);
      live = now;
    };
    resource.addEventListener("status", status);
    let settle!: () => void;
    const settled = new Promise<void>((resolve) => (settle = resolve));
    const over = () => resource.removeEventListener("status", status);
    const run: Run<T> = { informer, settled, settle, over };
    this.#run = run;
    this.#informer = informer;
    registration.synced.then(
      () => this.#synced(run),
      () => {},
    );
    return run;
  }

  #end(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.over();
    const held = read<readonly T[]>([], () => run.informer.list());
    run.informer.stop();
    this.#before = this.#unseen.size > 0 ? [held, ...this.#before] : [held];
    run.settle();
  }

  /** The resource was closed, or cannot be opened: somebody has to start anew. */
  #lost(run: Run<T>): void {
    if (this.#run !== run) return;
    const { status } = this.#resource;
    const error = status.error ?? closedError(this.#spec.resource);
    this.#end();
    this.#fail(error);
  }

  // ----------------------------------------------------------------------------------------- hearing

  #hear(event: InformerEvent<T, Mutable>): void {
    const { key } = event;
    this.#unseen.delete(key);
    if (event.type === "delete") {
      this.#told.delete(key);
      this.#tell("delete", event);
      return;
    }
    if (event.type === "overflow" || event.resync) return;
    const { resourceVersion } = event;
    const before = this.#told.get(key);
    // Told before a stop, and unchanged since.
    if (before === resourceVersion) return;
    this.#told.set(key, resourceVersion);
    this.#tell(before === undefined ? "add" : "update", event);
  }

  /** The state is there and was told. What is missing in it vanished while nobody listened. */
  #synced(run: Run<T>): void {
    const gone = this.#unseen;
    this.#unseen = new Set();
    if (gone.size > 0) {
      const last = lastStates(this.#before, gone);
      for (const key of gone) {
        if (this.#run !== run) {
          this.#unseen.add(key);
          continue;
        }
        this.#told.delete(key);
        this.#tell("delete", { object: last.get(key) ?? (trace(key) as T) });
      }
    }
    if (this.#run !== run) return;
    this.#before = [];
    run.settle();
  }

  #fail(error: WatchCacheError): void {
    this.#tell("error", { object: new RequestError(error) });
    this.#run?.settle();
  }

  /** `what.object` is read, and decoded, only where somebody listens. */
  #tell(verb: Verb, what: { readonly object: unknown } | undefined): void {
    const callbacks = this.#callbacks[verb];
    if (callbacks.length === 0) return;
    const resource = this.#resource as unknown as ResourceImpl<T>;
    const object = what?.object;
    for (const callback of [...callbacks]) call(callback, [object], (error) => resource.report(error));
  }

  // --------------------------------------------------------------------------------------- callbacks

  /** Adds a callback. `change` stands for `add`, `update` and `delete`. */
  on(verb: "add" | "update" | "delete" | "change", cb: ObjectCallback<T>): void;
  /** Adds a callback for what is about no object. */
  on(verb: "error" | "connect", cb: ErrorCallback): void;
  on(verb: string, cb: Callback): void {
    if (typeof cb !== "function") throw invalid(`a callback is a function, not ${typeof cb}`);
    for (const callbacks of this.#of(verb)) callbacks.push(cb);
  }

  /** Takes a callback away, once for each call. */
  off(verb: "add" | "update" | "delete" | "change", cb: ObjectCallback<T>): void;
  /** Takes a callback away, once for each call. */
  off(verb: "error" | "connect", cb: ErrorCallback): void;
  off(verb: string, cb: Callback): void {
    for (const callbacks of this.#of(verb)) {
      const at = callbacks.indexOf(cb);
      if (at >= 0) callbacks.splice(at, 1);
    }
  }

  #of(verb: string): Callback[][] {
    const { add, update, delete: gone } = this.#callbacks;
    if (verb === "change") return [add, update, gone];
    if (!Object.hasOwn(this.#callbacks, verb)) throw invalid(`Unknown verb: ${verb}`);
    return [this.#callbacks[verb as Verb]];
  }

  // ----------------------------------------------------------------------------------------- reading

  /** The object of this name. */
  get(name: string, namespace?: string): T | undefined {
    return read(undefined, () => this.#informer?.get(namespace ? `${namespace}/${name}` : name));
  }

  /** All objects, or those of a namespace, in the order of their keys. A new array each time. */
  list(namespace?: string): T[] {
    return read([], () => [...(this.#informer?.list("", namespace ?? "") ?? [])]);
  }

  /** The version of what is held; empty before the first list. */
  latestResourceVersion(): string {
    return this.#informer?.lastSyncResourceVersion ?? "";
  }
}

/** What a stopped informer holds may be gone: then there is nothing. */
function read<V>(nothing: V, get: () => V): V {
  try {
    return get();
  } catch (error) {
    if (error instanceof WatchCacheError && error.code === "closed") return nothing;
    throw error;
  }
}

/** The last states of these keys, as far as they can still be read. */
function lastStates<T extends KubernetesObject>(lists: readonly (readonly T[])[], keys: ReadonlySet<string>): Map<string, T> {
  const found = new Map<string, T>();
  for (const list of lists) {
    for (let at = 0; at < list.length && found.size < keys.size; at++) {
      const object = read(undefined, () => list[at]);
      const key = `${object?.metadata?.namespace ? `${object.metadata.namespace}/` : ""}${object?.metadata?.name}`;
      if (object !== undefined && keys.has(key) && !found.has(key)) found.set(key, object);
    }
  }
  return found;
}

/** What is left of an object of which nothing is kept any more. */
function trace(key: string): KubernetesObject {
  const [name = "", namespace] = key.split("/").reverse();
  return { metadata: { name, ...(namespace === undefined ? {} : { namespace }) } };
}
