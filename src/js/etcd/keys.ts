// Names as keys, ranges of keys, versions as revisions: what src/source/etcd makes of keys and revisions, the other way.
import { fromBase64, toBase64 } from "./base64.js";
import { badToken, badVersion, noName } from "./refusals.js";

/** Of a range request, in base64. */
export interface KeyRange {
  readonly key: string;
  readonly range_end?: string;
}

/** Digits behind the revision, where each change of one has a version of its own. */
const PLACE_DIGITS = 9;
const LAST_PLACE = "9".repeat(PLACE_DIGITS);
/** What may not stand in a name is escaped: `~0` is a tilde, `~1` a slash, `~x` with two digits any byte, `~` alone nothing. */
const ESCAPES = /~(0|1|x[0-9a-f]{2}|$)/g;

const encoder = new TextEncoder();

function bytesOf(name: string): number[] {
  if (name === "~") return [];
  const rest = name.replace(ESCAPES, "");
  if (name === "" || rest.includes("~") || rest.includes("/")) throw noName(name);
  const bytes: number[] = [];
  let from = 0;
  for (const { index, 0: whole, 1: escape } of name.matchAll(ESCAPES)) {
    bytes.push(...encoder.encode(name.slice(from, index)));
    bytes.push(escape === "0" ? 0x7e : escape === "1" ? 0x2f : Number.parseInt(escape!.slice(1), 16));
    from = index + whole.length;
  }
  bytes.push(...encoder.encode(name.slice(from)));
  return bytes;
}

/** The key of an object. @throws 422 for what no key is called */
export function keyOf(prefix: string, { namespace, name }: { namespace?: string | undefined; name: string }): Uint8Array {
  const space = namespace ? [...bytesOf(namespace), 0x2f] : [];
  const rest = bytesOf(name);
  // Other names of the same key would be told under another name than they were written by.
  if (!namespace && rest.indexOf(0x2f) > 0) throw noName(name);
  return Uint8Array.from([...encoder.encode(prefix), ...space, ...rest]);
}

/** All keys that begin so. */
export function keysBelow(prefix: Uint8Array): KeyRange {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  // A zero byte stands for no bound.
  if (length === 0) return { key: toBase64(prefix.length === 0 ? "\0" : prefix), range_end: toBase64("\0") };
  const end = prefix.slice(0, length);
  end[length - 1]!++;
  return { key: toBase64(prefix), range_end: toBase64(end) };
}

/** The keys that a list is about. */
export function rangeOf(prefix: string, { namespace, name }: { namespace?: string | undefined; name?: string | undefined }): KeyRange {
  if (name && namespace !== "") return { key: toBase64(keyOf(prefix, { namespace, name })) };
  return keysBelow(namespace ? keyOf(prefix, { namespace, name: "~" }) : encoder.encode(prefix));
}

/** Asks the leader for its revision, of what one may read in any case: the answer holds no key. */
export const revisionRequest = (key: string): object => ({ key, count_only: true });

/** The version of all that a revision has changed. */
export const versionOf = (revision: string, transactions: boolean): string => (transactions ? revision + LAST_PLACE : revision);

/** A version, read: the revision, and whether all of it is meant. @throws 400 for what is no version */
export function revisionOf(version: string, transactions: boolean): { readonly revision: string; readonly whole: boolean } {
  if (!/^[0-9]{1,40}$/.test(version)) throw badVersion(version);
  if (!transactions) return { revision: version, whole: true };
  return { revision: version.slice(0, -PLACE_DIGITS) || "0", whole: version.endsWith(LAST_PLACE) };
}

/** Where a list goes on. @throws 400 for what is no such token */
export function positionOf(token: string): { readonly revision: string; readonly key: string } {
  const [, revision, key] = /^([1-9][0-9]*)\.([\w-]+)$/.exec(token) ?? [];
  try {
    if (revision !== undefined) return { revision, key: toBase64(fromBase64(key!.replaceAll("-", "+").replaceAll("_", "/"))) };
  } catch {
    // No base64: told below.
  }
  throw badToken();
}
