import type { WatchCache } from "watchcache";
import { useResource, useView } from "watchcache/react";
import { ago, grouped } from "./format";
import { useNow } from "./useNow";

interface Fields {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  last?: string;
  created?: string;
}

const SELECT = {
  type: "type",
  reason: "reason",
  message: "message",
  count: "count",
  last: "lastTimestamp",
  created: "metadata.creationTimestamp",
} satisfies Record<keyof Fields, string>;

/** What the cluster says of one pod, the newest first. The server sends the events of this pod alone, over a stream that ends with the drawer. */
export function PodEvents({ cache, namespace, uid }: { cache: WatchCache; namespace: string; uid: string }) {
  const now = useNow(1_000);
  const events = useResource({ version: "v1", resource: "events", namespace, fieldSelector: `involvedObject.uid=${uid}` }, { cache });
  const { rows, loaded, error } = useView<Fields>(events, {
    select: SELECT,
    orderBy: [
      { path: "lastTimestamp", as: "time", descending: true },
      { path: "metadata.resourceVersion", as: "number", descending: true },
    ],
    window: { offset: 0, limit: 50 },
  });
  if (error) return <p className="none">{error.message}</p>;
  if (rows.length === 0) return <p className="none">{loaded ? "none so far" : "loading"}</p>;
  return (
    <ol className="events">
      {rows.map(({ key, type, reason, message, count = 1, last, created }) => (
        <li key={key} data-testid="pod-event" data-type={type}>
          <time>{ago(now - Date.parse(last ?? created ?? ""))}</time>
          <span>
            <b>
              {type === "Warning" && <span aria-label="warning">▲ </span>}
              {reason}
            </b>{" "}
            {message}
            {count > 1 && <span className="none"> ×{grouped(count)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
