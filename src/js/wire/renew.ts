/** Routes and values in turn: see `RawResource.patch`. */
export type Patch = readonly unknown[];

type Container = Record<string | number, unknown>;

const { hasOwnProperty } = Object.prototype;

/**
 * Makes the next version of a decoded document. Objects and arrays on the way to a value that differs are copied, all others are those of the
 * version before. Neither is changed afterwards.
 */
export function renew(before: object, patch: Patch): object {
  if (patch.length === 0) return before;
  // The copies along the last route. Routes come in the order of the text, so those that share their beginning follow each other.
  const copies: Container[] = [copy(before)];
  let last: readonly (string | number)[] = [];
  for (let i = 0; i < patch.length; i += 2) {
    const route = patch[i] as readonly (string | number)[];
    const end = route.length - 1;
    if (end < 0) {
      // Members that came in front of all others. Of two members of a name the later one counts, in the place of the first.
      copies[0] = { ...(patch[i + 1] as Container), ...copies[0] };
      continue;
    }
    let depth = 0;
    while (depth < end && depth < last.length - 1 && route[depth] === last[depth]) depth++;
    for (; depth < end; depth++) {
      const parent = copies[depth]!;
      const name = route[depth]!;
      copies[depth + 1] = parent[name] = copy(parent[name] as object);
    }
    const parent = copies[end]!;
    const name = route[end]!;
    // The name is there already as one of its own, so this reaches no prototype, also where it is `__proto__`.
    parent[name] = share(parent[name], patch[i + 1]);
    last = route;
  }
  return copies[0]!;
}

function copy(value: object): Container {
  return (Array.isArray(value) ? value.slice() : { ...value }) as Container;
}

/**
 * A value that takes the place of another: where both hold the same, the one before. So a new member of an object leaves its other members as
 * they were.
 */
export function share(before: unknown, value: unknown): unknown {
  if (Object.is(before, value)) return before;
  if (typeof value !== "object" || value === null) return value;
  const old = (typeof before === "object" && before !== null && Array.isArray(before) === Array.isArray(value) ? before : {}) as Container;
  const names = Object.keys(value);
  const oldNames = Object.keys(old);
  let same = old === before && names.length === oldNames.length;
  const next = value as Container;
  names.forEach((name, at) => {
    const shared = share(hasOwnProperty.call(old, name) ? old[name] : undefined, next[name]);
    next[name] = shared;
    // Names in another order make another object.
    same &&= name === oldNames[at] && Object.is(shared, old[name]);
  });
  return same ? before : value;
}
