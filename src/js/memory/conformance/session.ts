import type { ObjectLike } from "../../object/metadata.js";
import type { Source, SourceAnswer } from "../../upstream/source.js";
import type { ConformanceOptions, SourceUnderTest } from "./types.js";

/** A list document, as far as the checks read it. */
export interface ListDocument {
  metadata?: { resourceVersion?: unknown; continue?: unknown };
  items?: unknown;
}

/** A frame, read. */
export interface Told {
  type: string;
  name: string;
  version: string;
  object: any;
}

/** Decimal, of any length: what the cache compares. */
const VERSION = /^(0|[1-9][0-9]*)$/;

/** Fails a check: what was seen, and what to do. */
export function owe(holds: unknown, seen: string, remedy: string): asserts holds {
  if (!holds) throw new Error(`${seen}. ${remedy}`);
}

/** The version of an object or a list. */
export function versionIn(metadata: { resourceVersion?: unknown } | null | undefined, of: string): string {
  const version = metadata?.resourceVersion;
  owe(
    typeof version === "string" && VERSION.test(version),
    `${of} has the resourceVersion ${JSON.stringify(version)}`,
    "Give metadata.resourceVersion as text of decimal digits that grows with each change",
  );
  return version;
}

/** Negative where a comes before b. */
export const compare = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

/** One source, what is asked of it, and what has to end after the check. */
export class Session {
  readonly source: Source;
  readonly subject: SourceUnderTest;
  readonly timeoutMs: number;
  readonly quietMs: number;
  readonly #watches: Watching[] = [];

  constructor(subject: SourceUnderTest, { timeoutMs = 2_000, quietMs = 50 }: ConformanceOptions) {
    this.subject = subject;
    this.source = subject.source;
    this.timeoutMs = timeoutMs;
    this.quietMs = quietMs;
  }

  /** What comes in time. */
  async within<V>(what: string, promise: PromiseLike<V> | V): Promise<V> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} did not come within ${this.timeoutMs} ms`)), this.timeoutMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  quiet(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.quietMs));
  }

  async page(request: Parameters<Source["list"]>[0] = {}): Promise<{ version: string; items: ObjectLike[]; token: string | undefined }> {
    const document: ListDocument = await this.document("a list", this.source.list(request, new AbortController().signal));
    const version = versionIn(document.metadata, "a list");
    owe(
      Array.isArray(document.items),
      `a list has the items ${JSON.stringify(document.items)}`,
      "Give an array, an empty one where there is no object",
    );
    const token = document.metadata?.continue;
    return { version, items: document.items as ObjectLike[], token: typeof token === "string" && token !== "" ? token : undefined };
  }

  /** All pages. */
  async list(limit?: number): Promise<{ version: string; names: string[]; items: ObjectLike[]; pages: number }> {
    const request = limit === undefined ? {} : { limit };
    const { version, items, token: first } = await this.page(request);
    let pages = 1;
    for (let token = first; token !== undefined; pages++) {
      const next = await this.page({ ...request, continue: token });
      owe(
        next.version === version,
        `a page is of version ${next.version}, the first one of ${version}`,
        "A continue token keeps the version of its first page: read all pages of one snapshot, or refuse the token with 410",
      );
      items.push(...next.items);
      token = next.token;
      owe(pages < 1_000, "a list has more than 1,000 pages", "The last page has no metadata.continue");
    }
    return { version, items, names: items.map(nameIn).sort(), pages };
  }

  watch(resourceVersion: string): Watching {
    const watching = new Watching(this, resourceVersion);
    this.#watches.push(watching);
    return watching;
  }

  async document(what: string, answer: Promise<SourceAnswer | void>): Promise<any> {
    const { body } = (await this.within(what, answer)) ?? {};
    return body === undefined ? undefined : JSON.parse(await textOf(body));
  }

  async end(): Promise<void> {
    for (const watching of this.#watches) watching.abort();
    await this.subject.close?.();
  }
}

/** What a source answers or tells, as text. */
async function textOf(body: SourceAnswer["body"]): Promise<string> {
  if (typeof body === "string") return body;
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  return new Response(body as ReadableStream<Uint8Array>).text();
}

export function nameIn(object: unknown): string {
  const name = (object as ObjectLike | undefined)?.metadata?.name;
  owe(typeof name === "string" && name !== "", `an object has the metadata.name ${JSON.stringify(name)}`, "Give each object its name");
  return name;
}

/** A watch, and what it has told. */
export class Watching {
  /** Events, without bookmarks and errors. */
  readonly events: Told[] = [];
  readonly bookmarks: Told[] = [];
  /** The Status of its ERROR frame, or what the iteration threw. */
  refusal: any;
  over = false;
  readonly #controller = new AbortController();
  readonly #session: Session;
  #look: (() => void) | undefined;

  constructor(session: Session, resourceVersion: string) {
    this.#session = session;
    void this.#read(resourceVersion);
  }

  abort(): void {
    this.#controller.abort();
  }

  /** As many events, or why there are none. */
  async next(count: number): Promise<readonly Told[]> {
    await this.until(`${count} events of a watch, after ${this.#told() || "none"},`, () => this.events.length >= count || this.over);
    owe(
      this.events.length >= count,
      `a watch ended after ${this.#told() || "no event"}${this.refusal === undefined ? "" : `, with ${JSON.stringify(this.refusal?.message ?? this.refusal)}`}`,
      "A watch goes on until it is aborted, or its timeoutSeconds are over",
    );
    return this.events;
  }

  until(what: string, holds: () => boolean): Promise<void> {
    const came = new Promise<void>((resolve) => {
      this.#look = () => holds() && resolve();
      this.#look();
    });
    return this.#session.within(what, came);
  }

  #told(): string {
    return this.events.map(({ type, name }) => `${type} ${name}`).join(", ");
  }

  async #read(resourceVersion: string): Promise<void> {
    try {
      const request = { resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 300 };
      for await (const frame of this.#session.source.watch(request, this.#controller.signal)) this.#take(frame);
    } catch (error) {
      if (!this.#controller.signal.aborted) this.refusal = error;
    }
    this.over = true;
    this.#look?.();
  }

  #take(frame: string | Uint8Array): void {
    const { type, object } = JSON.parse(typeof frame === "string" ? frame : new TextDecoder().decode(frame)) as Told;
    if (type === "ERROR") {
      this.refusal = object;
    } else {
      const version = versionIn(object?.metadata, `the object of a ${type} frame`);
      if (type === "BOOKMARK") this.bookmarks.push({ type, name: "", version, object });
      else this.events.push({ type, name: nameIn(object), version, object });
    }
    this.#look?.();
  }
}
