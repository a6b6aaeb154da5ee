/** By this Node asks an object how to print it. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

type Inspect = (value: unknown, options: object) => string;

/** So many keys of a list are printed. */
const MAX_SHOWN = 10;

/**
 * Has the objects of a class printed as its name and what `describe` says, which is their JSON, too. It is called when one is printed, in Node and
 * whatever does as Node does; what it throws is printed instead. Chromium calls nothing: there a class shows its name, and its first five members.
 */
export function printable<O extends object>(prototype: O, name: string, describe: (object: O) => unknown): void {
  Object.defineProperty(prototype, Symbol.toStringTag, { value: name, configurable: true });
  // `JSON.stringify` would show what is ours, where an object says nothing else for it.
  const toJSON = {
    value(this: O) {
      return describe(this);
    },
    configurable: true,
    writable: true,
  };
  if (!("toJSON" in prototype)) Object.defineProperty(prototype, "toJSON", toJSON);
  printed(prototype, name, describe);
}

/** Has one object, or those of a prototype, printed so. */
export function printed<O extends object>(target: O, name: string, describe: (object: O) => unknown): void {
  Object.defineProperty(target, INSPECT, {
    configurable: true,
    value(this: O, depth: number, options: { depth?: number | null }, inspect: Inspect): string {
      if (depth < 0) return `[${name}]`;
      let told: unknown;
      try {
        told = describe(this);
      } catch (error) {
        told = String(error);
      }
      return `${name} ${typeof told === "string" ? told : inspect(told, options.depth == null ? options : { ...options, depth: options.depth - 1 })}`;
    },
  });
}

/** The type, the key and the version of something, as far as it has them and they can still be read. */
export function words(type: string, read: () => readonly [key: string, version: string]): string {
  try {
    const [key, version] = read();
    return [type, key, version && `@${version}`].filter(Boolean).join(" ");
  } catch {
    return type;
  }
}

/** The first of so many things, and how many follow. */
export function first(count: number, name: (at: number) => string): string[] {
  const shown = Array.from({ length: Math.min(count, MAX_SHOWN) }, (_, at) => name(at));
  return count > MAX_SHOWN ? [...shown, `… ${count - MAX_SHOWN} more`] : shown;
}
