// Random documents as texts, and random changes of them: with all that a parser may stumble over.

/** Numbers that repeat with their seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  return { below, pick: (items) => items[below(items.length)], chance: (part) => next() < part };
}

const NAMES = [
  "a",
  "b",
  "c",
  "spec",
  "7",
  "0",
  "10",
  "-1",
  "01",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "length",
  "",
  "ü",
  "\\u0061",
  'a\\"b',
  "x.y/z",
];
const SCALARS = [
  "0",
  "-0",
  "-0.0",
  "1",
  "1.0",
  "1e2",
  "100",
  "9007199254740993",
  "123456789012345678901234567890",
  "1e-400",
  "5e-324",
  "1.7976931348623157e308",
  "true",
  "false",
  "null",
  '""',
  '"a"',
  '"\\u0061"',
  '"ü😀"',
  '"\\ud83d\\ude00"',
  '"\\u2028"',
  '"0"',
  '"-0"',
  '"a longer text that fills more than one block of bytes of a comparison"',
  "{}",
  "[]",
];

/** A value is the text of a scalar, `{ members: [name, value][] }`, or `{ elements: value[] }`. */
export function value(random, depth = 0) {
  if (depth > 4 || random.chance(0.4)) return random.pick(SCALARS);
  const length = random.below(6);
  if (random.chance(0.35)) return { elements: Array.from({ length }, () => value(random, depth + 1)) };
  return { members: Array.from({ length }, () => [random.pick(NAMES), value(random, depth + 1)]) };
}

export function text(value) {
  if (typeof value === "string") return value;
  if (value.elements !== undefined) return `[${value.elements.map(text).join(",")}]`;
  return `{${value.members.map(([name, member]) => `"${name}":${text(member)}`).join(",")}}`;
}

/** All objects and arrays in a value, itself included. */
function containers(value) {
  if (typeof value === "string") return [];
  const children = value.elements ?? value.members.map(([, member]) => member);
  return [value, ...children.flatMap(containers)];
}

/** Changes one thing anywhere in it: mostly a value, now and then which there are and in what order. */
export function change(random, root) {
  const container = random.pick(containers(root));
  const items = container.elements ?? container.members;
  const set = (at, next) => (container.elements ? (items[at] = next) : (items[at] = [items[at][0], next]));
  const fresh = () => (container.elements ? value(random, 2) : [random.pick(NAMES), value(random, 2)]);
  const at = random.below(items.length);
  if (items.length === 0 || random.chance(0.1)) return void items.splice(at, 0, fresh());
  if (random.chance(0.75)) return set(at, random.chance(0.8) ? random.pick(SCALARS) : value(random, 2));
  random.pick([
    () => items.splice(at, 1),
    () => items.splice(at, 0, items[at]),
    () => items.reverse(),
    () => !container.elements && (items[at] = [random.pick(NAMES), items[at][1]]),
  ])();
}

/** What a value is, to the last detail: order of names, own names alone, the sign of zero. */
export function described(value) {
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isArray = Array.isArray(value);
  if (Object.getPrototypeOf(value) !== (isArray ? Array : Object).prototype) return "no plain object";
  const members = Reflect.ownKeys(value).map((name) => {
    const { value: member, ...rest } = Object.getOwnPropertyDescriptor(value, name);
    const flags = isArray && name === "length" ? member : described(member);
    return `${JSON.stringify(name)}${"get" in rest ? " getter" : ""}:${flags}`;
  });
  return `${isArray ? "[" : "{"}${members.join(",")}`;
}
