// The end-to-end suite goes through a relay before the embedded server, or before a real one: the other with each commit.
import { turnNow } from "../../scripts/lib/turn.mjs";

/** @param {"embedded" | "real"} place @returns {string | false} why it is not this one's turn */
export function notItsTurn(place) {
  const chosen = turnNow() % 2 === 0 ? "embedded" : "real";
  return process.env.MATRIX === "all" || chosen === place ? false : "the other server has its turn; MATRIX=all runs both";
}
