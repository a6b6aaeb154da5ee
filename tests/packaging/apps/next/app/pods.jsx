"use client";

import { useEffect, useState, useSyncExternalStore } from "react";
import { createWatchCache } from "watchcache";

// The module runs on the server as well, where no API is asked and nothing is opened.
const server = typeof location === "undefined" ? undefined : (new URLSearchParams(location.search).get("server") ?? location.origin);
const pods = createWatchCache(server === undefined ? {} : { server }).resource("pods");
const view = pods.view({ namespaces: ["shop"], orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 500 } });

export function Pods() {
  const { rows } = useSyncExternalStore(view.subscribe, view.getSnapshot, view.getServerSnapshot);
  const [error, setError] = useState("");
  useEffect(() => {
    const tell = () => setError(pods.status.error?.message ?? "");
    pods.addEventListener("status", tell);
    return () => pods.removeEventListener("status", tell);
  }, []);
  return (
    <>
      <p id="total">{rows.length}</p>
      <ul id="pods">
        {rows.map((pod) => (
          <li key={pod.metadata.name}>{pod.metadata.name}</li>
        ))}
      </ul>
      <p id="error">{error}</p>
    </>
  );
}
