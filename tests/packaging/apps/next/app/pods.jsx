"use client";

import { Suspense } from "react";
import { createWatchCache } from "watchcache";
import { useResource, useStatus, useSuspenseView, useView, WatchCacheProvider } from "watchcache/react";

// The module runs on the server as well, where no API is asked and nothing is opened.
const query = typeof location === "undefined" ? undefined : new URLSearchParams(location.search);
const server = query && (query.get("server") ?? location.origin);
const mode = query?.get("mode") ?? undefined;
const cache = createWatchCache({ server, ...(mode && { mode, identity: "jane" }) });

function Rows() {
  const pods = useResource("pods");
  const { rows } = useView(pods, { namespaces: ["shop"], orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 500 } });
  const { error } = useStatus(pods);
  return (
    <>
      <p id="total">{rows.length}</p>
      <ul id="pods">
        {rows.map((pod) => (
          <li key={pod.metadata.name}>{pod.metadata.name}</li>
        ))}
      </ul>
      <p id="error">{error?.message}</p>
      <p id="mode">{rows.length > 0 && cache.stats().mode}</p>
    </>
  );
}

function Total() {
  const { total } = useSuspenseView(useResource("pods"), { window: { offset: 0, limit: 0 } });
  return <p id="all">{total}</p>;
}

export function Pods() {
  return (
    <WatchCacheProvider cache={cache}>
      <Rows />
      <Suspense fallback={<p id="waiting">waiting</p>}>
        <Total />
      </Suspense>
    </WatchCacheProvider>
  );
}
