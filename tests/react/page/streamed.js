// A whole document, which Node streams and the page takes over.
import { createElement as element, lazy, Suspense } from "react";
import { createWatchCache } from "watchcache";
import { useObject, useResource, useStatus, useSuspenseView, useView, WatchCacheProvider } from "watchcache/react";

const isServer = typeof document === "undefined";
// Other scenarios of the page name none.
const server = isServer ? undefined : (new URLSearchParams(location.search).get("server") ?? undefined);
const cache = createWatchCache(isServer ? {} : { server, transport: "fetch" });

const All = ({ id }) => {
  const pods = useResource("pods");
  const { total, loaded } = useView(pods, { window: { offset: 0, limit: 0 } });
  const { object } = useObject(pods, id);
  return element("p", { id: "all" }, `${loaded} ${total} ${object?.metadata.name ?? "none"} ${useStatus(pods).phase}`);
};
const Waits = () => element("p", { id: "waits" }, useSuspenseView(useResource("pods"), { window: { offset: 0, limit: 2 } }).rows.length);
/** It comes when the shell has long been sent. */
const Late = lazy(async () => {
  if (isServer) await new Promise((resolve) => setTimeout(resolve, 100));
  return { default: () => element(Waits) };
});
const waiting = (id) => element("p", { id }, "waiting");

export const App = ({ id }) =>
  element(
    "html",
    { lang: "en" },
    element("head", null, element("title", null, "streamed"), element("link", { rel: "icon", href: "data:," })),
    element(
      "body",
      null,
      element(
        WatchCacheProvider,
        { cache },
        element(All, { id }),
        element(Suspense, { fallback: waiting("soon") }, element(Waits)),
        element(Suspense, { fallback: waiting("later") }, element(Late)),
      ),
    ),
  );
