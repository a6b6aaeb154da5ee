import { useState } from "react";
import type { Resource, WatchEvent } from "watchcache";
import { useWatch } from "watchcache/react";
import { type Difference, differences } from "./differences";
import { compareVersions } from "./format";
import type { PodHistory } from "./history";
import type { HeldPod, Pod } from "./pod";

/** One version of a pod, and what it changed. */
export interface Version {
  resourceVersion: string;
  type: "ADDED" | "MODIFIED" | "DELETED";
  /** When this page came to it, in ms since the epoch, as far as it knows. */
  at: number | undefined;
  object: HeldPod;
  /** Undefined where the version before it is no longer held. */
  changes: Difference[] | undefined;
}

const KEPT = 50;

interface Wanted {
  pods: Resource<Pod>;
  history: PodHistory;
  /** "namespace/name". */
  podKey: string;
}

/**
 * The versions of one pod that the event window still holds, and those that follow, the newest first. A watch from the oldest version that
 * the window reaches tells them. Nothing is asked of the server, and no other pod is decoded.
 */
export function useVersions({ pods, history, podKey }: Wanted): { versions: readonly Version[]; from: string | undefined } {
  const [from] = useState(() => history.from);
  const [versions, setVersions] = useState<readonly Version[]>([]);
  const [namespace, name] = podKey.split("/") as [string, string];

  async function take(event: WatchEvent<Pod>) {
    if (event.type === "BOOKMARK" || event.type === "ERROR") return;
    const { type, object, resourceVersion } = event;
    const first = versions.length === 0 && type === "MODIFIED" ? await before(object).catch(() => undefined) : undefined;
    setVersions((known) => {
      const latest = known[0];
      // A watch that begins anew may tell again what is known.
      if (latest && compareVersions(resourceVersion, latest.resourceVersion) <= 0) return known;
      const earlier = latest?.type === "DELETED" ? undefined : (latest?.object ?? first);
      const changes = type !== "MODIFIED" ? [] : earlier && differences(earlier, object);
      return [{ resourceVersion, type, at: history.timeOf(resourceVersion), object, changes }, ...known].slice(0, KEPT);
    });
  }

  /** The pod as it was before the first change that is held of it. By its uid, because one that is named is asked of the server. */
  async function before({ metadata: { namespace, uid, resourceVersion } }: HeldPod) {
    const moment = history.held[history.indexOf(resourceVersion) - 1];
    if (!moment) return undefined;
    const exactly = { resourceVersion: moment.version, resourceVersionMatch: "Exact" } as const;
    const { items } = await pods.list({ ...exactly, namespace, fieldSelector: `metadata.uid=${uid}` });
    return items[0];
  }

  useWatch(pods, take, { namespace, name, resourceVersion: from });
  return { versions, from };
}
