/**
 * By this a handle is found from what stands for it: a Proxy, or an object that inherits from it. It is a function, as frameworks wrap the objects
 * that are read through their proxies, and no functions.
 */
const SELF = Symbol();

interface Bindable {
  [SELF]?: <V>(use: (handle: any) => V) => V;
}

/** The first thing that a constructor does whose class is given to `bindMethods`. */
export function bindable(handle: object): void {
  Object.defineProperty(handle, SELF, { value: (use: (handle: object) => unknown) => use(handle), configurable: true });
}

/** The handle itself, where something stands for it. */
export function self<V>(handle: V): V {
  return (handle as Bindable | undefined)?.[SELF]?.((own: V) => own) ?? handle;
}

/**
 * Makes the members of a class, inherited ones included, work detached from their object, `const { subscribe } = view`, and through a Proxy.
 * Each method is bound when it is first asked for, so that an object of which nobody does so carries nothing.
 */
export function bindMethods(prototype: object): void {
  // Up to what inherits from nothing: test runners have realms of their own, each with another Object.prototype.
  for (let from = prototype, next: object | null; (next = Object.getPrototypeOf(from) as object | null) !== null; from = next) {
    const members = Object.getOwnPropertyDescriptors(from) as Record<PropertyKey, PropertyDescriptor>;
    for (const name of Reflect.ownKeys(members)) {
      const { value, get } = members[name]!;
      if ((typeof value !== "function" && !get) || name === "constructor") continue;
      // What a class has of its own goes before what it inherits, of which the symbols are the host's affair.
      if (from !== prototype && (typeof name === "symbol" || Object.hasOwn(prototype, name))) continue;
      const bind = (handle: object): unknown => {
        if (get) return get.call(handle);
        const bound: unknown = (value as (...args: unknown[]) => unknown).bind(handle);
        Object.defineProperty(handle, name, { value: bound, configurable: true, writable: true });
        return bound;
      };
      Object.defineProperty(prototype, name, {
        configurable: true,
        get(this: Bindable) {
          // Of the prototype itself nobody means to call it.
          return this[SELF]?.(bind) ?? value;
        },
      });
    }
  }
}
