import { closedError } from "../error/errors.js";
import { InformerImpl } from "../informer/informer.js";
import type { Informer, WaitOptions, WatchInterruption } from "../informer/types.js";
import { waitForSync } from "../informer/wait-for-sync.js";
import { bindable, bindMethods } from "../language/bound.js";
import type { KindSpec } from "../kubernetes/types.js";
import { read } from "../options/read.js";
import type { SourceSpec } from "../upstream/source.js";
import { fromText, readSpec } from "../upstream/spec.js";
import type { ResourceSpec } from "../upstream/types.js";
import type { InformerFactory, InformerFactoryOptions } from "./informer-factory-types.js";
import { originOf } from "./origin.js";
import { cache as isCache, FACTORY } from "./options.js";
import type { WatchCache } from "./types.js";

/**
 * Informers by resource, as client-go's shared informer factory: one for each, started, waited for and stopped together. Informers of several
 * factories of one cache share its streams; one closes `linger` after the last that used it has stopped.
 */
export function createInformerFactory(cache: WatchCache, options?: InformerFactoryOptions): InformerFactory {
  isCache(cache, "cache");
  return new Factory(cache, read(FACTORY, "createInformerFactory", options));
}

class Factory implements InformerFactory {
  readonly #cache: WatchCache;
  readonly #options: InformerFactoryOptions;
  readonly #informers = new Map<string, { name: string; informer: Informer<any> }>();
  #shut = false;

  constructor(cache: WatchCache, options: InformerFactoryOptions) {
    bindable(this);
    this.#cache = cache;
    this.#options = options;
  }

  forResource(spec: string | ResourceSpec | KindSpec | SourceSpec): Informer<any> {
    const narrowed = this.#narrowed(spec);
    const { key, name } = readSpec(narrowed);
    const known = this.#informers.get(key);
    if (known !== undefined) return known.informer;
    if (this.#shut) throw closedError(name);
    const { resyncPeriod, transform, onWatchError } = this.#options;
    const informer = this.#cache.resource<any>(narrowed).informer({
      start: false,
      resyncPeriod,
      transform,
      onWatchError: onWatchError && ((told: WatchInterruption) => onWatchError(told, name)),
    });
    // Two resources may have one name: then it says where it is, too.
    const taken = [...this.#informers.values()].some((other) => other.name === name);
    this.#informers.set(key, { name: taken ? `${name} ${key}` : name, informer });
    return informer;
  }

  start(): void {
    if (this.#shut) return;
    for (const { informer } of this.#informers.values()) if (!informer.isStarted) informer.start();
  }

  async waitForCacheSync(options?: WaitOptions): Promise<readonly string[]> {
    const started = [...this.#informers.values()].filter(({ informer }) => informer.isStarted);
    return waitForSync(Object.fromEntries(started.map(({ name, informer }) => [name, informer])), options);
  }

  async shutdown(): Promise<void> {
    this.#shut = true;
    const idle: Promise<void>[] = [];
    for (const { informer } of this.#informers.values()) {
      if (informer instanceof InformerImpl) idle.push(informer.idle());
      informer.stop();
    }
    await Promise.all(idle);
  }

  /** What discovery knows of names and kinds is the cache's to say. To name a resource costs nothing. */
  #named(spec: string | ResourceSpec | KindSpec): ResourceSpec {
    if (typeof spec === "object" && (spec === null || !("kind" in spec))) return spec;
    const known = originOf(this.#cache.resource(spec))?.spec;
    return known ?? fromText(spec as string);
  }

  #narrowed(spec: string | ResourceSpec | KindSpec | SourceSpec): ResourceSpec | SourceSpec {
    if (typeof spec === "object" && spec !== null && "source" in spec) return spec;
    const { namespace, labelSelector, fieldSelector } = this.#options;
    const named = this.#named(spec);
    return { ...(named?.namespaces === undefined && { namespace }), labelSelector, fieldSelector, ...named };
  }
}

bindMethods(Factory.prototype);
