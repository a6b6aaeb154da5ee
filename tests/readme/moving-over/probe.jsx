// Records what Headlamp's two hooks give, render by render.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Pod } from "pages/headlamp/pods.jsx";
import { caches } from "pages/headlamp/use-list.js";

class Widget extends Pod {
  static resource = { group: "example.com", version: "v1", resource: "widgets" };
}
const kinds = { Pod, Widget };

const errorOf = (error) => error && { status: error.status, cluster: error.cluster, namespace: error.namespace, text: error.message };
const objectOf = (object) =>
  object && {
    name: object.metadata.name,
    namespace: object.metadata.namespace,
    phase: object.status.phase,
    cluster: object.cluster,
    isOfKind: object instanceof Pod,
  };

/** What a hook gave, as it can leave the page. */
function told(result) {
  const [first, second] = result;
  const { error, isLoading, isFetching, isError, isSuccess } = result;
  const flags = { isLoading, isFetching, isError, isSuccess };
  const pair = "items" in result ? first === result.items : first === result.data;
  const rest = { ...flags, pair: pair && second === error, error: errorOf(error) };
  if (!("items" in result)) return { ...rest, data: objectOf(result.data), status: result.status };
  return { ...rest, items: result.items && result.items.map(objectOf), errors: result.errors && result.errors.map(errorOf) };
}

let results;
let last;
function Probe({ hook, kind, given }) {
  last = kinds[kind][hook](...given);
  results.push(told(last));
  return null;
}

let kept;
export const probe = {
  /** Renders the hook; again for a component that is there already. */
  async render(hook, kind, ...given) {
    results ??= [];
    probe.root ??= createRoot(document.querySelector("#root"));
    probe.root.render(
      <StrictMode>
        <Probe hook={hook} kind={kind} given={given} />
      </StrictMode>,
    );
  },
  /** All results since the first render. */
  results: () => results,
  /** Remembers the items, to be compared with those of later. */
  keep: () => (kept = last.items),
  same: () => last.items.map((item) => kept.includes(item)),
  stop() {
    probe.root?.unmount();
    probe.root = results = undefined;
  },
  use(given) {
    caches.clear();
    for (const [name, cache] of Object.entries(given)) caches.set(name, cache);
  },
};
