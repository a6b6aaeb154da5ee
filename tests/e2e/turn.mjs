// The end-to-end suite goes through a relay, too: before the embedded server or a real one, the other with each commit.
import { turnNow } from "../../scripts/lib/turn.mjs";

const WAYS = ["relay, embedded", "relay, real"];

/** @param {string} way one of those @returns {string | false} why it is not this one's turn */
export function notItsTurn(way) {
  const chosen = WAYS[turnNow() % WAYS.length];
  return process.env.MATRIX === "all" || chosen === way ? false : `the turn is "${chosen}"; MATRIX=all runs all`;
}
