import { useInsertionEffect, useRef } from "react";

/**
 * The newest value that was committed, for callbacks that come from outside of React. A render that is discarded leaves no trace in it, so nobody
 * is called who was never on the screen. There is none once the component has gone: effects that stop the callbacks run later than that.
 */
export function useNewest<V>(value: V): { readonly current: V | undefined } {
  const newest = useRef<V | undefined>(undefined);
  useInsertionEffect(() => {
    newest.current = value;
    return () => {
      newest.current = undefined;
    };
  });
  return newest;
}
