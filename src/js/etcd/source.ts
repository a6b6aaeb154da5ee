import { WatchCacheError } from "../error/errors.js";
import type { RawError } from "../error/core-error.js";
import type { HostAbortSignal } from "../host/types.js";
import { bindable, bindMethods, self } from "../language/bound.js";
import { invalid } from "../options/kinds.js";
import { GATEWAY } from "../upstream/gateway.js";
import type { Source, SourceAnswer, SourceWrite } from "../upstream/source.js";
import { RawEtcd as Reader } from "../wasm/watchcache.js";
import type { RawEtcd } from "../wire/raw.js";
import { Gateway, type GatewayAnswer } from "./gateway.js";
import { settingsOf } from "./options.js";
import { Refusal } from "./refusals.js";
import type { EtcdObject, EtcdSource, EtcdSourceOptions } from "./types.js";

/**
 * The keys below a prefix of etcd, over its JSON gateway: give it to `cache.resource({ source, id })`. Equal sources with equal ids share one
 * resource, so keep it in a module.
 *
 * ```ts
 * const config = cache.resource({ source: etcdSource({ endpoints: "http://127.0.0.1:2379", prefix: "/app/config/" }), id: "config" });
 * ```
 *
 * @throws {WatchCacheError} `invalid`, naming the option.
 */
export function etcdSource<T = EtcdObject>(options: EtcdSourceOptions): EtcdSource<T> {
  return new Etcd(new Gateway(settingsOf(options)));
}

/** What a cache asks is asked of the gateway by the core itself. These methods answer whoever else calls them. */
class Etcd implements EtcdSource<any> {
  readonly #gateway: Gateway;

  constructor(gateway: Gateway) {
    bindable(this);
    this.#gateway = gateway;
  }

  get [GATEWAY](): Gateway {
    return self(this).#gateway;
  }

  async list(request: Parameters<Source["list"]>[0], signal: HostAbortSignal): Promise<SourceAnswer> {
    const answer = await this.#gateway.list(request, signal);
    return this.#read(answer, (reader, body) => reader.list(answer, body));
  }

  async *watch(request: Parameters<Source["watch"]>[0], signal: HostAbortSignal): AsyncGenerator<Uint8Array, void> {
    const reader = read(() => this.#reader().watch(request.resourceVersion ?? "", request.allowWatchBookmarks));
    for await (const message of this.#gateway.watch(request, signal)) {
      for (const frame of reader.frames(message)) {
        if (!(frame instanceof Uint8Array)) throw refusalOf(frame);
        yield frame;
      }
    }
  }

  get(request: { namespace?: string; name: string; subresource?: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#object(this.#gateway.get(request, signal));
  }

  create(request: SourceWrite & { name?: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#object(this.#gateway.create(request, signal));
  }

  update(request: SourceWrite & { name: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#object(this.#gateway.update(request, signal));
  }

  delete(request: { namespace?: string; name: string; body: string }, signal: HostAbortSignal): Promise<SourceAnswer> {
    return this.#object(this.#gateway.delete(request, signal));
  }

  currentResourceVersion(signal: HostAbortSignal): Promise<string> {
    return this.#gateway.currentResourceVersion(signal);
  }

  compactedResourceVersion(signal: HostAbortSignal): Promise<string> {
    return this.#gateway.compactedResourceVersion(signal);
  }

  requestProgress(): Promise<void> {
    return this.#gateway.requestProgress();
  }

  async #object(asked: Promise<GatewayAnswer>): Promise<SourceAnswer> {
    const answer = await asked;
    return this.#read(answer, (reader, body) => reader.object(answer, body));
  }

  async #read(answer: GatewayAnswer, by: (reader: RawEtcd, body: string | Uint8Array) => Uint8Array): Promise<SourceAnswer> {
    let body: string | Uint8Array;
    try {
      body = await bytesOf(answer);
    } finally {
      answer.over?.();
    }
    return { body: read(() => by(this.#reader(), body)) };
  }

  #reader(): RawEtcd {
    try {
      return new Reader(this.#gateway.prefix, this.#gateway.transactions);
    } catch (error) {
      throw Object.assign(invalid("the WebAssembly, which reads what etcd answers, is not there yet: await init() first"), {
        cause: error,
      });
    }
  }
}

bindMethods(Etcd.prototype);

function read<A>(by: () => A): A {
  try {
    return by();
  } catch (error) {
    throw error instanceof WatchCacheError ? error : refusalOf(error as RawError);
  }
}

/** What the core says of an answer, as a source says it. */
function refusalOf(error: RawError): Refusal {
  const { code = 502, reason = "" } = (error.status ?? {}) as { code?: number; reason?: string };
  return new Refusal(code, reason, error.message);
}

async function bytesOf({ body }: SourceAnswer): Promise<string | Uint8Array> {
  return typeof body === "string" || body instanceof Uint8Array
    ? body
    : new Uint8Array(await new Response(body as ReadableStream).arrayBuffer());
}
