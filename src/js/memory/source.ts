import type { HostAbortSignal } from "../host-types.js";
import type { KubeObject, ObjectLike } from "../metadata-types.js";
import type { SourceAnswer } from "../source.js";
import { hostClock, sleep } from "./clock.js";
import { type Change, History, keyOf } from "./history.js";
import { alreadyExists, expiredList, expiredToken, notFound, refused } from "./refusals.js";
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
import { checkPreconditions, created, updated } from "./writes.js";

type Named = { namespace?: string; name: string };

const FIRST_VERSION = "100";
const WRITES = ["get", "create", "update", "delete"] as const;

/**
 * An upstream in memory: give it to `cache.resource({ source, id })`, and script what happens to it.
 *
 * ```ts
 * const pods = memorySource({ objects: [{ metadata: { namespace: "default", name: "web" } }] });
 * const view = cache.resource({ source: pods, id: "pods" }).view();
 * pods.remove("default/web");
 * ```
 */
export function memorySource<T extends ObjectLike = KubeObject>(options: MemorySourceOptions<T> = {}): MemorySource<T> {
  return new Memory<T>(options);
}

class Memory<T extends ObjectLike> implements MemorySource<T> {
  delay: number;
  pageSize: number;
  before: MemorySource<T>["before"];
  outgoing: MemorySource<T>["outgoing"];
  readonly requests: MemoryRequest[] = [];
  readonly #clock: MemoryClock;
  readonly #watchList: boolean;
  readonly #history: History<T>;
  readonly #streams = new Set<Stream>();
  readonly #kind: string;
  readonly #apiVersion: string;
  #failure: { readonly failure: MemoryFailure; times: number; readonly verbs: readonly MemoryVerb[] | undefined } | undefined;
  #created = 0;

  constructor(options: MemorySourceOptions<T>) {
    const objects = [...(options.objects ?? [])];
    this.#kind = options.kind ?? objects[0]?.kind ?? "Object";
    this.#apiVersion = options.apiVersion ?? objects[0]?.apiVersion ?? "v1";
    this.delay = options.delay ?? 0;
    this.pageSize = options.pageSize ?? Infinity;
    this.#watchList = options.watchList ?? true;
    this.#clock = options.clock ?? hostClock;
    this.#history = new History(Number(options.resourceVersion ?? FIRST_VERSION), (type, object) => this.#event(type, this.#sent(object)));
    for (const object of objects) this.put(object);
    this.expire();
    if (options.readOnly) for (const method of WRITES) Object.defineProperty(this, method, { value: undefined });
  }

  // ------------------------------------------------------------------------------------ what it holds

  get objects(): readonly T[] {
    return this.#history.at(this.#history.version)!.map(([, object]) => object);
  }

