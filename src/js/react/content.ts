// What a spec says, as text: two renders that write the same spec anew mean the same.

let functions = 0;
const numbers = new WeakMap<object, number>();

/** A function, and whatever else has no content that can be written, is told by which one it is. */
function numberOf(thing: object): number {
  let number = numbers.get(thing);
  if (number === undefined) numbers.set(thing, (number = ++functions));
  return number;
}

/**
 * Equal texts for equal contents: the order of an object's members is none, and what is undefined is not there.
 *
 * @param byIdentity whether another function is another content. Otherwise any function is like any other: then its dependencies tell.
 */
export function contentOf(value: unknown, byIdentity = true): string {
  return write(value, byIdentity, 0) ?? "";
}

/** Deeper than any spec: what refers to itself ends here, and is refused by name where it is read. */
const MAX_DEPTH = 16;

function write(value: unknown, byIdentity: boolean, depth: number): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "function") return byIdentity ? `ƒ${numberOf(value)}` : "ƒ";
  if (typeof value !== "object" || value === null) return typeof value === "string" ? JSON.stringify(value) : String(value);
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) return `[${value.map((item) => write(item, byIdentity, depth + 1) ?? "undefined").join()}]`;
  if (!isPlain(value)) return `#${numberOf(value)}`;
  const members = Object.keys(value).sort();
  const written = members.flatMap((name) => {
    const text = write((value as Record<string, unknown>)[name], byIdentity, depth + 1);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${written.join()}}`;
}

/** Written as a literal, in this window or another. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
