import { useDebugValue, useMemo, useSyncExternalStore } from "react";
import { text } from "../options/kinds.js";
import { checkResource } from "./check.js";
import { ObjectStore, UNKNOWN } from "./object-store.js";
import type { LiveObject, MaybeResource } from "./types.js";

/**
 * One object, live: while it is there, before it exists, and after it is gone, with its last version.
 *
 * Where a stream of the resource is open, as of a table on the same page, that is used. Otherwise the server is asked for this object alone, and
 * never for a list of everything. A custom source cannot be asked so: its own stream is used.
 *
 * @param key `"namespace/name"`, or `"name"` where there are no namespaces. With `null` or `undefined`, and without a resource, there is no object, and
 *   `loaded` is false.
 * @throws {WatchCacheError} `invalid` for a key that is no text.
 */
export function useObject<T, Access>(resource: MaybeResource<T, Access>, key: string | null | undefined): LiveObject<T, Access> {
  checkResource(resource, "useObject");
  if (key !== null && key !== undefined) text(key, "key");
  const store = useMemo(() => {
    const isThere = resource !== null && resource !== undefined && key !== null && key !== undefined && key !== "";
    return isThere ? new ObjectStore<T, Access>(resource, key) : undefined;
  }, [resource, key]);
  const live = useSyncExternalStore(store?.subscribe ?? never, store?.getSnapshot ?? unknown, unknown);
  useDebugValue(live, ({ object, deleted, loaded }) =>
    !loaded ? "loading" : deleted ? "deleted" : object === undefined ? "none" : "there",
  );
  return live as LiveObject<T, Access>;
}

const never = () => () => {};
const unknown = () => UNKNOWN;
