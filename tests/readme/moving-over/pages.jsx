// The consoles' pages, each as its guide shows it, mounted one at a time.
import { observable } from "mobx";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createApp } from "vue";
import { createStore } from "vuex";
import { createWatchCache } from "watchcache";
import { KubeObjectStore } from "pages/freelens/kube-object.store.js";
import { Pod as FreelensPod, Pods } from "pages/freelens/pods.jsx";
import { PodList } from "pages/headlamp/pods.jsx";
import { kubeStore } from "pages/rancher/kube-store.js";
import RancherPods from "pages/rancher/PodList.vue";
import { probe } from "./probe.jsx";

const NAMESPACE = "shop";
const root = document.querySelector("#root");
const cacheOf = (server) => createWatchCache({ server, retry: { initialMs: 20, capMs: 100 }, indexes: { uid: "metadata.uid" } });

function inReact(element) {
  const shown = createRoot(root);
  shown.render(<StrictMode>{element}</StrictMode>);
  return () => shown.unmount();
}

const types = { pod: { version: "v1", resource: "pods", namespace: NAMESPACE } };
const storeOf = (cache) => createStore({ modules: { cluster: kubeStore(cache, types) } });

const ways = {
  headlamp() {
    return inReact(<PodList namespace={NAMESPACE} />);
  },
  everywhere() {
    return inReact(<PodList />);
  },
  rancher({ east }) {
    const store = createStore({
      modules: { cluster: kubeStore(east, { pod: { version: "v1", resource: "pods", namespace: NAMESPACE } }) },
    });
    const app = createApp(RancherPods);
    app.use(store).mount(root);
    globalThis.pages.store = store;
    return () => app.unmount();
  },
  freelens({ east }) {
    const context = observable({ contextNamespaces: [NAMESPACE] });
    const podStore = new KubeObjectStore(east.resource("pods"), FreelensPod, context);
    globalThis.pages.store = podStore;
    globalThis.pages.context = context;
    return inReact(<Pods podStore={podStore} />);
  },
};

/** The least number of rows that any frame has shown since it was last asked. */
let least = Infinity;
function look() {
  least = Math.min(least, document.querySelectorAll("tbody tr").length);
  requestAnimationFrame(look);
}
requestAnimationFrame(look);

let caches;
globalThis.pages = {
  probe,
  connect(servers) {
    caches = Object.fromEntries(Object.entries(servers).map(([name, url]) => [name, cacheOf(url)]));
    probe.use(caches);
  },
  start(way) {
    globalThis.pages.stop = ways[way](caches);
  },
  caches: () => caches,
  storeOf: () => storeOf(caches.east),
  leastRows() {
    const before = least;
    least = Infinity;
    return before;
  },
};
