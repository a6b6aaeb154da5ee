import { toError, type WatchCacheError } from "../error/errors.js";
import { plain, type FromHub } from "../link/port.js";
import type { ResourceImpl } from "../resource/resource.js";
import type { ResourceSession } from "../resource/session.js";
import type { RawServing } from "../wire/raw.js";

/** One line of a tab: what it asks of one resource. */
export interface Side {
  /** Undefined where there is none, and there will be none. */
  readonly resource?: ResourceImpl<unknown>;
  /** Something of what is asked, as the core puts it. */
  take(head: string, body: Uint8Array | undefined): void;
  refresh(number: number, reset: boolean): Promise<void>;
  close(): void;
}

/** A resource that cannot be made. That is what everything ends with that is asked of it. */
export class Refused implements Side {
  readonly #error: WatchCacheError;
  readonly #say: (message: FromHub) => void;
  readonly #line: number;

  constructor(error: WatchCacheError, line: number, say: (message: FromHub) => void) {
    this.#error = error;
    this.#line = line;
    this.#say = say;
  }

  take(head: string): void {
    end(this.#line, head, this.#error, this.#say);
  }

  async refresh(number: number): Promise<void> {
    this.#say({ line: this.#line, refreshed: number, error: plain(this.#error) });
  }

  close(): void {}
}

/** One resource, as one tab has it. It is used while anything is asked of it, such as a watch. */
export class Served implements Side {
  readonly resource: ResourceImpl<unknown>;
  readonly #say: (message: FromHub) => void;
  readonly #line: number;
  #session: ResourceSession | undefined;
  #serving: RawServing | undefined;
  #release: (() => void) | undefined;
  #planned = false;

  constructor(resource: ResourceImpl<unknown>, line: number, say: (message: FromHub) => void) {
    this.resource = resource;
    this.#line = line;
    this.#say = say;
  }

  take(head: string, body: Uint8Array | undefined): void {
    this.#release ??= this.resource.acquire();
    const { session } = this.resource;
    if (session === undefined) return this.#broken(head);
    try {
      if (session !== this.#session) this.#serve(session);
      this.#serving!.take(head, body);
    } catch (error) {
      this.#say({ line: this.#line, broken: toError(error, this.resource.name).message });
    }
    this.#soon();
  }

  async refresh(number: number, reset: boolean): Promise<void> {
    const line = this.#line;
    try {
      await this.resource.refresh({ reset });
      this.#say({ line, refreshed: number });
    } catch (error) {
      this.#say({ line, refreshed: number, error: plain(toError(error, this.resource.name)) });
    }
  }

  close(): void {
    this.#serving?.free();
    this.#serving = undefined;
    this.#release?.();
    this.#release = undefined;
  }

  #serve(session: ResourceSession): void {
    this.#serving?.free();
    this.#session = session;
    this.#serving = session.raw.serve((head, body) => {
      this.#say({ line: this.#line, head, body });
      this.#soon();
    });
  }

  /** It has no half in the core: it failed for good, which is what each call ends with, or was closed for want of memory. */
  #broken(head: string): void {
    const { error } = this.resource.told();
    const line = this.#line;
    if (error === undefined) this.#say({ line, broken: `${this.resource.name} is not open in the worker` });
    else end(line, head, error, this.#say);
    this.#soon();
  }

  /** Lets go of the resource when nothing is asked any more, which shows once the core is done with what it does. */
  #soon(): void {
    if (this.#planned) return;
    this.#planned = true;
    queueMicrotask(() => {
      this.#planned = false;
      if ((this.#serving?.calls() ?? 0) > 0) return;
      this.#release?.();
      this.#release = undefined;
    });
  }
}

/** Ends a call as it begins. What else is said of one, such as that nobody waits for it, needs no answer. */
function end(line: number, head: string, { code, message }: { code: string; message: string }, say: (message: FromHub) => void): void {
  const begin = beginning(head);
  if (begin !== undefined) say({ line, head: JSON.stringify({ end: begin, code, message }), body: undefined });
}

/** The number of the call that a head begins. Undefined for what begins none, and for what is no head. */
function beginning(head: string): number | undefined {
  try {
    return (JSON.parse(head) as { begin?: number } | null)?.begin;
  } catch {
    return undefined;
  }
}
