// One stream of parsed events, shared; a subscriber is a filter on it.
import { filter, map, share, startWith, Subject, tap } from "rxjs";
import { isOf, keyOf } from "./object.js";
import { topRows } from "./rows.js";

export async function rxjs({ items }) {
  const objects = new Map(items.map((text) => JSON.parse(text)).map((object) => [keyOf(object), object]));
  const frames = new Subject();
  const ends = new Subject();
  const events = frames.pipe(
    map((frame) => JSON.parse(frame)),
    map(({ type, object }) => ({ type, object, key: keyOf(object) })),
    tap(({ type, key, object }) => void (type === "DELETED" ? objects.delete(key) : objects.set(key, object))),
    share(),
  );
  const subscriptions = [events.subscribe()];
  return {
    take: (frame) => frames.next(frame),
    flush: () => ends.next(),
    subscribe(group, hear) {
      const matches = isOf(group);
      const mine = events.pipe(filter(({ object }) => matches(object)));
      subscriptions.push(mine.subscribe(({ key, object }) => hear(key, object.metadata.resourceVersion, object)));
    },
    view(hear) {
      const rows = ends
        .pipe(
          startWith(undefined),
          map(() => topRows(objects.values())),
        )
        .subscribe(hear);
      return () => rows.unsubscribe();
    },
    keys: () => [...objects.keys()],
    get: (key) => objects.get(key),
    async settled() {},
    close: () => subscriptions.forEach((subscription) => subscription.unsubscribe()),
  };
}
