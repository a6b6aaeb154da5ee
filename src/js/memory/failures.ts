import type { MemoryFailure, MemoryVerb } from "./types.js";

interface Failing {
  readonly failure: MemoryFailure;
  times: number;
  readonly verbs: readonly MemoryVerb[] | undefined;
}

/** Which requests fail: those that are numbered first, in the order of their calls, and then what was said last of the verb. */
export class Failures {
  #numbered: Failing[] = [];
  #lasting: Failing[] = [];

  add(failure: MemoryFailure, times: number, verbs: readonly MemoryVerb[] | undefined): void {
    const failing = { failure, times, verbs };
    if (times !== Infinity) this.#numbered.push(failing);
    else
      this.#lasting = [
        failing,
        ...this.#lasting.filter(({ verbs: of }) => verbs !== undefined && !of?.every((verb) => verbs.includes(verb))),
      ];
  }

  clear(): void {
    this.#numbered = [];
    this.#lasting = [];
  }

  /** What a request fails with, if it does. It counts. */
  next(verb: MemoryVerb): MemoryFailure | undefined {
    const covers = ({ verbs }: Failing): boolean => verbs === undefined || verbs.includes(verb);
    const failing = this.#numbered.find(covers) ?? this.#lasting.find(covers);
    if (failing !== undefined && --failing.times === 0) this.#numbered.splice(this.#numbered.indexOf(failing), 1);
    return failing?.failure;
  }
}
