// The table that all consoles of the row show: TanStack Virtual, with rows and cells that are memoised by what they show. `useRows` is the
// console's own. It gives
//   total          how many rows there are
//   rowAt(index)   a row; undefined where it has yet to come
//   show(from, to) which of them are on the screen, for who wants to know
import { useVirtualizer } from "@tanstack/react-virtual";
import { createElement, memo, useEffect, useRef } from "react";
import { ROWS } from "../../page/table/columns.js";

const ROW_PX = 20;
/** Who shows all rows at once has no virtual list. */
const all = (total) => Array.from({ length: total }, (_, index) => ({ index, start: index * ROW_PX }));

/**
 * @param {{ useRows: () => object, columns: { title: string, cell: (row: object) => string }[], keyOf: (row: object) => string, windowed?: boolean }} options
 * @returns the component, and how many times the table, its rows and its cells were rendered so far
 */
export function makeTable({ useRows, columns, keyOf, windowed = true }) {
  let renders = 0;
  const Cell = memo(function Cell({ row, column }) {
    renders++;
    return createElement("span", { className: "cell" }, columns[column].cell(row));
  });
  const Row = memo(function Row({ row, start }) {
    renders++;
    const cells = columns.map(({ title }, column) => createElement(Cell, { key: title, row, column }));
    return createElement("div", { className: "row", style: { position: "absolute", top: start, height: ROW_PX } }, cells);
  });
  function useVirtual(total) {
    const scroller = useRef(null);
    const virtual = useVirtualizer({
      count: total,
      getScrollElement: () => scroller.current,
      estimateSize: () => ROW_PX,
      overscan: 0,
      useFlushSync: false,
    });
    return { scroller, items: virtual.getVirtualItems(), height: virtual.getTotalSize() };
  }
  const useAll = (total) => ({ scroller: null, items: all(total), height: total * ROW_PX });
  const useItems = windowed ? useVirtual : useAll;
  function Table() {
    renders++;
    const { total, rowAt, show } = useRows();
    const { scroller, items, height } = useItems(total);
    const [first, last] = [items[0]?.index, items.at(-1)?.index];
    useEffect(() => {
      if (last !== undefined) show?.(first, last);
    }, [show, first, last]);
    const rows = items.map(({ index, start }) => {
      const row = rowAt(index);
      return row && createElement(Row, { key: keyOf(row), row, start });
    });
    const body = createElement("div", { style: { height, position: "relative" } }, rows);
    return createElement("div", { ref: scroller, style: { height: ROWS * ROW_PX, overflow: "auto" } }, body);
  }
  return { Table, renders: () => renders };
}
