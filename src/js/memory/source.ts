import type { HostAbortSignal } from "../host/types.js";
import { bindable, bindMethods, self } from "../language/bound.js";
import { printable } from "../language/printing.js";
import type { KubeObject, ObjectLike } from "../object/metadata.js";
import { text } from "../options/kinds.js";
import { read } from "../options/read.js";
import type { SourceAnswer } from "../upstream/source.js";
import { hostClock, sleep } from "./clock.js";
import { Failures } from "./failures.js";
import { type Change, History, keyOf } from "./history.js";
import { resourceOf } from "./names.js";
import {
  checkFailure,
  checkFrame,
  checkObject,
  checkObjects,
  delay,
  DROP,
  FAIL,
  optionalCallback,
  OPTIONS,
  pageSize,
  verb,
  version,
} from "./options.js";
import { patched } from "./patch.js";
import { alreadyExists, expiredList, expiredToken, noResource, noSelection, notFound, refused } from "./refusals.js";
import { type ListRequest, planList, planWatch, versionOf, type WatchRequest } from "./requests.js";
import { type Frame, Stream } from "./stream.js";
import { ANY, encodeToken } from "./token.js";
import type {
  DropOptions,
  FailOptions,
  MemoryClock,
  MemoryFailure,
  MemoryRequest,
  MemorySource,
  MemorySourceOptions,
  MemoryVerb,
} from "./types.js";
import { checkPreconditions, checkSubresource, created, filled, type Fresh, isDryRun, statusOf, updated } from "./writes.js";

type Named = { namespace?: string; name: string; subresource?: string };
/** What each write may say beside its body. */
type Written = { namespace?: string; body: string; subresource?: string; dryRun?: boolean };

const FIRST_VERSION = "100";
const APPLY = "application/apply-patch+yaml";
const WRITES = ["get", "create", "update", "patch", "delete", "deleteCollection"] as const;
/** Sources so far: each gives uids of its own. */
let sources = 0;

/**
 * An upstream in memory: give it to `cache.resource({ source, id })`, and script what happens to it.
 *
 * ```ts
 * const pods = memorySource({ objects: [{ metadata: { namespace: "default", name: "web" } }] });
 * const view = cache.resource({ source: pods, id: "pods" }).view();
 * pods.remove("default/web");
 * ```
 *
 * @throws {WatchCacheError} `invalid`, naming the option.
 */
export function memorySource<T extends ObjectLike = KubeObject>(options: MemorySourceOptions<T> = {}): MemorySource<T> {
  return new Memory<T>(options);
}

class Memory<T extends ObjectLike> implements MemorySource<T> {
  readonly #clock: MemoryClock;
  readonly #watchList: boolean;
  readonly #history: History<T>;
  readonly #streams = new Set<Stream>();
  readonly #failures = new Failures();
  readonly #requests: MemoryRequest[] = [];
  readonly #kind: string;
  readonly #apiVersion: string;
  readonly #number = ++sources;
  #delay: number;
  #pageSize: number;
  #before: MemorySource<T>["before"];
  #outgoing: MemorySource<T>["outgoing"];
  /** Objects that were ever made. */
  #made = 0;

  constructor(given: MemorySourceOptions<T>) {
    bindable(this);
    const options = read<MemorySourceOptions<any>>(OPTIONS, "memorySource", given);
    const objects = checkObjects(options.objects ?? []);
    this.#kind = options.kind ?? objects[0]?.kind ?? "Object";
    this.#apiVersion = options.apiVersion ?? objects[0]?.apiVersion ?? "v1";
    this.#delay = options.delay ?? 0;
    this.#pageSize = options.pageSize ?? Infinity;
    this.#watchList = options.watchList ?? true;
    this.#clock = options.clock ?? hostClock;
    this.#history = new History(BigInt(options.resourceVersion ?? FIRST_VERSION), (type, object) => this.#event(type, this.#sent(object)));
    for (const object of objects) this.#put(object);
    this.expire();
    if (options.readOnly) for (const method of WRITES) Object.defineProperty(this, method, { value: undefined });
  }

  // ------------------------------------------------------------------------------------ what it holds

  get objects(): readonly T[] {
    return this.#history.at(this.#history.version)!.objects;
  }

  get streams(): number {
    return this.#streams.size;
  }

