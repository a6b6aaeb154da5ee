import { isPromise } from "../delivery.js";

export type Callback = (...values: any[]) => unknown;

/** Calls a callback so that what it throws, or what its promise rejects with, is reported and harms nobody. */
export function call(callback: Callback, values: readonly unknown[], report: (error: unknown) => void): void {
  try {
    const answer = callback(...values);
    if (isPromise(answer)) answer.then(undefined, report);
  } catch (error) {
    report(error);
  }
}
