import { useInsertionEffect, useRef } from "react";

/**
 * The newest value that was committed, for callbacks that come from outside of React. A render that is discarded leaves no trace in it, so nobody
 * is called who was never on the screen.
 */
export function useNewest<V>(value: V): { readonly current: V } {
  const newest = useRef(value);
  useInsertionEffect(() => {
    newest.current = value;
  });
  return newest;
}
