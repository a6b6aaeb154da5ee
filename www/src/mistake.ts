import type { WatchCacheError } from "watchcache";

/** A selector's text, cut around the place where it stops making sense. */
export interface Mistake {
  before: string;
  wrong: string;
  after: string;
}

/**
 * The error knows where; its message names what stands there, in quotes: "found 'x', expected: …", "can't understand 'x'",
 * `Invalid value: "x"`. An empty name means that something is missing.
 */
export function mistake(text: string, error: WatchCacheError): Mistake {
  const at = error.mistake === undefined ? text.length : indexOfByte(text, error.mistake.offset);
  const named = /(?:found|understand) '([^']*)'|Invalid value: "([^"]*)"/.exec(error.message);
  const wrong = named?.[1] ?? named?.[2] ?? "";
  if (wrong === "" || !text.startsWith(wrong, at)) return { before: text.slice(0, at), wrong: "▲", after: text.slice(at) };
  return { before: text.slice(0, at), wrong, after: text.slice(at + wrong.length) };
}

function indexOfByte(text: string, offset: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, offset)).length;
}
