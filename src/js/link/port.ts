import type { RawError } from "../error/core-error.js";
import type { Credentials, ResourceSpec } from "../upstream/types.js";

/** What crosses between a tab and the worker that holds its streams. Another version is another worker, because its name says the build. */

/** The least of a `MessagePort`: a dedicated worker and its scope are such, too. */
export interface Port {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  /** Chromium keeps a closed port for as long as its shared worker lives. So who is done with it aborts the signal. */
  addEventListener(type: "message", listener: (event: MessageEvent) => void, options?: { signal: AbortSignal }): void;
  /** A port says nothing before it is started. */
  start?(): void;
  /** Ends it, where it can be ended by itself. */
  close?(): void;
}

/** What a worker's cache is made with: all that changes what is held. */
export type HubOptions = Readonly<Record<string, unknown>>;

/** Counters of a worker. What crosses of its resources is read by the cache. */
export interface HubStats {
  readonly tabs: number;
  readonly memoryBytes: number;
  readonly resources: readonly unknown[];
  readonly metrics: string;
}

/** What a tab says. */
export type FromTab =
  /** First. `since` is when its cache began, by the date. `lock` is held by the tab as long as it lives; `asks`: it has an `auth`. */
  | { hello: string; options: HubOptions; since: number; asks: boolean; lock: string | undefined }
  /** It goes: what it has asked is over. `closed`: its user has closed the cache, and nobody is to find the streams open who comes soon. */
  | { bye: true; closed: boolean }
  | { ping: number }
  /** A line is a resource; the tab numbers them. */
  | { line: number; open: ResourceSpec }
  | { line: number; head: string; body: Uint8Array | undefined }
  | { line: number; close: true }
  /** Its user wants it to be tried again now. */
  | { line: number; resume: true }
  | { line: number; refresh: number; reset: boolean }
  | { credentials: number; given?: Credentials; error?: unknown };

/** What the worker says. */
export type FromHub =
  /** It can be asked. `lock` is held by the worker as long as it lives. */
  | { welcome: string; lock: string | undefined }
  /** It can not, and will not. */
  | { refused: string }
  /** It could, and can no more. */
  | { dead: string }
  | { pong: number; stats: HubStats }
  /** A tab has come or gone. */
  | { stats: HubStats }
  | { line: number; head: string; body: Uint8Array | undefined }
  /** What was asked there is over, for this reason; it may be asked again. */
  | { line: number; broken: string }
  | { line: number; refreshed: number; error?: RawError }
  | { auth: number };

/** Whether it may be one of those. WebAssembly gets what is in a packet, and reads past the end of what is no text. */
export function isMessage(data: unknown): boolean {
  if (typeof data !== "object" || data === null) return false;
  const { head = "", body, broken = "" } = data as Partial<Record<string, unknown>>;
  return typeof head === "string" && typeof broken === "string" && (body === undefined || body instanceof Uint8Array);
}

/** Posts a packet's bytes without a copy. */
export function post(port: Port, message: FromTab | FromHub): void {
  const body = "body" in message ? message.body : undefined;
  port.postMessage(message, body === undefined ? [] : [body.buffer as ArrayBuffer]);
}

/** An error's members, which are all of it that crosses. */
export function plain({ code, message, retryable, status, retryAfterSeconds }: Omit<RawError, "name">): RawError {
  return {
    name: "WatchCacheError",
    code,
    message,
    retryable,
    ...(status !== undefined && { status: JSON.parse(JSON.stringify(status)) }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** What `auth` threw, as it crosses: the members that are read of it, in so far as they can be posted. */
export function thrown(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return { message: String(value) };
  try {
    const { name, message, code, reason, retryAfterSeconds, status } = value as Record<string, any>;
    // A number is that of a response, and no code of ours.
    if (typeof status === "number") return posted({ name, message: message ?? `auth answered ${status}`, status });
    return posted({ name, message, code, reason, retryAfterSeconds, status });
  } catch {
    return { message: "auth has thrown what cannot be read" };
  }
}

/** The members that can be posted, as copies. */
function posted(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const copies = Object.entries(members).flatMap(([name, member]) => {
    try {
      const text = JSON.stringify(member);
      return text === undefined ? [] : [[name, JSON.parse(text)]];
    } catch {
      return []; // it holds itself
    }
  });
  return Object.fromEntries(copies);
}
