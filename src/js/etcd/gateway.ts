import type { HostAbortSignal, WebSocketClass } from "../host/types.js";
import { invalid } from "../options/kinds.js";
import type { Source, SourceAnswer, SourceWrite } from "../upstream/source.js";
import { type Answer, Client } from "./client.js";
import { type KeyRange, keyOf, positionOf, rangeOf, revisionOf, revisionRequest, versionOf } from "./keys.js";
import type { Settings } from "./options.js";
import {
  Compacted,
  exists,
  FUTURE,
  isElsewhere,
  isUnauthorized,
  modified,
  noDryRun,
  noSubresource,
  notFound,
  noVersion,
  Refusal,
  tooLarge,
} from "./refusals.js";
import { toBase64 } from "./base64.js";
import { isSame, readObject, valueOf } from "./values.js";
import { Watching } from "./watching.js";

type ListRequest = Parameters<Source["list"]>[0];
type WatchRequest = Parameters<Source["watch"]>[0];
type Named = { namespace?: string; name: string };

/** An answer of etcd's: the documents of `src/web/transport/dialect.rs`. */
export interface GatewayAnswer extends SourceAnswer {
  /** The revision that a range was asked for. */
  readonly revision?: string;
  /** The revision at which the key was deleted. */
  readonly deleted?: string;
  /** Said by who has read a body that came as a stream, if the signal of the request lives on. */
  over?(): void;
}

/** Before it there is nothing to forget. */
const FIRST_REVISION = "1";

/** How often a watch that ends at once is asked how far it is. */
const PROGRESS_MS = 100;

const RANGE = "/v3/kv/range";
const TXN = "/v3/kv/txn";

