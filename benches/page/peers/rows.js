// The rows that a table shows: all but one group's pods, those that started last first, one screen of them.
import { GROUP } from "./object.js";

export const ROWS = 50;
export const HIDDEN = "g-0";

/** What everybody writes by hand: filter all, sort all, take the first. Starts are texts of one form and differ, so they order as texts. */
export function topRows(objects) {
  return Array.from(objects)
    .filter((object) => object.metadata.labels[GROUP] !== HIDDEN)
    .sort((a, b) => (a.status.startTime < b.status.startTime ? 1 : -1))
    .slice(0, ROWS);
}
