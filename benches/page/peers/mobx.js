// An observable map of plain objects, changed in one action a batch, as Freelens keeps its stores; a subscriber observes the map.
import { computed, observable, observe, reaction, runInAction } from "mobx";
import { isOf, keyOf } from "./object.js";
import { topRows } from "./rows.js";

export async function mobx({ items }) {
  const objects = observable.map(
    items.map((text) => JSON.parse(text)).map((object) => [keyOf(object), object]),
    { deep: false },
  );
  const ends = [];
  let batch = [];
  return {
    take: (frame) => void batch.push(JSON.parse(frame)),
    flush() {
      runInAction(() => {
        for (const { type, object } of batch) {
          if (type === "DELETED") objects.delete(keyOf(object));
          else objects.set(keyOf(object), object);
        }
      });
      batch = [];
    },
    subscribe(group, hear) {
      const matches = isOf(group);
      const listener = ({ name, newValue, oldValue }) => {
        const object = newValue ?? oldValue;
        if (matches(object)) hear(name, object.metadata.resourceVersion, object);
      };
      ends.push(observe(objects, listener));
    },
    view(hear) {
      const rows = computed(() => topRows(objects.values()));
      return reaction(() => rows.get(), hear, { fireImmediately: true });
    },
    keys: () => [...objects.keys()],
    get: (key) => objects.get(key),
    async settled() {},
    close: () => ends.forEach((end) => end()),
  };
}
