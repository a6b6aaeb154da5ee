// The hooks in React 18, under StrictMode: rows, one object, events and what suspends.
import { createElement as element, StrictMode, Suspense, useState } from "react";
import { createRoot } from "react-dom/client";
import { createWatchCache } from "watchcache";
import { useObject, useResource, useStatus, useSuspenseView, useView, useWatch, WatchCacheProvider } from "watchcache/react";

const query = new URLSearchParams(location.search);
const server = query.get("server") ?? location.origin;
const mode = query.get("mode") ?? undefined;
const cache = createWatchCache({ server, ...(mode && { mode, identity: "jane" }) });

function Pods() {
  const pods = useResource("pods");
  const { rows, keys } = useView(pods, {
    namespaces: ["shop"],
    orderBy: [{ path: "metadata.name" }],
    window: { offset: 0, limit: 500 },
  });
  const { error } = useStatus(pods);
  const { object } = useObject(pods, keys[0]);
  const [added, setAdded] = useState(0);
  useWatch(pods, ({ type }) => type === "ADDED" && setAdded((n) => n + 1), { namespace: "shop" });
  const isWhole = rows.length === 0 || (object === rows[0] && added >= rows.length);
  return [
    element("p", { id: "total", key: "total" }, isWhole ? rows.length : "…"),
    element(
      "ul",
      { id: "pods", key: "pods" },
      rows.map(({ metadata }) => element("li", { key: metadata.name }, metadata.name)),
    ),
    element("p", { id: "error", key: "error" }, error?.message),
    element("p", { id: "mode", key: "mode" }, cache.stats().mode),
  ];
}

const Counted = () => useSuspenseView(useResource("pods"), { window: { offset: 0, limit: 0 } }).total;

createRoot(document.getElementById("root")).render(
  element(
    StrictMode,
    null,
    element(WatchCacheProvider, { cache }, element(Suspense, { fallback: "waiting" }, element(Pods), element(Counted))),
  ),
);
