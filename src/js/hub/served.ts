import { toError } from "../error/errors.js";
import { plain, type FromHub } from "../link/port.js";
import type { ResourceImpl } from "../resource/resource.js";
import type { ResourceSession } from "../resource/session.js";
import type { RawServing } from "../wire/raw.js";

/** One resource, as one tab has it. It is used while anything is asked of it, such as a watch. */
export class Served {
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
    const { begin } = JSON.parse(head) as { begin?: number };
    const line = this.#line;
    if (error === undefined) this.#say({ line, broken: `${this.resource.name} is not open in the worker` });
    else if (begin !== undefined) {
      const { code, message } = error;
      this.#say({ line, head: JSON.stringify({ end: begin, code, message }), body: undefined });
    }
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
