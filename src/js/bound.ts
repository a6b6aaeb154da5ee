/**
 * Makes the methods of a class work detached from their object: `const { subscribe } = view`. Each is bound when it is first asked for, so
 * that an object of which nobody does so carries nothing.
 */
export function bindMethods(prototype: object): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (typeof value !== "function" || name === "constructor") continue;
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: object) {
        // Of the prototype itself nobody means to call it.
        if (this === prototype) return value as unknown;
        const bound: unknown = (value as (...args: unknown[]) => unknown).bind(this);
        Object.defineProperty(this, name, { value: bound, configurable: true, writable: true });
        return bound;
      },
    });
  }
}
