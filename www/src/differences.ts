/** One field that is another in the later version; undefined where it was not, or is no more. */
export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

/** What every version changes, and what lists leave out. */
const NO_NEWS: readonly string[] = ["metadata.resourceVersion", "apiVersion", "kind"];

/** The fields in which two versions of an object differ. Parts that both share, as versions in the cache do, are not looked at. */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (before === after || NO_NEWS.includes(path)) return [];
  const [left, right] = [membersOf(before), membersOf(after)];
  if (!left || !right) return [{ path, before, after }];
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].flatMap((name) => differences(left.get(name), right.get(name), path + step(name, path)));
}

/** The members of an object, or the elements of a list. These go by their `type` or `name` where all have one, as containers and conditions do. */
function membersOf(value: unknown): Map<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value));
  const names = value.map((element, index) => `[${element?.type ?? element?.name ?? index}]`);
  return new Map(value.map((element, index) => [new Set(names).size === names.length ? names[index]! : `[${index}]`, element]));
}

function step(name: string, path: string): string {
  if (name.startsWith("[")) return name;
  if (/[./]/.test(name)) return `["${name}"]`;
  return path === "" ? name : `.${name}`;
}
