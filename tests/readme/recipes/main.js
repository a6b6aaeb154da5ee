// Both tables, over the same resource. A mount gives what unmounts it.
import { mount, unmount } from "svelte";
import { createApp } from "vue";
import { cache } from "recipes/cache.js";
import { Table } from "./table.js";
import SvelteTable from "./Table.svelte";

const resource = cache.resource("configmaps");
const ways = {
  vue() {
    const app = createApp(Table, { resource });
    app.mount("#vue");
    return () => app.unmount();
  },
  svelte() {
    const app = mount(SvelteTable, { target: document.querySelector("#svelte"), props: { resource } });
    return () => void unmount(app);
  },
};
let unmountIt;
globalThis.recipes = {
  cache,
  resource,
  mount: (way) => void (unmountIt = ways[way]()),
  unmount: () => unmountIt(),
};