  get resourceVersion(): string {
    return String(this.#history.version);
  }

  set resourceVersion(version: string) {
    this.#history.version = Number(version);
  }

  get streams(): number {
    return this.#streams.size;
  }

  asked(verb: MemoryVerb): readonly MemoryRequest[] {
    return this.requests.filter((request) => request.verb === verb);
  }

  // -------------------------------------------------------------------------------------- the script

  put(object: T): T {
    const change = this.#history.put(structuredClone(object));
    this.#tell(change);
    return change.object;
  }

  remove(key: string): T | undefined {
    const change = this.#history.remove(key);
    if (change !== undefined) this.#tell(change);
    return change?.object;
  }

  bookmark(): void {
    const frame = this.#bookmark();
    for (const stream of this.#streams) if (stream.bookmarks) stream.push(frame, this.delay);
  }

  send(frame: unknown): void {
    const sent = typeof frame === "string" || frame instanceof Uint8Array ? frame : JSON.stringify(frame);
    for (const stream of this.#streams) stream.push(sent, this.delay);
  }

  expire(): void {
    this.#history.forget();
  }

  drop({ error, midFrame = false }: DropOptions = {}): void {
    const frame = this.#bookmark();
    for (const stream of this.#streams) {
      if (midFrame) stream.push(frame.slice(0, frame.length / 2), 0);
      stream.end(error ?? (midFrame ? new TypeError("terminated") : undefined));
    }
  }

  fail(failure: MemoryFailure, { times = Infinity, verbs }: FailOptions = {}): void {
    this.#failure = { failure, times, verbs };
  }

  recover(): void {
    this.#failure = undefined;
  }

  // -------------------------------------------------------------------------------------- the source

  async list(request: ListRequest, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("list", request, signal, () => this.#page(request));
  }

  async *watch(request: WatchRequest, signal: HostAbortSignal): AsyncGenerator<Frame, void> {
    const { resourceVersion, allowWatchBookmarks } = request;
    const stream = await this.#answer("watch", request, signal, () => {
      const stream = new Stream(this.#clock, signal, versionOf(resourceVersion), allowWatchBookmarks);
      for (const frame of this.#start(request)) stream.push(frame, this.delay);
      // In the same step: no change falls between the first frames and the live ones.
      this.#streams.add(stream);
      return stream;
    });
    try {
      yield* stream.frames(request.timeoutSeconds);
    } finally {
      this.#streams.delete(stream);
    }
  }

  async get(request: Named, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("get", request, signal, () => this.#sent(this.#existing(request)));
  }

  async create(request: { namespace?: string; body: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("create", request, signal, () => {
      const filled = { namespace: request.namespace, number: this.#created + 1, now: this.#clock.now() };
      const object = created(JSON.parse(request.body) as KubeObject, filled) as T & KubeObject;
      this.#created++;
      if (this.#history.get(keyOf(object)) !== undefined) throw alreadyExists(this.#resource, object.metadata!.name!);
      return this.#sent(this.put(object));
    });
  }

  async update(request: Named & { body: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("update", request, signal, () => {
      const object = JSON.parse(request.body) as T & KubeObject;
      const held = (this.#existing(request) as KubeObject).metadata!;
      return this.#sent(this.put(updated(object, held, this.#resource, request.name)));
    });
  }

  async delete(request: Named & { body: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#document("delete", request, signal, () => {
      checkPreconditions(request.body, this.#existing(request).metadata!, this.#resource, request.name);
      return this.#sent(this.remove(keyOf({ metadata: request }))!);
    });
  }

  // ---------------------------------------------------------------------------------------- answering

  /** Notes a request and answers it. The answer is that of this moment, however late it arrives. */
  async #answer<V>(verb: MemoryVerb, given: object, signal: HostAbortSignal, answer: () => V): Promise<V> {
    const request = { verb, ...given };
    this.requests.push(request);
    if (this.before !== undefined) await this.before(request, signal);
    let outcome: () => V;
    try {
      this.#admit(verb);
      const value = answer();
      outcome = () => value;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
    // The events of a watch are late by themselves.
    if (this.delay > 0 && verb !== "watch") await sleep(this.#clock, this.delay, signal);
    return outcome();
  }

  async #document(verb: MemoryVerb, request: object, signal: HostAbortSignal, answer: () => unknown): Promise<SourceAnswer> {
    return { body: await this.#answer(verb, request, signal, () => JSON.stringify(answer())) };
  }

  /** @throws what requests are to fail with */
  #admit(verb: MemoryVerb): void {
    const failing = this.#failure;
    if (failing === undefined || failing.verbs?.includes(verb) === false) return;
    if (--failing.times <= 0) this.recover();
    throw refused(failing.failure);
  }

  #page(request: ListRequest): unknown {
    const { version, start, any } = planList(request, this.#history.version);
    const state = this.#history.at(version);
    if (state === undefined) {
      throw start === undefined ? expiredList() : expiredToken(encodeToken({ version: ANY, start }));
    }
    const { namespace, name, labelSelector, fieldSelector } = request;
    const rest = state.filter(
      ([key, { metadata }]) =>
        (start === undefined || key >= start) && (!namespace || metadata!.namespace === namespace) && (!name || metadata!.name === name),
    );
    const limit = any && this.pageSize === Infinity ? Infinity : Math.min(request.limit || Infinity, this.pageSize);
    const items = rest.slice(0, limit);
    const remaining = rest.length - items.length;
    const more = remaining > 0 && {
      continue: encodeToken({ version, start: `${items.at(-1)![0]}\0` }),
      // How many of the rest a selector lets through is not known.
      ...(labelSelector || fieldSelector ? {} : { remainingItemCount: remaining }),
    };
    return {
      kind: `${this.#kind}List`,
      apiVersion: this.#apiVersion,
      metadata: { resourceVersion: String(version), ...more },
      items: items.map(([, object]) => this.#sent(object)),
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

  #tell({ version, frame }: Change<T>): void {
    for (const stream of this.#streams) if (version > stream.after) stream.push(frame, this.delay);
  }

  /** As messages name it: `pods`. */
  get #resource(): string {
    return `${this.#kind.toLowerCase()}s`;
  }

  #existing(request: Named): T {
    const object = this.#history.get(keyOf({ metadata: request }));
    if (object === undefined) throw notFound(this.#resource, request.name);
    return object;
  }

  #sent(object: T): unknown {
    return this.outgoing === undefined ? object : this.outgoing(object);
  }

  #event(type: string, object: unknown): string {
    return JSON.stringify({ type, object });
  }

  #bookmark(annotations?: Record<string, string>): string {
    const metadata = { resourceVersion: this.resourceVersion, creationTimestamp: null, ...(annotations && { annotations }) };
    return this.#event("BOOKMARK", { kind: this.#kind, apiVersion: this.#apiVersion, metadata });
  }
}
