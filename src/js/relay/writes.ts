// Writes that pass: whoever has written, and then lists, is to find what they wrote. So the version that the server answered is what a list must have reached.
import type { IncomingMessage } from "node:http";

/** A collection in all of its versions: what is written by one shows in the others. */
export type Written = `${string}/${string}`;

/** An answer that is longer is not read. */
const MAX_BYTES = 1 << 20;
/** So long after a write of which no version was told lists are the server's. */
const UNCERTAIN_MS = 2_000;

const TARGET = /^\/(?:api|apis\/([^/]+))\/v[^/]+\/(?:namespaces\/[^/]+\/(?!status$|finalize$))?([^/?]+)/;

/** What a request writes to; undefined: it writes nothing. */
export function writtenBy({ method, url }: IncomingMessage): Written | undefined {
  if (!["POST", "PUT", "PATCH", "DELETE"].includes(method ?? "")) return undefined;
  const [, group = "", resource] = TARGET.exec(url?.split("?")[0] ?? "") ?? [];
  return resource === undefined ? undefined : `${group}/${resource}`;
}

/** What was written lately. */
export class Writes {
  readonly #versions = new Map<Written, bigint>();
  readonly #uncertain = new Map<Written, number>();

  /** Reads an answer as it passes, before the client has all of it. */
  follow(written: Written, answer: IncomingMessage): void {
    if ((answer.statusCode ?? 500) >= 300) return;
    const isJson = String(answer.headers["content-type"] ?? "").startsWith("application/json");
    const isPlain = isJson && answer.headers["content-encoding"] === undefined;
    const expected = Number(answer.headers["content-length"] ?? NaN);
    let chunks: Buffer[] | undefined = isPlain ? [] : undefined;
    let length = 0;
    const done = () => {
      this.#note(written, chunks && versionIn(Buffer.concat(chunks)));
      chunks = undefined;
    };
    if (chunks === undefined) return done();
    answer.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > MAX_BYTES && chunks !== undefined) chunks = [];
      chunks?.push(chunk);
      if (length === expected || length > MAX_BYTES) done();
    });
    answer.on("end", () => chunks !== undefined && done());
  }

  /** The least version that a list may have; "uncertain": only the server knows; undefined: any. */
  least(written: Written): string | "uncertain" | undefined {
    const until = this.#uncertain.get(written);
    if (until !== undefined && Date.now() < until) return "uncertain";
    this.#uncertain.delete(written);
    return this.#versions.get(written)?.toString();
  }

  /** A list has reached it: nobody waits for it any more. */
  reached(written: Written, version: string): void {
    if ((this.#versions.get(written) ?? -1n) <= BigInt(version)) this.#versions.delete(written);
  }

  /** The server was restored: no list would ever come to what was written before. */
  forget(written: Written): void {
    this.#versions.delete(written);
  }

  #note(written: Written, version: bigint | undefined): void {
    if (version === undefined) this.#uncertain.set(written, Date.now() + UNCERTAIN_MS);
    else if (version > (this.#versions.get(written) ?? 0n)) this.#versions.set(written, version);
  }
}

function versionIn(body: Buffer): bigint | undefined {
  try {
    const { metadata } = JSON.parse(body.toString()) as { metadata?: { resourceVersion?: unknown } };
    const version = metadata?.resourceVersion;
    return typeof version === "string" && /^[0-9]+$/.test(version) ? BigInt(version) : undefined;
  } catch {
    return undefined;
  }
}
