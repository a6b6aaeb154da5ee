import { useCallback, useDebugValue, useSyncExternalStore } from "react";
import { NOT_OPEN } from "../status/status.js";
import type { ResourceStatus } from "../status/types.js";
import { checkResource } from "./check.js";
import type { MaybeResource } from "./types.js";

/** Where the stream of a resource stands, live. It opens nothing. Without a resource, and on a server, the phase is `idle`. */
export function useStatus(resource: MaybeResource<any, any>): ResourceStatus {
  checkResource(resource, "useStatus");
  const status = useOfStatus(resource, (status) => status);
  useDebugValue(status, ({ phase }) => phase);
  return status;
}

/** What is read of a status. It renders anew where that is another. */
export function useOfStatus<V>(resource: MaybeResource<any, any>, read: (status: ResourceStatus) => V): V {
  const subscribe = useCallback(
    (onChange: () => void) => {
      resource?.addEventListener("status", onChange);
      return () => resource?.removeEventListener("status", onChange);
    },
    [resource],
  );
  return useSyncExternalStore(
    subscribe,
    () => read(resource?.status ?? NOT_OPEN),
    () => read(NOT_OPEN),
  );
}
