import { toError } from "../error/errors.js";
import type { ResourceSpec } from "../upstream/types.js";
import type { RawRemote } from "../wire/raw.js";
import type { FromHub, FromTab } from "./port.js";

/** What a line is a part of. */
interface Lines {
  say(message: FromTab): void;
  refresh(line: number, reset: boolean): Promise<void>;
  closed(line: number): void;
}

/** One resource that the worker holds for this tab. */
export class Line {
  readonly #link: Lines;
  readonly #number: number;
  readonly #remote: RawRemote;
  readonly spec: ResourceSpec;

  constructor(link: Lines, number: number, spec: ResourceSpec, remote: RawRemote) {
    this.#link = link;
    this.#number = number;
    this.#remote = remote;
    this.spec = spec;
  }

  /** There is a worker that can be asked. */
  connect(): void {
    this.#link.say({ line: this.#number, open: this.spec });
    this.#reconnect();
  }

  /** What was asked is over. */
  break(why: string): void {
    this.#remote.breakOff(why);
  }

  take(message: Extract<FromHub, { line: number }>): void {
    if ("broken" in message) return this.#begin(message.broken);
    if (!("head" in message)) return;
    try {
      this.#remote.take(message.head, message.body);
    } catch (error) {
      // Of another version, or of a stranger.
      this.#begin(toError(error).message);
    }
  }

  /** What was asked is over, and may be asked again. */
  #begin(why: string): void {
    this.break(why);
    this.#reconnect();
  }

  #reconnect(): void {
    this.#remote.reconnect((head, body) => this.#link.say({ line: this.#number, head, body }));
  }

  resume(): void {
    this.#link.say({ line: this.#number, resume: true });
  }

  /** Has the worker list anew. Resolves when it has. */
  refresh(reset: boolean): Promise<void> {
    return this.#link.refresh(this.#number, reset);
  }

  close(): void {
    this.#link.closed(this.#number);
    this.#remote.free();
  }
}
