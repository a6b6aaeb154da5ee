import { toError, type WatchCacheError } from "./errors.js";
import type { RawError, RawResource } from "./raw.js";
import type { ResourceStatus } from "./types.js";

const NOT_OPEN: ResourceStatus = { phase: "idle", stale: false, attempt: 0 };

/**
 * The core's status in the shape of the contract. Its error stays the same object while the core tells the same error.
 *
 * @param last the status before
 */
export function toStatus(raw: RawResource | undefined, last: ResourceStatus | undefined, resource: string): ResourceStatus {
  if (raw === undefined) return NOT_OPEN;
  let status: ReturnType<RawResource["status"]>;
  try {
    status = raw.status();
  } catch (error) {
    return { ...NOT_OPEN, phase: "failed", error: sameError(last?.error, toError(error), resource) };
  }
  const { phase, stale, attempt, resourceVersion, listed, lastEventAt, retryAt, error, quarantined } = status;
  return {
    phase,
    stale,
    attempt,
    // Absent, not undefined, where there is nothing to tell.
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(listed === undefined ? {} : { listed: Object.freeze(listed) }),
    ...(lastEventAt === undefined ? {} : { lastEventAt }),
    ...(retryAt === undefined ? {} : { retryAt }),
    ...(error === undefined ? {} : { error: sameError(last?.error, error, resource) }),
    ...(quarantined === undefined ? {} : { quarantined: Object.freeze(quarantined) }),
  };
}

function sameError(last: WatchCacheError | undefined, error: RawError | WatchCacheError, resource: string): WatchCacheError {
  const same = last?.code === error.code && last.message === error.message && last.retryAfterSeconds === error.retryAfterSeconds;
  return same ? last : toError(error, resource);
}

/** Whether two statuses tell the same. */
export function sameStatus(a: ResourceStatus, b: ResourceStatus): boolean {
  return (
    a.phase === b.phase &&
    a.resourceVersion === b.resourceVersion &&
    a.stale === b.stale &&
    a.lastEventAt === b.lastEventAt &&
    a.attempt === b.attempt &&
    a.retryAt === b.retryAt &&
    a.error === b.error &&
    a.listed?.loaded === b.listed?.loaded &&
    a.listed?.remaining === b.listed?.remaining &&
    a.quarantined?.join() === b.quarantined?.join()
  );
}
