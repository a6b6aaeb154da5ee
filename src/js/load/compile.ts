import { WatchCacheError } from "../error/errors.js";
import { addressOf, ask, Forbidden } from "../host/fetch.js";
import type { Host } from "../host/host.js";
import type { WasmSource } from "../host/types.js";
import { invalid, is } from "../options/kinds.js";
import { remedy } from "./remedy.js";

/** What differs between the package's entries. */
export interface Entry {
  /** The source where nobody names one. */
  bundled(): WasmSource;
  /** Reads a file, where fetch cannot. */
  read?(file: URL): Promise<BufferSource>;
  /** What is particular about the host that it is for. */
  readonly host?: Host;
}

/** The shortest module there is: a host that refuses this one refuses them all. */
const EMPTY = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** The longest load. Even 3 kB a second bring the whole in that time: what takes longer has died on its way, and is tried anew. */
const MAX_LOAD_MS = 120_000;

/** Why this page may compile no WebAssembly at all, which nothing changes while it lives; undefined where it may. */
export function forbidden(): WatchCacheError | undefined {
  if (typeof WebAssembly !== "object") return unusable("this host has no WebAssembly");
  try {
    // WebKit compiles it even so, and refuses the instance.
    new WebAssembly.Instance(new WebAssembly.Module(EMPTY));
  } catch (error) {
    // A host that instantiates nothing while it is waited for: loading has its own time.
    if (error instanceof RangeError) return undefined;
    return unusable("the page's Content-Security-Policy forbids it: add 'wasm-unsafe-eval' to its script-src", error);
  }
  return undefined;
}

const isBytes = (value: unknown) => isModule(value) || ArrayBuffer.isView(value) || tagOf(value).endsWith("ArrayBuffer");

/** @throws {WatchCacheError} `invalid`: what is none of these can never be loaded. */
export const checkBytes = is("bytes or a WebAssembly.Module", isBytes);
const checkKind = is(
  "an address, a Response, bytes or a WebAssembly.Module",
  (value) => isBytes(value) || tagOf(value) === "Response" || addressOf(value) !== undefined,
);

/** The same for what may also be fetched. */
export function checkSource(source: unknown): void {
  checkKind(source, "module");
  if (addressOf(source) === "")
    throw invalid(`module is no URL, and there is no page that it could be relative to: ${JSON.stringify(source)}`);
}

/**
 * Compiles it, in one try.
 *
 * @param again whether a cache on the way is to be asked no more than whether it is up to date
 * @param check throws when it is some other module
 * @throws {WatchCacheError} retryable where nothing but time may help.
 */
export async function compile(
  given: Awaited<WasmSource>,
  { read }: Entry,
  again: boolean,
  check: (module: WebAssembly.Module) => void,
): Promise<WebAssembly.Module> {
  const refused = forbidden();
  if (refused !== undefined) throw refused;
  try {
    checkSource(given);
    const module = async (response: Response) => checked(await fromResponse(response), check);
    if (isModule(given)) return checked(given, check);
    if (tagOf(given) === "Response") return await module(given as Response);
    if (isBytes(given)) return checked(await WebAssembly.compile(given as BufferSource), check);
    const href = addressOf(given)!;
    if (read !== undefined && href.startsWith("file:")) return checked(await WebAssembly.compile(await fromDisk(read, href)), check);
    const address = typeof given === "string" ? href : (given as URL | Request);
    const load = (cache: RequestCache) => withinLimit(async (signal) => module(await get(address, cache, signal)));
    try {
      return await load(again ? "no-cache" : "default");
    } catch (error) {
      // A cache may hold what stood there before, and a connection may have ended early: both look like this once, and not twice.
      if (!isDamaged(error)) throw error;
      return await load("reload");
    }
  } catch (error) {
    const told = toLoadError(error);
    const { code, message, retryable, cause } = told;
    // A server that is down, a policy, a file that is gone, want of memory: none of them is a mistake of the bundle.
    const address = addressOf(given) ?? "";
    const isFile = address.startsWith("file:");
    const helps = code === "decode" || (isFile ? read === undefined : / status 4\d\d$/.test(message));
    throw helps ? new WatchCacheError(code, `${message}; ${remedy(address)}`, { retryable, cause }) : told;
  }
}

/** What a failure of loading is, as an error of this package. */
export function toLoadError(error: unknown): WatchCacheError {
  if (error instanceof WatchCacheError) return error;
  const { name, message } = error instanceof Error ? error : { name: "", message: String(error) };
  if (isDamaged(error)) return unusable(message, error);
  if (name === "RangeError") {
    return new WatchCacheError("out-of-memory", `there is no memory for the WebAssembly: ${message}`, { cause: error, retryable: true });
  }
  return unreachable(message, true, error);
}

/** The bytes were had, and are not what they should be. */
export function unusable(message: string, cause?: unknown): WatchCacheError {
  return new WatchCacheError("decode", `the WebAssembly cannot be used: ${message}`, { cause });
}

/** The bytes cannot be had. */
export function unreachable(message: string, retryable: boolean, cause?: unknown): WatchCacheError {
  return new WatchCacheError("network", `the WebAssembly cannot be loaded: ${message}`, { cause, retryable });
}

export function isModule(source: unknown): source is WebAssembly.Module {
  return tagOf(source) === "WebAssembly.Module";
}

/** Test runners have realms of their own, in which `instanceof` tells nothing. */
function tagOf(source: unknown): string {
  return Object.prototype.toString.call(source).slice(8, -1);
}

function isDamaged(error: unknown): boolean {
  if (error instanceof WatchCacheError) return error.code === "decode";
  return error instanceof Error && (error.name === "CompileError" || error.name === "LinkError");
}

function checked(module: WebAssembly.Module, check: (module: WebAssembly.Module) => void): WebAssembly.Module {
  check(module);
  return module;
}

async function fromDisk(read: (file: URL) => Promise<BufferSource>, href: string): Promise<BufferSource> {
  try {
    return await read(new URL(href));
  } catch (error) {
    // No file comes into being by waiting for it.
    throw unreachable((error as Error).message, false, error);
  }
}

/** From the request to the last byte of its answer. */
async function withinLimit<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`no whole answer came within ${MAX_LOAD_MS / 1000} seconds`)), MAX_LOAD_MS);
  try {
    return await work(limit.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function get(address: URL | RequestInfo, cache: RequestCache, signal: AbortSignal): Promise<Response> {
  try {
    return await ask(address, { cache, signal });
  } catch (error) {
    const href = addressOf(address)!;
    throw unreachable(`${(error as Error).message} (${href})`, !(error instanceof Forbidden) && !href.startsWith("file:"), error);
  }
}

async function fromResponse(response: Response): Promise<WebAssembly.Module> {
  const { url, status, headers } = response;
  if (!response.ok) throw unreachable(`${url} answered with status ${status}`, true);
  const type = headers.get("content-type") ?? "no content type";
  try {
    // Browsers keep what they have compiled from a stream. They do so for this type alone.
    if (type === "application/wasm" && typeof WebAssembly.compileStreaming === "function") {
      return await WebAssembly.compileStreaming(response);
    }
    return await WebAssembly.compile(await response.arrayBuffer());
  } catch (error) {
    throw isDamaged(error) ? unusable(`${url || "a response"} answered with ${type}: ${(error as Error).message}`, error) : error;
  }
}
