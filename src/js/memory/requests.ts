import type { Source } from "../upstream/source.js";
import {
  EXACTLY_ANY,
  expiredWatch,
  INITIAL_EVENTS_WITHOUT_MATCH,
  invalid,
  MATCH_WITH_TOKEN,
  MATCH_WITHOUT_INITIAL_EVENTS,
  MATCH_WITHOUT_VERSION,
  NO_INITIAL_EVENTS,
  noVersion,
  tooLarge,
  versionBesideToken,
} from "./refusals.js";
import { ANY, decodeToken } from "./token.js";

// What a list or a watch means, and which of them are refused: the rules of the API server, by versions alone.

export type ListRequest = Parameters<Source["list"]>[0];
export type WatchRequest = Parameters<Source["watch"]>[0];

/** How a list is read. */
export interface ListPlan {
  readonly version: bigint;
  /** The first key that may stand in it. */
  readonly start?: string;
  /** Whether any state will do: a cache hands out all of what it has at hand. */
  readonly any?: boolean;
}

/** "" and "0" are 0. @throws 400 for what is no version */
export function versionOf(text = ""): bigint {
  if (!/^[0-9]*$/.test(text)) throw noVersion(text);
  return BigInt(text); // of "" it is 0
}

/** @param current the newest version */
export function planList(request: ListRequest, current: bigint): ListPlan {
  const { resourceVersion: asked = "", resourceVersionMatch: match = "", limit = 0 } = request;
  if (request.continue) {
    if (match) throw invalid(...(asked ? [] : [MATCH_WITHOUT_VERSION]), MATCH_WITH_TOKEN);
    const token = decodeToken(request.continue);
    if (asked && asked !== "0") throw versionBesideToken();
    const version = token.version === ANY ? current : token.version;
    if (version > current) throw tooLarge(version, current);
    return { version, start: token.start };
  }
  if (match && !asked) throw invalid(MATCH_WITHOUT_VERSION);
  const version = versionOf(asked);
  if (version === 0n) {
    if (match === "Exact") throw invalid(EXACTLY_ANY);
    return { version: current, any: asked !== "" };
  }
  if (version > current) throw tooLarge(version, current);
  // A limit with a version and no match is exact too: the oldest rule, kept for old clients.
  return { version: match === "Exact" || (match === "" && limit > 0) ? version : current };
}

/**
 * What a watch begins with: the state, or the changes after a version. The newest version has none yet.
 *
 * @param known the versions that can be told of
 * @param watchList whether watches may ask for the state
 */
export function planWatch(
  { resourceVersion: asked = "", resourceVersionMatch: match, sendInitialEvents }: WatchRequest,
  known: { readonly oldest: bigint; readonly version: bigint },
  watchList: boolean,
): "state" | { readonly after: bigint } {
  const version = versionOf(asked);
  if (sendInitialEvents === undefined) {
    if (match) throw invalid(MATCH_WITHOUT_INITIAL_EVENTS);
  } else {
    if (!watchList) throw invalid(NO_INITIAL_EVENTS);
    if (match !== "NotOlderThan") throw invalid(INITIAL_EVENTS_WITHOUT_MATCH);
    if (sendInitialEvents && version > known.version) throw tooLarge(version, known.version);
  }
  if (sendInitialEvents ?? version === 0n) return "state";
  if (version === 0n) return { after: known.version };
  if (version < known.oldest) throw expiredWatch(asked, known.oldest);
  return { after: version };
}
