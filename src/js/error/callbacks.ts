// What becomes of what users' own functions answer, throw and reject with.
import type { Logger } from "../host/types.js";
import { WatchCacheError } from "./errors.js";

export type Report = (error: unknown) => void;
export type Callback = (...values: any[]) => unknown;

/** Whether an answer is something to wait for. */
export function isPromise(answer: unknown): answer is PromiseLike<unknown> {
  return typeof answer === "object" && answer !== null && typeof (answer as PromiseLike<unknown>).then === "function";
}

/** Calls a function that nobody waits for: what it throws, or what its promise rejects with, is reported and harms nobody. */
export function call(callback: Callback, values: readonly unknown[], report: Report): void {
  try {
    const answer = callback(...values);
    if (isPromise(answer)) answer.then(undefined, report);
  } catch (error) {
    report(error);
  }
}

/** By function that must answer at once, what is said of its promises. */
const refusals = new WeakMap<object, WatchCacheError>();
/** Whether each of those was reported. */
const reported = new WeakMap<object, boolean>();

/**
 * What a function answered that must do so at once.
 *
 * @param name what messages call the function by
 * @throws {WatchCacheError} `invalid` for a promise, the same each time: {@link reporter} tells it once.
 */
export function atOnce<V>(name: string, of: object, answer: V): V {
  if (!isPromise(answer)) return answer;
  // Nobody else hears of what becomes of it.
  answer.then(undefined, () => {});
  let refusal = refusals.get(of);
  if (!refusal?.message.startsWith(name)) {
    refusal = new WatchCacheError("invalid", `${name} answers at once, not by a promise: it cannot be async`);
    refusals.set(of, refusal);
    reported.set(refusal, false);
  }
  throw refusal;
}

/** Whether it says that a function gave a promise. */
export function isRefusal(error: unknown): error is WatchCacheError {
  return error instanceof WatchCacheError && reported.has(error);
}

/**
 * A subscriber's own error goes where an uncaught one would go, without stopping anyone. Node has no `reportError`, and throwing from a
 * task would end the process for it: there it is logged.
 */
export function reporter(logger: Pick<Logger, "error">): Report {
  return (error) => {
    if (isRefusal(error)) {
      if (reported.get(error)) return;
      reported.set(error, true);
    }
    const report: unknown = (globalThis as { reportError?: unknown }).reportError;
    if (typeof report === "function") report.call(globalThis, error);
    else logger.error(error instanceof WatchCacheError ? "watchcache:" : "watchcache: a function of yours threw:", error);
  };
}

/** A logger that stops nobody: what it fails to say is said on the console, and why. */
export function harmless(logger: Logger): Pick<Logger, "warn" | "error"> {
  const method =
    (name: "warn" | "error") =>
    (...words: unknown[]) =>
      call(
        () => logger[name](...words),
        [],
        (error) =>
          call(
            () => console.error("watchcache: the logger failed:", error, ...words),
            [],
            () => {},
          ),
      );
  return { warn: method("warn"), error: method("error") };
}
