import { callback, flag, invalid, is, type Kind, list, number, object, text, word } from "../options/kinds.js";
import { type Bag, read } from "../options/read.js";
import { keyOf } from "./history.js";
import type { DropOptions, FailOptions, MemoryFailure, MemoryRefusal, MemorySourceOptions, MemoryVerb } from "./types.js";

// What may be given to a memory source, by the rules of the package's other options: `invalid`, with the name of what is wrong.

const VERBS: readonly MemoryVerb[] = ["list", "watch", "get", "create", "update", "patch", "delete", "deleteCollection"];

const filled = is("text, and not empty", (value) => typeof value === "string" && value !== "");
/** A whole number, or no bound. */
const count = is("a whole number from 1 up, or Infinity", (value) => value === Infinity || (Number.isSafeInteger(value) && value >= 1));
const httpStatus = is("an HTTP status from 400 to 599", (value) => Number.isInteger(value) && value >= 400 && value <= 599);
const isError = (value: unknown): value is Error =>
  // Those of another realm, such as a test runner's, are of another class.
  value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";

export const verb = word(...VERBS);
export const delay = number(0);
export const pageSize = count;
export const version = is(
  "a decimal number from 1 up, as text",
  (value) => typeof value === "string" && /^[1-9][0-9]*$/.test(value),
  (value) => JSON.stringify(value) ?? String(value),
);
export const span = is("a number of milliseconds from 0 up", (value) => Number.isFinite(value) && value >= 0);
export const moment = is("a number of milliseconds since 1970", Number.isFinite);
export const optionalCallback = (value: unknown, name: string): any => (value === undefined ? undefined : callback(value, name));

export const OPTIONS: Bag<MemorySourceOptions<any>> = {
  objects: is("an iterable of objects", (value) => typeof value === "object" && typeof value?.[Symbol.iterator] === "function"),
  kind: filled,
  apiVersion: filled,
  resourceVersion: version,
  pageSize,
  watchList: flag,
  readOnly: flag,
  delay,
  clock: is("a clock: an object with the methods now, setTimeout and clearTimeout", (value) =>
    ["now", "setTimeout", "clearTimeout"].every((method) => typeof value?.[method] === "function"),
  ),
};
/** An empty array says neither that all requests fail nor that none does. */
const verbs: Kind = (value, name) => {
  const given = list(verb)(value, name);
  if (given.length === 0) throw invalid(`${name} is an array of one verb or more, not an empty one: leave it out for all`);
  return given;
};
export const FAIL: Bag<FailOptions> = { times: count, verbs };
export const DROP: Bag<DropOptions> = { error: is("an Error", isError), midFrame: flag };
const REFUSAL: Bag<MemoryRefusal> = { code: httpStatus, reason: text, message: text, retryAfterSeconds: number(0) };

/** What a request is to fail with: an error, a Status, or the members of a refusal. */
export function checkFailure(failure: unknown): MemoryFailure {
  if (isError(failure)) return failure;
  const status = object(failure, "what fail is given");
  if (status.kind !== "Status") {
    const refusal = read<MemoryRefusal>(REFUSAL, "fail", status) as MemoryRefusal;
    if (refusal.code === undefined) throw invalid("code is missing");
    return refusal;
  }
  httpStatus(status.code, "code");
  return json(status, "what fail is given");
}

/** An object as it is kept: as JSON has it, and with a name. */
export function checkObject(given: unknown, name: string): any {
  const stored = json(object(given, name), name);
  const { name: own, namespace } = object(object(stored, name).metadata, `${name}.metadata`);
  part(own, `${name}.metadata.name`);
  if (namespace !== undefined && namespace !== null && namespace !== "") part(namespace, `${name}.metadata.namespace`);
  return stored;
}

/** The first objects. Of two with one key the first would be lost without a word. */
export function checkObjects(given: Iterable<unknown>): any[] {
  const places = new Map<string, number>();
  return Array.from(given, (object, place) => {
    const stored = checkObject(object, `objects[${place}]`);
    const key = keyOf(stored);
    const known = places.get(key);
    if (known !== undefined) throw invalid(`objects[${place}] has the key of objects[${known}], ${key}: put() makes a later version of it`);
    places.set(key, place);
    return stored;
  });
}

/** Of a key, which a slash parts. */
const part = is("text, not empty and without a slash", (value) => typeof value === "string" && value !== "" && !value.includes("/"));

/** A copy, as JSON carries it. */
function json(value: unknown, name: string): any {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch (error) {
    throw invalid(`${name} cannot be written as JSON: ${(error as Error).message}`);
  }
}

/** A frame as it goes out: text and bytes as they stand, anything else as JSON. */
export function checkFrame(frame: unknown): string | Uint8Array {
  if (typeof frame === "string") return frame;
  // Bytes are bytes, of whatever realm: what is given on is of this one.
  if (ArrayBuffer.isView(frame)) return new Uint8Array(frame.buffer as ArrayBuffer, frame.byteOffset, frame.byteLength).slice();
  if (Object.prototype.toString.call(frame) === "[object ArrayBuffer]") return new Uint8Array(frame as ArrayBuffer).slice();
  let written: string | undefined;
  try {
    written = JSON.stringify(frame);
  } catch (error) {
    throw invalid(`frame cannot be written as JSON: ${(error as Error).message}`);
  }
  if (written === undefined) throw invalid(`frame is text, bytes or what JSON can carry, not ${typeof frame}`);
  return written;
}
