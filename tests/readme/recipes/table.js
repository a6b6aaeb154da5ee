// A table in Vue, with a filter.
import { h, ref } from "vue";
import { useView } from "recipes/use-view.js";

export const Table = {
  props: ["resource"],
  setup({ resource }) {
    const filter = ref("app=a");
    const { view, snapshot } = useView(resource, () => ({
      labelSelector: filter.value,
      orderBy: [{ path: "metadata.name", as: "natural" }],
      window: { offset: 0, limit: 3 },
    }));
    return () => [
      h("input", { value: filter.value, onInput: ({ target }) => (filter.value = target.value) }),
      h("button", { onClick: () => view.value.setWindow({ offset: 1, limit: 3 }) }),
      h("p", `${snapshot.value.loaded} ${snapshot.value.total}: ${snapshot.value.keys.join(" ")}`),
    ];
  },
};
