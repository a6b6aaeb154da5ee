// React as the example imports it, but what `useSyncExternalStore` gives to a render is noted for the frame's checks.
import { createContext, useContext, useLayoutEffect, useSyncExternalStore as original } from "react";

export * from "react";

/** What the components below show at this moment, by the name of their place on the page. */
export const shown = new Map();

/** The place on the page. The example's own root has no provider. */
export const Slot = createContext("own");

export function useSyncExternalStore(subscribe, getSnapshot, getServerSnapshot) {
  const slot = useContext(Slot);
  const value = original(subscribe, getSnapshot, getServerSnapshot);
  useLayoutEffect(() => {
    const place = shown.get(slot) ?? {};
    shown.set(slot, place);
    if ("rows" in value) Object.assign(place, { view: value, getSnapshot });
    else place.status = value;
  });
  useLayoutEffect(() => () => void shown.delete(slot), [slot]);
  return value;
}
