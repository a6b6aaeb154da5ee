// What every app of the matrix shows: the rows of one namespace, live, as the README does it, and what is wrong when something is.
import { createWatchCache } from "watchcache";

/** A page of a development server names the API server in its address; a built page is served by it. */
const query = new URLSearchParams(location.search);
const server = query.get("server") ?? location.origin;

// With a mode in its address the page looks for the worker's script, too.
const mode = query.get("mode") ?? undefined;
const cache = createWatchCache({ server, ...(mode && { mode, identity: "jane" }) });
const pods = cache.resource("pods");
const view = pods.view({ namespaces: ["shop"], orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 500 } });
const element = (id) => document.getElementById(id);

view.subscribe(() => {
  const { rows, total } = view.getSnapshot();
  const items = rows.map((pod) => Object.assign(document.createElement("li"), { textContent: pod.metadata.name }));
  element("pods").replaceChildren(...items);
  element("total").textContent = String(total);
  element("mode").textContent = cache.stats().mode;
});

pods.addEventListener("status", () => {
  element("error").textContent = pods.status.error?.message ?? "";
});
