import type { Resource, ResourceStatus } from "watchcache";
import { grouped } from "./format";
import type { Pod } from "./pod";
import { useNow } from "./useNow";

/** The state of the connection in words a user knows. The countdown is not announced; the words around it are. */
export function StatusChip({ pods, status }: { pods: Resource<Pod>; status: ResourceStatus }) {
  const now = useNow(500);
  const waitSeconds = "retryAt" in status && status.retryAt !== undefined ? Math.ceil((status.retryAt - now) / 1000) : 0;
  return (
    <div className="chip" data-phase={tone(status)}>
      <span className="dot" aria-hidden="true" />
      <span role="status" data-testid="chip">
        {words(status)}
      </span>
      {status.phase === "reconnecting" && waitSeconds > 0 && <span data-testid="retry-in">, next try in {waitSeconds} s</span>}
      {status.phase === "reconnecting" && (
        <button className="link" onClick={() => pods.resume()}>
          retry now
        </button>
      )}
    </div>
  );
}

export function words(status: ResourceStatus): string {
  const { stale, listed } = status;
  switch (status.phase) {
    case "idle":
    case "loading":
      return "loading";
    case "listing":
      return listed ? progress(listed) : "listing";
    case "live":
      return stale ? "catching up" : "live";
    case "reconnecting":
      return "reconnecting";
    case "relisting":
      return "catching up";
    case "paused":
      return "paused";
    case "needs-auth":
      return "signed out";
    case "failed":
      return `server says no: ${status.error.message}`;
    case "closed":
      return "closed";
  }
}

/** "2 500 of 5 000" while a list comes in; the second number is missing while the server does not tell it. */
export function progress({ loaded, remaining }: { loaded: number; remaining?: number }): string {
  return remaining === undefined ? `listing, ${grouped(loaded)} so far` : `${grouped(loaded)} of ${grouped(loaded + remaining)}`;
}

function tone({ phase, stale }: ResourceStatus): "live" | "busy" | "trouble" {
  if (phase === "live") return stale ? "busy" : "live";
  return phase === "needs-auth" || phase === "failed" || phase === "reconnecting" || phase === "closed" ? "trouble" : "busy";
}
