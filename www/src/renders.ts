import { FIELD_CELLS } from "./columns";
import type { Feed } from "./feed";

/**
 * Counts what the table is spared. An update reaches a row that is on the page: a table of whole objects draws its fields anew then, once a
 * frame. This one draws the cells whose value is another. Cells of time that passes count on neither side, nor do rows that come by scrolling.
 */
export class Renders {
  /** Cells of fields that were drawn again. */
  drawn = 0;

  constructor(readonly feed: Feed) {}

  /** Cells that a table of whole objects would have drawn again. */
  get due(): number {
    return this.feed.reached * FIELD_CELLS;
  }

  get spared(): number {
    return Math.max(0, this.due - this.drawn);
  }
}
