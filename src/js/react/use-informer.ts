import { useDebugValue, useEffect, useState } from "react";
import { toError, type WatchCacheError } from "../error/errors.js";
import { object } from "../options/kinds.js";
import type { EventHandler, HandlerOptions, Informer, InformerOptions } from "../informer/types.js";
import { checkResource } from "./check.js";
import { contentOf } from "./content.js";
import { originOf } from "../cache/origin.js";
import { useNewest } from "./newest.js";
import type { MaybeResource } from "./types.js";

/** How an informer of a component goes. */
export interface InformerState<T, Access, Index extends string> {
  /** The informer, for its indexes and reads; undefined before the component is mounted. */
  readonly informer: Informer<T, Access, Index> | undefined;
  /** The handler was told of everything that the first list had. */
  readonly synced: boolean;
  /** Why there is no informer: its options were refused, or the resource is closed. */
  readonly error?: WatchCacheError;
}

/** Options of the informer, and of the handler's registration with it. */
export interface UseInformerOptions<T, Access, Index extends string = never> extends Omit<InformerOptions<T, Access, Index>, "start"> {
  /** As `addEventHandler` takes them: selectors, `changesOf`, `coalesce`. */
  handler?: HandlerOptions<T, Access> | undefined;
}

const NONE = Object.freeze({ informer: undefined, synced: false });

/**
 * An informer with one handler, while the component is mounted. For what follows objects one by one and is no list to show: a notification, a
 * graph, a store of another library. To show a list, `useView` is cheaper.
 *
 * @param handler may be written in place: the newest one is called, and another one does not begin anew. What it has at the first render (`onAdd`,
 *   `onUpdate`, `onDelete`) is what it is told of.
 * @param options compared by content, functions by identity: those stand outside of the component or in `useCallback`. Others make another informer.
 */
export function useInformer<T, Access, Index extends string = never>(
  resource: MaybeResource<T, Access>,
  handler: EventHandler<T, Access>,
  options?: UseInformerOptions<T, Access, Index>,
): InformerState<T, Access, Index | "namespace"> {
  checkResource(resource, "useInformer");
  object(handler, "handler");
  const newest = useNewest(handler);
  const [state, setState] = useState<InformerState<T, Access, Index | "namespace">>(NONE);
  const content = contentOf(options);
  // An informer decodes less for a handler that is not told of updates.
  const told = (["onAdd", "onUpdate", "onDelete", "onOverflow"] as const).filter((name) => typeof handler[name] === "function");
  useEffect(() => {
    if (resource === null || resource === undefined) return setState(NONE);
    const { handler: registration, ...rest } = options ?? {};
    let informer: Informer<T, Access, any>;
    try {
      informer = resource.informer(rest as InformerOptions<T, Access, Index>);
    } catch (thrown) {
      return setState({ ...NONE, error: toError(thrown, originOf(resource)?.name) });
    }
    let isOver = false;
    const end = () => {
      isOver = true;
      informer.stop();
    };
    const call = (name: (typeof told)[number]) => [name, (...args: unknown[]) => (newest.current?.[name] as any)?.(...args)];
    try {
      const { synced } = informer.addEventHandler(Object.fromEntries(told.map(call)) as EventHandler<T, Access>, registration);
      setState({ informer, synced: false });
      synced.then(
        () => !isOver && setState({ informer, synced: true }),
        (thrown) => !isOver && setState({ informer, synced: false, error: toError(thrown, originOf(resource)?.name) }),
      );
    } catch (thrown) {
      end();
      return setState({ ...NONE, error: toError(thrown, originOf(resource)?.name) });
    }
    return end;
  }, [resource, content, told.join()]);
  useDebugValue(state, ({ synced, error }) => (error !== undefined ? error.code : synced ? "synced" : "not synced"));
  return state;
}