  get requests(): readonly MemoryRequest[] {
    return [...this.#requests];
  }

  asked(asked: MemoryVerb): readonly MemoryRequest[] {
    verb(asked, "verb");
    return this.#requests.filter((request) => request.verb === asked);
  }

  // ------------------------------------------------------------------------------------ what may be set

  get resourceVersion(): string {
    return String(self(this).#history.version);
  }

  set resourceVersion(given: string) {
    self(this).#history.version = BigInt(version(given, "resourceVersion"));
  }

  get delay(): number {
    return self(this).#delay;
  }

  set delay(given: number) {
    self(this).#delay = delay(given, "delay");
  }

  get pageSize(): number {
    return self(this).#pageSize;
  }

  set pageSize(given: number) {
    self(this).#pageSize = pageSize(given, "pageSize");
  }

  get before(): MemorySource<T>["before"] {
    return self(this).#before;
  }

  set before(given: MemorySource<T>["before"]) {
    self(this).#before = optionalCallback(given, "before");
  }

  get outgoing(): MemorySource<T>["outgoing"] {
    return self(this).#outgoing;
  }

  set outgoing(given: MemorySource<T>["outgoing"]) {
    self(this).#outgoing = optionalCallback(given, "outgoing");
  }

  // -------------------------------------------------------------------------------------- the script

  put(object: unknown): T {
    return this.#put(checkObject(object, "object"));
  }

  remove(key: string): T | undefined {
    return this.#remove(text(key, "key"));
  }

  bookmark(): void {
    const frame = this.#bookmark();
    for (const stream of this.#streams) if (stream.bookmarks) stream.push(frame, this.#delay);
  }

  send(frame: unknown): void {
    const sent = checkFrame(frame);
    for (const stream of this.#streams) stream.push(sent, this.#delay);
  }

  expire(): void {
    this.#history.forget();
  }

  drop(options?: DropOptions): void {
    const { error, midFrame } = read<DropOptions>(DROP, "drop", options);
    for (const stream of this.#streams) stream.end(error ?? (midFrame ? new TypeError("terminated") : undefined));
  }

  fail(failure: MemoryFailure, options?: FailOptions): void {
    const { times = Infinity, verbs } = read<FailOptions>(FAIL, "fail", options);
    this.#failures.add(checkFailure(failure), times, verbs);
  }

  recover(): void {
    this.#failures.clear();
  }

  // -------------------------------------------------------------------------------------- the source

  async list(request: ListRequest, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("list", request, signal, () => this.#page(request));
  }

  async *watch(request: WatchRequest, signal: HostAbortSignal): AsyncGenerator<Frame, void> {
    const stream = await this.#answer("watch", request, signal, () => {
      const frames = this.#start(request);
      const after = versionOf(request.resourceVersion);
      const stream = new Stream(this.#clock, signal, after, request.allowWatchBookmarks, (ended) => this.#streams.delete(ended));
      for (const frame of frames) stream.push(frame, this.#delay);
      // In the same step: no change falls between the first frames and the live ones.
      this.#streams.add(stream);
      // Aborted before it began, while `before` was waited for.
      if (signal.aborted) stream.end();
      return stream;
    });
    yield* stream.frames(request.timeoutSeconds);
  }

  async get(request: Named, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("get", request, signal, () => {
      checkSubresource(request);
      return this.#sent(this.#existing(request));
    });
  }

  async create(request: Written, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("create", request, signal, () => {
      // Nothing is made in an object here.
      if (request.subresource !== undefined) throw noResource();
      const object = created(request.body, request.namespace, this.#fresh(), this.#resource, this.#nameOf) as T & KubeObject;
      if (this.#history.get(keyOf(object)) !== undefined) throw alreadyExists(this.#resource, object.metadata!.name!);
      return this.#sent(request.dryRun ? this.#unkept(object) : this.#put(object));
    });
  }

  async update(request: Named & Written, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("update", request, signal, () => this.#replaced(request, this.#existing(request), request.body));
  }

  async patch(request: Named & Written & { type: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("patch", request, signal, () => {
      const { name, namespace, type } = request;
      const patch: unknown = JSON.parse(request.body);
      const held = this.#history.get(keyOf({ metadata: request }));
      if (held === undefined && type === APPLY && request.subresource === undefined) {
        const applied = JSON.stringify({ ...(patch as T), metadata: { ...(patch as T).metadata, name } });
        const object = created(applied, namespace, this.#fresh(), this.#resource, this.#nameOf) as T & KubeObject;
        return this.#sent(request.dryRun ? this.#unkept(object) : this.#put(object));
      }
      const before = this.#existing(request);
      return this.#replaced(request, before, JSON.stringify(patched(structuredClone(before), patch, type)));
    });
  }

  async delete(request: Named & { body: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("delete", request, signal, () => {
      const held = this.#existing(request);
      checkPreconditions(request.body, held.metadata!, this.#resource, request.name);
      return this.#sent(isDryRun(request.body) ? held : this.#remove(keyOf({ metadata: request }))!);
    });
  }

  async deleteCollection(
    request: { namespace?: string; labelSelector?: string; fieldSelector?: string; body: string },
    signal: HostAbortSignal,
  ): Promise<SourceAnswer> {
    return this.#document("deleteCollection", request, signal, () => {
      const { namespace, labelSelector, fieldSelector, body } = request;
      if (labelSelector || fieldSelector) throw noSelection();
      const items = this.objects.filter(({ metadata }) => !namespace || metadata!.namespace === namespace);
      if (!isDryRun(body)) for (const object of items) this.#remove(keyOf(object));
      const metadata = { resourceVersion: this.resourceVersion };
      return { kind: `${this.#kind}List`, apiVersion: this.#apiVersion, metadata, items: items.map((object) => this.#sent(object)) };
    });
  }

  // ---------------------------------------------------------------------------------------- answering

  /** Notes a request and answers it. The answer is that of this moment, however late it arrives. */
  async #answer<V>(verb: MemoryVerb, given: object, signal: HostAbortSignal, answer: () => V): Promise<V> {
    const request: MemoryRequest = Object.freeze({ verb, ...given });
    this.#requests.push(request);
    await this.#before?.(request, signal);
    let value: V | undefined;
    let refusal: { readonly error: unknown } | undefined;
    try {
      const failure = this.#failures.next(verb);
      if (failure !== undefined) throw refused(failure);
      value = answer();
    } catch (error) {
      refusal = { error };
    }
    // What a watch brings is late by itself.
    if (this.#delay > 0 && (verb !== "watch" || refusal !== undefined)) await sleep(this.#clock, this.#delay, signal);
    if (refusal !== undefined) throw refusal.error;
    return value as V;
  }

  async #document(verb: MemoryVerb, request: object, signal: HostAbortSignal, answer: () => unknown): Promise<SourceAnswer> {
    return { body: await this.#answer(verb, request, signal, () => JSON.stringify(answer())) };
  }

  #page(request: ListRequest): unknown {
    const { version, start, any } = planList(request, this.#history.version);
    const state = this.#history.at(version);
    if (state === undefined) {
      throw start === undefined ? expiredList() : expiredToken(encodeToken({ version: ANY, start }));
    }
    const { namespace, name, labelSelector, fieldSelector } = request;
    const limit = any && this.#pageSize === Infinity ? Infinity : Math.min(request.limit || Infinity, this.#pageSize);
    let rest = state.objects.slice(start === undefined ? 0 : position(state.keys, start));
    if (namespace) rest = rest.filter(({ metadata }) => metadata!.namespace === namespace);
    if (name) rest = rest.filter(({ metadata }) => metadata!.name === name);
    const items = rest.slice(0, limit);
    const remaining = rest.length - items.length;
    const more = remaining > 0 && {
      continue: encodeToken({ version, start: `${keyOf(items.at(-1)!)}\0` }),
      // How many of the rest a selector lets through is not known.
      ...(labelSelector || fieldSelector ? {} : { remainingItemCount: remaining }),
    };
    return {
      kind: `${this.#kind}List`,
      apiVersion: this.#apiVersion,
      metadata: { resourceVersion: String(version), ...more },
      items: items.map((object) => this.#sent(object)),
    };
  }

  /** What a watch begins with. */
  #start(request: WatchRequest): Frame[] {
    const plan = planWatch(request, this.#history, this.#watchList);
    if (plan !== "state") return this.#history.since(plan.after).map(({ frame }) => frame);
    const frames = this.objects.map((object) => this.#event("ADDED", this.#sent(object)));
    // A watch from no version begins with the state as well, and servers that know of this bookmark send it then, too.
    if (this.#watchList && request.allowWatchBookmarks) frames.push(this.#bookmark({ "k8s.io/initial-events-end": "true" }));
    return frames;
  }

  // ------------------------------------------------------------------------------------------- helpers

  #put(object: T): T {
    const held = this.#history.get(keyOf(object))?.metadata;
    const stored = filled(object as KubeObject, held as KubeObject["metadata"], this.#fresh()) as T;
    const change = this.#history.put(stored);
    this.#made++;
    this.#tell(change);
    return change.object;
  }

  /** Stores what is to stand in the place of an object, or of its status, and gives what stands there then. */
  #replaced(request: Named & Written, held: T, body: string): unknown {
    checkSubresource(request);
    const written = updated(body, held as KubeObject, this.#resource) as (T & KubeObject) | undefined;
    const stored = written && request.subresource === "status" ? statusOf(held as KubeObject, written) : written;
    if (stored === undefined) return this.#sent(held);
    return this.#sent(request.dryRun ? (stored as T) : this.#put(stored as T));
  }

  /** As it would be stored. */
  #unkept(object: T): T {
    return { ...object, metadata: { ...object.metadata, resourceVersion: this.resourceVersion } };
  }

  #remove(key: string): T | undefined {
    const change = this.#history.remove(key);
    if (change !== undefined) this.#tell(change);
    return change?.object;
  }

  #tell({ version, frame }: Change<T>): void {
    for (const stream of this.#streams) if (version > stream.after) stream.push(frame, this.#delay);
  }

  /** What the next object that is made gets. */
  #fresh(): Fresh {
    const [source, object] = [this.#number.toString(16).padStart(8, "0"), String(this.#made + 1).padStart(12, "0")];
    const creationTimestamp = new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    return { uid: `${source}-0000-4000-8000-${object}`, creationTimestamp };
  }

  /** One that is free. */
  readonly #nameOf = (generateName: string, namespace: string | undefined): string => {
    for (let number = this.#made + 1; ; number++) {
      const name = generateName + String(number).padStart(5, "0");
      if (this.#history.get(keyOf({ metadata: { namespace, name } })) === undefined) return name;
    }
  };

  /** As messages name it: `pods`. */
  get #resource(): string {
    return resourceOf(this.#kind, this.#apiVersion);
  }

  #existing(request: Named): T {
    const object = this.#history.get(keyOf({ metadata: request }));
    if (object === undefined) throw notFound(this.#resource, request.name);
    return object;
  }

  #sent(object: T): unknown {
    return this.#outgoing === undefined ? object : this.#outgoing(object);
  }

  #event(type: string, object: unknown): string {
    return JSON.stringify({ type, object });
  }

  #bookmark(annotations?: Record<string, string>): string {
    const metadata = { resourceVersion: this.resourceVersion, creationTimestamp: null, ...(annotations && { annotations }) };
    return this.#event("BOOKMARK", { kind: this.#kind, apiVersion: this.#apiVersion, metadata });
  }
}

/** How many of the sorted keys come before this one. */
function position(keys: readonly string[], key: string): number {
  let [at, end] = [0, keys.length];
  while (at < end) {
    const middle = (at + end) >> 1;
    if (keys[middle]! < key) at = middle + 1;
    else end = middle;
  }
  return at;
}

const members = Object.getOwnPropertyDescriptors(Memory.prototype) as unknown as Record<string, PropertyDescriptor>;
bindMethods(Memory.prototype);
for (const [name, { value, set }] of Object.entries(members)) {
  // They find the source by themselves: what is set through a Proxy is set in the source.
  if (set !== undefined) Object.defineProperty(Memory.prototype, name, members[name]!);
  // A test may put a function of its own in the place of a method.
  if (typeof value !== "function" || name === "constructor") continue;
  const { get } = Object.getOwnPropertyDescriptor(Memory.prototype, name)!;
  const replace = function (this: object, value: unknown): void {
    Object.defineProperty(self(this), name, { value, configurable: true, enumerable: true, writable: true });
  };
  Object.defineProperty(Memory.prototype, name, { get: get!, set: replace, configurable: true });
}
printable(Memory.prototype, "MemorySource", ({ objects, resourceVersion, streams, requests }) => ({
  objects: objects.length,
  resourceVersion,
  streams,
  requests: requests.length,
}));
