import type { Resource, ResourceStatus } from "watchcache";
import { clock, duration, grouped } from "./format";
import type { Pod } from "./pod";
import { progress } from "./StatusChip";
import { useNow } from "./useNow";

/** Tells how far the list is, or since when the rows are old. It lies over the foot of the table, so that no row moves for it. */
export function StaleBar({ pods, status }: { pods: Resource<Pod>; status: ResourceStatus }) {
  const now = useNow(1000);
  const { phase, stale, staleSince, listed } = status;
  const error = status.error;
  const listing = (phase === "listing" || phase === "relisting") && listed !== undefined;
  if (!listing && !stale) return null;
  return (
    <div className="stale-bar" data-testid="stale-bar">
      {listing && (
        <>
          <progress
            aria-label="Pods listed"
            value={listed.loaded}
            max={listed.remaining === undefined ? undefined : listed.loaded + listed.remaining}
          />
          <span data-testid="progress">{progress(listed)}</span>
        </>
      )}
      {staleSince !== undefined && (
        <span>
          not live since {clock(staleSince)} ({duration(now - staleSince)}); rows as of version {grouped(pods.resourceVersion ?? "")}
        </span>
      )}
      {stale && error && <span className="why">{error.message}</span>}
    </div>
  );
}
