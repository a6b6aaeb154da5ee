// The end-to-end suite goes other ways, too: through a relay, before the embedded server or a real one, and behind a worker. The next way with
// each commit.
import { turnNow } from "../../scripts/lib/turn.mjs";

const WAYS = ["relay, embedded", "relay, real", "worker, real"];

/** @param {string} way one of those @returns {string | false} why it is not this one's turn */
export function notItsTurn(way) {
  const chosen = WAYS[turnNow() % WAYS.length];
  return process.env.MATRIX === "all" || chosen === way ? false : `the turn is "${chosen}"; MATRIX=all runs all`;
}
