// A TanStack DB collection, synced in one transaction a batch; a subscriber is a subscription to its changes with a `where`.
import { BTreeIndex, createCollection, createLiveQueryCollection, eq, not } from "@tanstack/db";
import { GROUP, keyOf } from "./object.js";
import { HIDDEN, ROWS } from "./rows.js";

/** A collection of pods, and what its sync was given. */
export async function podCollection(items) {
  let sync;
  const collection = createCollection({
    id: `pods-${Math.random()}`,
    getKey: keyOf,
    startSync: true,
    gcTime: 0,
    sync: { rowUpdateMode: "full", sync: (given) => void (sync = given) },
  });
  sync.begin();
  for (const text of items) sync.write({ type: "insert", value: JSON.parse(text) });
  sync.commit();
  sync.markReady();
  await collection.stateWhenReady();
  return { collection, sync };
}

/** Takes frames into a collection, one transaction a batch. */
export function intake({ collection, sync }) {
  let batch = [];
  return {
    take: (frame) => void batch.push(JSON.parse(frame)),
    flush() {
      sync.begin();
      for (const { type, object } of batch) {
        if (type === "DELETED") sync.write({ type: "delete", key: keyOf(object) });
        else sync.write({ type: collection.has(keyOf(object)) ? "update" : "insert", value: object });
      }
      sync.commit();
      batch = [];
    },
  };
}

/** A row as it was written, without what the collection tells of its state. */
export function plain(row) {
  return row && Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("$")));
}

export async function tanstack({ items }) {
  const pods = await podCollection(items);
  const { collection } = pods;
  const subscriptions = [];
  return {
    ...intake(pods),
    subscribe(group, hear) {
      const where = group === undefined ? {} : { where: (row) => eq(row.metadata.labels[GROUP], group) };
      const onChanges = (changes) => {
        for (const { key, value } of changes) hear(key, value.metadata.resourceVersion, value);
      };
      subscriptions.push(collection.subscribeChanges(onChanges, where));
    },
    /** A live query, with the index that its order wants. */
    async view(hear) {
      if (collection.indexes.size === 0) collection.createIndex((row) => row.status.startTime, { indexType: BTreeIndex });
      const live = createLiveQueryCollection({
        startSync: true,
        gcTime: 0,
        query: (q) =>
          q
            .from({ pod: collection })
            .where(({ pod }) => not(eq(pod.metadata.labels[GROUP], HIDDEN)))
            .orderBy(({ pod }) => pod.status.startTime, "desc")
            .limit(ROWS),
      });
      await live.stateWhenReady();
      hear(live.toArray);
      const subscription = live.subscribeChanges(() => hear(live.toArray));
      return async () => {
        subscription.unsubscribe();
        await live.cleanup();
      };
    },
    keys: () => [...collection.keys()],
    get: (key) => plain(collection.get(key)),
    async settled() {},
    close: () => subscriptions.forEach((subscription) => subscription.unsubscribe()),
  };
}