/** Asks etcd what a cache asks a source, and gives etcd's own answers: their keys and values are read by the core. */
export class Gateway {
  readonly prefix: Uint8Array;
  readonly transactions: boolean;
  readonly #settings: Settings;
  readonly #client: Client;
  readonly #watches = new Set<Watching>();
  /** What is known to be there still. */
  #compacted = FIRST_REVISION;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#client = new Client(settings);
    this.prefix = new TextEncoder().encode(settings.prefix);
    this.transactions = settings.transactions;
  }

  async list(request: ListRequest, signal: HostAbortSignal): Promise<GatewayAnswer> {
    const { limit, resourceVersion: asked = "", resourceVersionMatch: match } = request;
    const range = rangeOf(this.#settings.prefix, request);
    const position = request.continue ? positionOf(request.continue) : undefined;
    const exact = position === undefined && match === "Exact" && asked !== "" ? revisionOf(asked, this.transactions).revision : undefined;
    const revision = position?.revision ?? exact;
    const body = { ...range, ...(position && { key: position.key }), ...(revision && { revision }), ...(limit && { limit }) };
    let answer: Answer;
    try {
      answer = await this.#client.request(RANGE, body, signal, "read");
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason !== FUTURE || revision === undefined) throw error;
      throw tooLarge(asked, await this.currentResourceVersion(signal));
    }
    return { ...answer, ...(revision && { revision }) };
  }

  async *watch(
    { resourceVersion, sendInitialEvents, timeoutSeconds }: WatchRequest,
    signal: HostAbortSignal,
  ): AsyncGenerator<string, void> {
    if (sendInitialEvents || resourceVersion === undefined || /^0*$/.test(resourceVersion)) throw noVersion();
    const { revision, whole } = revisionOf(resourceVersion, this.transactions);
    // What the core has heard of a revision it leaves out.
    const watching = await this.#open(rangeOf(this.#settings.prefix, {}), whole ? String(BigInt(revision) + 1n) : revision, signal);
    const timer = setTimeout(() => watching.finish({}), Math.min(timeoutSeconds * 1_000, 0x7fff_ffff));
    const stop = () => watching.finish({});
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      for (let message; !signal.aborted && (message = await watching.next()) !== undefined;) yield message;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      watching.finish({});
      this.#watches.delete(watching);
    }
  }

  async get(request: Named & { subresource?: string }, signal: HostAbortSignal): Promise<GatewayAnswer> {
    if (request.subresource !== undefined) throw noSubresource();
    const key = toBase64(keyOf(this.#settings.prefix, request));
    return await this.#client.request(RANGE, { key }, signal, "read");
  }

  async create(request: SourceWrite & { name?: string }, signal: HostAbortSignal): Promise<GatewayAnswer> {
    check(request);
    const object = readObject(request.body);
    const name = object.metadata.name as string;
    const key = toBase64(keyOf(this.#settings.prefix, { namespace: request.namespace, name }));
    const { succeeded, kept } = await this.#write(
      [{ key, target: "VERSION", result: "EQUAL", version: "0" }],
      key,
      valueOf(object),
      signal,
    );
    if (!succeeded) throw exists(name);
    return { body: JSON.stringify(kept) };
  }

  async update(request: SourceWrite & Named, signal: HostAbortSignal): Promise<GatewayAnswer> {
    check(request);
    const { name } = request;
    const object = readObject(request.body);
    const key = toBase64(keyOf(this.#settings.prefix, request));
    // What a value says of itself in its metadata, and is shown otherwise, it keeps.
    const { kvs: [held] = [] } = await this.#client.call(RANGE, { key }, signal, "read");
    if (held === undefined) throw notFound(name);
    const { resourceVersion, uid } = object.metadata as { resourceVersion?: string; uid?: string };
    const expected = resourceVersion ? revisionOf(resourceVersion, this.transactions).revision : held.mod_revision;
    if (expected !== held.mod_revision || (uid && uid !== held.create_revision)) throw modified(name);
    const value = valueOf(object, held.value);
    // As with an API server: what changes nothing makes no version.
    if (isSame(object, value, held.value)) return { body: JSON.stringify({ kvs: [held] }) };
    const compare = [{ key, target: "MOD", result: "EQUAL", mod_revision: expected }];
    const { succeeded, kept } = await this.#write(compare, key, value, signal);
    if (!succeeded) throw kept.kvs?.length ? modified(name) : notFound(name);
    return { body: JSON.stringify(kept) };
  }

  async delete(request: Named & { body: string }, signal: HostAbortSignal): Promise<GatewayAnswer> {
    const { name } = request;
    const { preconditions = {}, dryRun } = JSON.parse(request.body) as {
      preconditions?: { uid?: string; resourceVersion?: string };
      dryRun?: string[];
    };
    if (dryRun?.length) throw noDryRun();
    const key = toBase64(keyOf(this.#settings.prefix, request));
    const { uid, resourceVersion } = preconditions;
    const compare: object[] = [{ key, target: "VERSION", result: "GREATER", version: "0" }];
    if (uid) compare.push({ key, target: "CREATE", result: "EQUAL", create_revision: /^[0-9]{1,18}$/.test(uid) ? uid : "-1" });
    if (resourceVersion) {
      compare.push({ key, target: "MOD", result: "EQUAL", mod_revision: revisionOf(resourceVersion, this.transactions).revision });
    }
    const txn = { compare, success: [{ request_delete_range: { key, prev_kv: true } }], failure: [{ request_range: { key } }] };
    const { succeeded, header, responses } = await this.#client.call(TXN, txn, signal, "write");
    if (!succeeded) throw responses[0].response_range.kvs?.length ? modified(name) : notFound(name);
    return { body: JSON.stringify({ kvs: responses[0].response_delete_range.prev_kvs }), deleted: header.revision };
  }

  async currentResourceVersion(signal: HostAbortSignal): Promise<string> {
    const { key } = rangeOf(this.#settings.prefix, {});
    const { header } = await this.#client.call(RANGE, revisionRequest(key), signal, "read");
    return versionOf(String(header.revision), this.transactions);
  }

  /** Only a watch that begins before it is told what was compacted: one of a single key, which ends at once. */
  async compactedResourceVersion(signal: HostAbortSignal): Promise<string> {
    const { key } = rangeOf(this.#settings.prefix, {});
    let watching: Watching | undefined;
    let asking: ReturnType<typeof setInterval> | undefined;
    const stop = () => watching?.finish({ error: signal.reason });
    signal.addEventListener("abort", stop, { once: true });
    try {
      const opened = (watching = await this.#open({ key }, this.#compacted, signal));
      // Asked before etcd has looked through its history, it says nothing.
      asking = setInterval(() => opened.requestProgress(), PROGRESS_MS);
      // It was created; the next one is an event or the progress of a watch that was told all.
      await opened.next();
      await opened.next();
    } catch (error) {
      if (!(error instanceof Compacted)) throw error;
      this.#compacted = error.before;
    } finally {
      clearInterval(asking);
      signal.removeEventListener("abort", stop);
      watching?.finish({});
      if (watching !== undefined) this.#watches.delete(watching);
    }
    return this.#compacted === FIRST_REVISION ? "0" : versionOf(this.#compacted, this.transactions);
  }

  async requestProgress(): Promise<void> {
    for (const watching of this.#watches) watching.requestProgress();
  }

  async #write(compare: object[], key: string, value: string, signal: HostAbortSignal): Promise<{ succeeded: boolean; kept: any }> {
    const range = { request_range: { key } };
    const txn = { compare, success: [{ request_put: { key, value } }, range], failure: [range] };
    const { succeeded = false, responses } = await this.#client.call(TXN, txn, signal, "write");
    return { succeeded, kept: responses.at(-1).response_range };
  }

  /** Opens a watch at one member after the other. */
  async #open(range: KeyRange, start: string, signal: HostAbortSignal): Promise<Watching> {
    const { heartbeatMs, timeoutMs } = this.#settings;
    const WebSocket = this.#settings.WebSocket ?? (globalThis.WebSocket as WebSocketClass | undefined);
    if (WebSocket === undefined) throw invalid("this host has no WebSocket: give one as an option of etcdSource, such as that of ws");
    let renewed = false;
    for (let tries = 1; ;) {
      const credential = await this.#client.credential(signal);
      const { endpoint } = this.#client;
      const { token } = credential;
      const watching = new Watching(this.#client, { endpoint, token, WebSocket, heartbeatMs, range, start });
      const stop = () => watching.finish({ error: signal.reason });
      signal.addEventListener("abort", stop, { once: true });
      const late = new Error(`etcd has not opened the watch within ${timeoutMs / 1000} seconds`);
      const timer = setTimeout(() => watching.finish({ error: late }), Math.min(timeoutMs, 0x7fff_ffff));
      if (signal.aborted) stop();
      try {
        await watching.created;
        this.#watches.add(watching);
        return watching;
      } catch (error) {
        if (signal.aborted) throw error;
        if (isUnauthorized(error) && this.#settings.user !== undefined && !renewed) {
          renewed = true;
          this.#client.rejected(credential);
          continue;
        }
        if (!isElsewhere(error)) throw error;
        this.#client.failed(endpoint);
        if (tries++ >= this.#client.members) throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      }
    }
  }
}

function check({ subresource, dryRun }: { subresource?: string; dryRun?: boolean }): void {
  if (subresource !== undefined) throw noSubresource();
  if (dryRun) throw noDryRun();
}
