import { createWatchCache, type KubeObject } from "watchcache";

const pods = createWatchCache().resource<KubeObject>({ version: "v1", resource: "pods" });
const view = pods.view({ namespaces: ["shop"], orderBy: [{ path: "metadata.name" }], window: { offset: 0, limit: 500 } });

view.subscribe(() => {
  const rows = view.rows.map((pod) => Object.assign(document.createElement("li"), { textContent: pod.metadata?.name ?? "" }));
  document.querySelector("#pods")!.replaceChildren(...rows);
  document.querySelector("#total")!.textContent = String(view.total);
});
