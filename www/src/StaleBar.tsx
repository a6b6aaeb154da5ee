import type { ResourceStatus } from "watchcache";
import { clock, duration, grouped } from "./format";
import { progress } from "./StatusChip";
import { useNow } from "./useView";

/** Lies over the foot of the table, so that no row moves for it: how far the list is, or since when the rows are old. */
export function StaleBar({ status }: { status: ResourceStatus }) {
  const now = useNow(1000);
  const { phase, stale, listed, lastEventAt, resourceVersion, error } = status;
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
      {stale && lastEventAt !== undefined && (
        <span>
          not live since {clock(lastEventAt)} ({duration(now - lastEventAt)}); rows as of version {grouped(resourceVersion ?? "")}
        </span>
      )}
      {stale && error && <span className="why">{error.message}</span>}
    </div>
  );
}
