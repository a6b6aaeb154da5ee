import { useCallback, useDebugValue, useSyncExternalStore } from "react";
import { NOT_OPEN } from "../status/status.js";
import type { ResourceStatus } from "../status/types.js";
import { checkResource } from "./check.js";
import type { MaybeResource } from "./types.js";

const idle = () => NOT_OPEN;

/** Where the stream of a resource stands, live. It opens nothing. Without a resource, and on a server, the phase is `idle`. */
export function useStatus(resource: MaybeResource<any, any>): ResourceStatus {
  checkResource(resource, "useStatus");
  const subscribe = useCallback(
    (onChange: () => void) => {
      resource?.addEventListener("status", onChange);
      return () => resource?.removeEventListener("status", onChange);
    },
    [resource],
  );
  const status = useSyncExternalStore<ResourceStatus>(subscribe, () => resource?.status ?? NOT_OPEN, idle);
  useDebugValue(status, ({ phase }) => phase);
  return status;
}
