import type { WatchCacheError } from "watchcache";

/** A selector's text, cut around the place where it stops making sense. */
export interface Mistake {
  before: string;
  wrong: string;
  after: string;
}

/**
 * The API's messages name what they stumbled over, in quotes: "found 'x', expected: …", "can't understand 'x'", `Invalid value: "x"`.
 * An empty name means the end of the text.
 */
export function mistake(text: string, error: WatchCacheError): Mistake {
  const named = /(?:found|understand) '([^']*)'|Invalid value: "([^"]*)"/.exec(error.message);
  const wrong = named?.[1] ?? named?.[2] ?? "";
  const at = wrong === "" ? -1 : text.lastIndexOf(wrong);
  if (at < 0) return { before: text, wrong: "▲", after: "" };
  return { before: text.slice(0, at), wrong, after: text.slice(at + wrong.length) };
}
