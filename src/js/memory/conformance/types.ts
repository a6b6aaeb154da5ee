import type { MaybePromise } from "../../upstream/types.js";
import type { Source } from "../../upstream/source.js";

/** A source under test, and the hands that change what is behind it. */
export interface SourceUnderTest {
  /** The source. Nothing but the hands below changes its objects. */
  source: Source;
  /** Adds the object of this name, or changes it. Each call changes something. Resolves when it is done. */
  put(name: string): MaybePromise<unknown>;
  /** Removes the object of this name. Resolves when it is done. */
  remove(name: string): MaybePromise<unknown>;
  /** Forgets what was before now, so that older versions cannot be watched from. Without it, that rule is not checked. */
  compact?(): MaybePromise<unknown>;
  /** An object that `source.create` can make, by its name. Without it, writes are not checked. */
  objectOf?(name: string): object;
  /** Called after each check. */
  close?(): MaybePromise<unknown>;
}

/** How long checks wait. */
export interface ConformanceOptions {
  /** For what has to come, in milliseconds. Default 2,000. */
  timeoutMs?: number | undefined;
  /** For what must not come, in milliseconds. Default 50. */
  quietMs?: number | undefined;
}

/** One rule: give both to the `test` of your runner. */
export interface ConformanceCheck {
  /** What a source owes, in a sentence. */
  readonly name: string;
  /** Resolves where the rule holds, or is not asked of a source that has no such method. Rejects with what was seen, and what to do. */
  readonly run: () => Promise<"held" | "not asked">;
}
