/** Adds `Symbol.asyncDispose` where the engine has it. */
export function disposable<O extends object>(object: O, dispose: (this: O) => Promise<void>): void {
  if (typeof Symbol.asyncDispose !== "symbol") return;
  Object.defineProperty(object, Symbol.asyncDispose, { value: dispose, configurable: true, writable: true });
}
