// The hooks as the example imports them, but what they give to a render is noted for the frame's checks.
import { createContext, useContext, useLayoutEffect } from "react";
import { useStatus as originalStatus, useView as originalView } from "../../../dist/react/index.js";

/** What the components below show at this moment, by the name of their place on the page. */
export const shown = new Map();

/** The place on the page. The example's own root has no provider. */
export const Slot = createContext("own");

export const useView = (...given) => useNoted("view", originalView(...given));
export const useStatus = (...given) => useNoted("status", originalStatus(...given));

function useNoted(name, value) {
  const slot = useContext(Slot);
  useLayoutEffect(() => {
    const place = shown.get(slot) ?? {};
    shown.set(slot, place);
    place[name] = value;
  });
  useLayoutEffect(() => () => void shown.delete(slot), [slot]);
  return value;
}
