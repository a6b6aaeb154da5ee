// Objects as values: what src/source/etcd/object.rs makes of values, the other way.
import { fromBase64, toBase64 } from "./base64.js";
import { badValue, noName } from "./refusals.js";

interface Written {
  readonly metadata: Record<string, unknown>;
  readonly [member: string]: unknown;
}

/** What a cache shows of the key in place of what the value itself says. */
const SHOWN = ["name", "namespace", "resourceVersion", "uid"] as const;
/** A cache strips it, for servers keep it where an update leaves it out. */
const KEPT = "managedFields";
/** Of these a new value says nothing. */
const MADE = ["resourceVersion", "uid"] as const;

/** The object that is to be written. @throws 422 for what has no name */
export function readObject(body: string): Written {
  const object = JSON.parse(body) as { metadata?: { name?: unknown } } | null;
  const name = object?.metadata?.name;
  if (typeof name !== "string" || name === "") throw noName("");
  return object as Written;
}

/** The value of an object, in base64. `held`: that of the key, in base64. @throws 422 for what can be none */
export function valueOf(object: Written, held?: string): string {
  if (Object.hasOwn(object, "valueBase64")) {
    const { valueBase64: given } = object;
    if (Object.hasOwn(object, "value")) throw badValue("it has both value and valueBase64");
    try {
      return toBase64(fromBase64(given as string));
    } catch {
      throw badValue("valueBase64 is no base64");
    }
  }
  if (Object.hasOwn(object, "value")) return toBase64(JSON.stringify(object.value));
  const metadata = { ...object.metadata };
  const before = held === undefined ? undefined : ownMetadata(held);
  for (const member of before === undefined ? MADE : SHOWN) delete metadata[member];
  for (const member of SHOWN) if (before !== undefined && Object.hasOwn(before, member)) metadata[member] = before[member];
  if (before !== undefined && Object.hasOwn(before, KEPT)) metadata[KEPT] ??= before[KEPT];
  return toBase64(JSON.stringify({ ...object, metadata }));
}

/** Whether a value, in base64, says what another one does. Bytes that were given as such are compared as such. */
export function isSame(object: Written, value: string, held: string): boolean {
  if (value === held) return true;
  if (Object.hasOwn(object, "valueBase64")) return false;
  try {
    return isEqual(parse(value), parse(held));
  } catch {
    return false;
  }
}

const parse = (value: string): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(fromBase64(value)));

function isEqual(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isEqual((one as any)[name], (other as any)[name]))
  );
}

/** The metadata of a value that is an object with one. */
function ownMetadata(value: string): Record<string, unknown> | undefined {
  try {
    const { metadata } = JSON.parse(new TextDecoder().decode(fromBase64(value))) as { metadata?: unknown };
    return typeof metadata === "object" && metadata !== null && !Array.isArray(metadata)
      ? (metadata as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
