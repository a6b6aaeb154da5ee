// An immutable map of immutable objects, as the reducer of OpenShift's console keeps it. Each object is converted deeply and compared with
// the one before. It is set when it differs in more than its version. Batches are applied at once, and subscribers are given what changed.
import { fromJS, Map as ImmutableMap } from "immutable";
import { GROUP, keyOf } from "./object.js";
import { HIDDEN, ROWS } from "./rows.js";

const VERSION = ["metadata", "resourceVersion"];

export async function immutable({ items }) {
  let state = ImmutableMap(items.map((text) => JSON.parse(text)).map((object) => [keyOf(object), fromJS(object)]));
  const subscribers = [];
  let hearRows;
  const started = (object) => object.getIn(["status", "startTime"]);
  const rows = () =>
    state
      .valueSeq()
      .filter((object) => object.getIn(["metadata", "labels", GROUP]) !== HIDDEN)
      .sort((a, b) => (started(a) < started(b) ? 1 : -1))
      .take(ROWS)
      .map((object) => object.toJS())
      .toArray();
  let batch = [];
  return {
    take: (frame) => void batch.push(JSON.parse(frame)),
    flush() {
      const changed = [];
      state = state.withMutations((next) => {
        for (const { type, object } of batch) {
          const key = keyOf(object);
          const value = fromJS(object);
          if (type === "DELETED") next.delete(key);
          else {
            // The console keeps the old object when nothing but the version is new. All changes count here, so it is compared and set.
            next.get(key)?.deleteIn(VERSION).equals(value.deleteIn(VERSION));
            next.set(key, value);
          }
          changed.push([key, value]);
        }
      });
      batch = [];
      for (const [key, value] of changed) {
        for (const { group, hear } of subscribers) {
          if (group !== undefined && value.getIn(["metadata", "labels", GROUP]) !== group) continue;
          hear(key, value.getIn(VERSION), value);
        }
      }
      hearRows?.(rows());
    },
    subscribe: (group, hear) => void subscribers.push({ group, hear }),
    view(hear) {
      hear(rows());
      hearRows = hear;
      return () => void (hearRows = undefined);
    },
    keys: () => [...state.keys()],
    get: (key) => state.get(key).toJS(),
    async settled() {},
    close() {},
  };
}
