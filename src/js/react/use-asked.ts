import { useEffect, useReducer, useState } from "react";
import { toError, type WatchCacheError } from "../error/errors.js";

/** An answer, or why there is none; neither while it is waited for. */
export interface Asked<V> {
  readonly value: V | undefined;
  readonly error: WatchCacheError | undefined;
}

const WAITS: Asked<never> = { value: undefined, error: undefined };

/**
 * The answer to a question that is asked with the commit, and anew when whom it is put to or its content is another. Until then it shows nothing of
 * another question's answer. Asked again, the last answer stays until there is a new one.
 *
 * @param ask asks; `again` says that it was asked for by hand
 * @param to whom; without one nothing is asked
 */
export function useAsked<V>(
  to: object | undefined,
  content: string,
  ask: (signal: AbortSignal, again: boolean) => Promise<V>,
): Asked<V> & { again(): void } {
  const [told, tell] = useState<{ to: object; content: string; asked: Asked<V> }>();
  const [times, again] = useReducer((times: number) => times + 1, 0);
  useEffect(() => {
    if (to === undefined) return;
    const abort = new AbortController();
    const answered = (asked: Asked<V>) => {
      if (!abort.signal.aborted) tell({ to, content, asked });
    };
    ask(abort.signal, times > 0).then(
      (value) => answered({ value, error: undefined }),
      (error: unknown) => answered({ value: undefined, error: toError(error) }),
    );
    return () => abort.abort();
  }, [to, content, times]);
  const { value, error } = told !== undefined && told.to === to && told.content === content ? told.asked : (WAITS as Asked<V>);
  return { value, error, again };
}
