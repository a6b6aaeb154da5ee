// A React table as one writes it: rows and cells are memoised, so React renders those whose row is another one than before.
import { createElement, memo, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";

/** Puts the table of a store on the page. @returns the number of cells rendered so far, the table's text, and what takes it away */
export function mount({ columns, keyOf, subscribe, getRows }) {
  let renders = 0;
  const Cell = memo(function Cell({ row, column }) {
    renders++;
    return createElement("td", null, columns[column].cell(row));
  });
  const Row = memo(function Row({ row }) {
    const cells = columns.map(({ title }, column) => createElement(Cell, { key: title, row, column }));
    return createElement("tr", null, cells);
  });
  function Table() {
    const rows = useSyncExternalStore(subscribe, getRows);
    const head = columns.map(({ title }) => createElement("th", { key: title }, title));
    const body = rows.map((row) => createElement(Row, { key: keyOf(row), row }));
    return createElement("table", null, [
      createElement("thead", { key: "head" }, createElement("tr", null, head)),
      createElement("tbody", { key: "body" }, body),
    ]);
  }
  const place = document.body.appendChild(document.createElement("main"));
  const root = createRoot(place);
  flushSync(() => root.render(createElement(Table)));
  const lineOf = (line) => [...line.cells].map(({ textContent }) => textContent).join(" ");
  return {
    renders: () => renders,
    text: () => [...place.querySelectorAll("tbody tr")].map(lineOf).join("\n"),
    unmount() {
      root.unmount();
      place.remove();
    },
  };
}
