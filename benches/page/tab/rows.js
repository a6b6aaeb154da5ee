// The rows that need no more than a page, and what each is about in one line.
import dispatch from "../../rows/dispatch.mjs";
import fanout from "../../rows/fanout.mjs";
import ingest from "../../rows/ingest.mjs";
import path from "../../rows/path.mjs";
import resting from "../../rows/resting.mjs";
import view from "../../rows/view.mjs";
import { disagreements } from "../../lib/report.mjs";
import { browserOf } from "./frame.js";

export const ROWS = [
  { row: ingest, about: "frames in, by each transport, beside JSON.parse" },
  { row: fanout, about: "an event to many callbacks, beside a plain loop" },
  { row: path, about: "from a frame to the subscribers that want it, beside six peers" },
  { row: dispatch, about: "an event that few of many watchers want" },
  { row: view, about: "a table of 50 rows over many objects, beside six peers" },
  { row: resting, about: "first reads of objects at rest, beside JSON.parse" },
];

/**
 * Measures rows, one after another.
 * @param rows of {@link ROWS}
 * @param {{ mode: "tab" | "quick", signal: AbortSignal, url: string, say: (text: string) => void, done: (lines: object[]) => void }} how `say`: what
 * begins; `done`: a row's lines are there, or one that says why they are not
 */
export async function measureRows(rows, { mode, signal, url, say, done }) {
  const browser = browserOf(signal);
  const sayOrEnd = (text) => {
    signal.throwIfAborted();
    say(text);
  };
  for (const { row } of rows) {
    try {
      const result = await row.measure({ browser, url, mode, say: sayOrEnd });
      const wrong = Object.entries(row.scenarios(result)).flatMap(([name, scenario]) => disagreements(scenario, name));
      if (wrong.length > 0) throw new Error(`not every harness did the same work, so nothing can be compared: ${wrong.join("; ")}`);
      done(row.lines(result));
    } catch (error) {
      if (signal.aborted) return;
      console.error(error);
      done([{ what: row.name, failed: String(error?.message ?? error) }]);
    }
  }
}
