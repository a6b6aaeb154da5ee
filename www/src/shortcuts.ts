import { useEffect, useEffectEvent } from "react";

/** Where keys are somebody else's: letters in a box, lists and dialogs that scroll. */
const ELSEWHERE = "input, select, textarea, ol, dialog";

/** Calls the handler with each key that is pressed on the page itself. It returns whether it took it. */
export function useShortcuts(handler: (key: string) => boolean) {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if ((event.target as Element).closest(ELSEWHERE)) return;
    if (handler(event.key)) event.preventDefault();
  });
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}
