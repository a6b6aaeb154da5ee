// What everybody writes by hand: parse, keep the newest by name, ask each subscriber's predicate.
import { isOf, keyOf } from "./object.js";
import { topRows } from "./rows.js";

export async function map({ items }) {
  const objects = new Map();
  const subscribers = [];
  let hearRows;
  for (const text of items) {
    const object = JSON.parse(text);
    objects.set(keyOf(object), object);
  }
  return {
    take(frame) {
      const { type, object } = JSON.parse(frame);
      const key = keyOf(object);
      if (type === "DELETED") objects.delete(key);
      else objects.set(key, object);
      for (const { matches, hear } of subscribers) {
        if (matches(object)) hear(key, object.metadata.resourceVersion, object);
      }
    },
    flush: () => hearRows?.(topRows(objects.values())),
    subscribe: (group, hear) => void subscribers.push({ matches: isOf(group), hear }),
    view(hear) {
      hear(topRows(objects.values()));
      hearRows = hear;
      return () => void (hearRows = undefined);
    },
    keys: () => [...objects.keys()],
    get: (key) => objects.get(key),
    async settled() {},
    close() {},
  };
}
