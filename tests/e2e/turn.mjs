// The end-to-end suite goes other ways, too: through a relay, before the embedded server or a real one, and behind a worker. The next way with
// each commit.
import { turnNow } from "../../scripts/lib/turn.mjs";

export const WAYS = ["relay, embedded", "relay, real", "worker, real"];
/** What the embedded server answers from: its objects, or the package's own cache. In the third turn a worker stands before it. */
const EMBEDDED = ["its objects", "its cache", "its objects, behind a worker"];
/** What may hold the streams of a page: a worker of all pages, or one of its own. */
const MODES = ["shared", "worker"];

/** The modes that a run takes: the other one once each way was gone. @type {readonly ("shared" | "worker")[]} */
export const MODES_DUE = process.env.MATRIX === "all" ? MODES : [MODES[Math.floor(turnNow() / WAYS.length) % MODES.length]];

/** @param {string} way one of those @returns {string | false} why it is not this one's turn */
export const notItsTurn = (way) => notTheTurnOf(way, WAYS);

/** @param {string} what one of those of the embedded server @returns {string | false} why it is not this one's turn */
export const notEmbeddedTurn = (what) => notTheTurnOf(what, EMBEDDED);

/** @param {string} way @param {readonly string[]} ways */
function notTheTurnOf(way, ways) {
  if (!ways.includes(way)) throw new Error(`there is no way ${way}: choose from ${ways.join(", ")}.`);
  const chosen = ways[turnNow() % ways.length];
  return process.env.MATRIX === "all" || chosen === way ? false : `the turn is "${chosen}"; MATRIX=all runs all`;
}
