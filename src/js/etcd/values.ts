// Objects as values: what src/source/etcd/object.rs makes of values, the other way.
import { fromBase64, toBase64 } from "./base64.js";
import { badValue, noName } from "./refusals.js";

interface Written {
  readonly metadata: Record<string, unknown>;
  readonly [member: string]: unknown;
}

/** What a cache shows of the key in place of what the value itself says. */
const SHOWN = ["name", "namespace", "resourceVersion", "uid"] as const;
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
  return toBase64(JSON.stringify({ ...object, metadata }));
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
