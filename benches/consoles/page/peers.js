// What each console has: its hook as it is, under a table of the row. Each harness gives
//   Around            what stands around the table, as the console has it
//   hold(pods)        loads all pods, as a page before this one did; `Holder` is a component that keeps them meanwhile
//   useRows           the rows of the table, see table.js
//   columns, keyOf    what the table shows of a row, and what the row is called
//   reached(event)    whether the last event was taken in
//   memoryBytes()     what is held outside of the heap
import { useMemo, useState } from "react";
import { COLUMNS, keyOf, orderedOf } from "../../page/table/columns.js";

/** Filters and orders all objects when their list is another one, as the tables of consoles do. */
export function useOrdered(objects) {
  const ordered = useMemo(() => orderedOf(objects ?? []), [objects]);
  return useMemo(() => ({ total: ordered.length, rowAt: (index) => ordered[index] }), [ordered]);
}

/** Waits for something that a store or a query will say, without keeping the thread busy. */
export async function patiently(holds, otherwise, patienceMs = 120_000) {
  const deadline = performance.now() + patienceMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${otherwise}, not within ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A value that is another one once a second at most, the last one included. */
export function useOnceASecond(value) {
  const [shown, setShown] = useState(value);
  const state = useMemo(() => ({ at: 0, timer: undefined, value }), []);
  state.value = value;
  if (shown !== value && state.timer === undefined) {
    state.timer = setTimeout(
      () => {
        state.timer = undefined;
        state.at = performance.now();
        setShown(state.value);
      },
      Math.max(0, 1000 - (performance.now() - state.at)),
    );
  }
  return shown;
}

export const plain = { columns: COLUMNS, keyOf, memoryBytes: () => 0 };
