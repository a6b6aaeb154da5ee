/** The checker of `etcd.cluster.test.mjs` finds what it is there for: in a history that keeps all nine promises each is broken in turn. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenPromises } from "./harness/etcd-history.mjs";

/** @type {import("./harness/etcd-history.mjs").Change[]} */
const HISTORY = [
  { revision: 2n, key: "a", value: { n: 1 }, before: undefined },
  { revision: 3n, key: "b", value: { n: 2 }, before: undefined },
  { revision: 4n, key: "a", value: { n: 4 }, before: { n: 1 } },
  { revision: 5n, key: "a", value: undefined, before: { n: 4 } },
  { revision: 6n, key: "c", value: { n: 6 }, before: undefined },
  { revision: 6n, key: "b", value: { n: 7 }, before: { n: 2 } },
];
const event = (type, key, revision, place, n) => ({ type, key, resourceVersion: `${revision}00000000${place}`, object: { value: { n } } });
const bookmark = (revision) => ({ type: "BOOKMARK", key: "", resourceVersion: `${revision}999999999`, object: {} });
const TOLD = [
  event("ADDED", "b", 3, 1, 2),
  bookmark(3),
  event("MODIFIED", "a", 4, 1, 4),
  event("DELETED", "a", 5, 1, 4),
  event("ADDED", "c", 6, 1, 6),
  event("MODIFIED", "b", 6, 2, 7),
  bookmark(6),
];
const judge = (events, selects = (_) => true) => brokenPromises({ events, from: "2999999999" }, HISTORY, { transactions: true, selects });
const without = (...at) => TOLD.filter((_, i) => !at.includes(i));
const changed = (at, more) => TOLD.map((one, i) => (i === at ? { ...one, ...more } : one));

test("what keeps all promises breaks none", () => {
  assert.deepEqual(judge(TOLD), []);
  const even = [
    event("ADDED", "b", 3, 1, 2),
    event("ADDED", "a", 4, 1, 4),
    event("DELETED", "a", 5, 1, 4),
    event("ADDED", "c", 6, 1, 6),
    event("DELETED", "b", 6, 2, 2),
  ];
  assert.deepEqual(
    judge(even, ({ n }) => n % 2 === 0),
    [],
  );
});

for (const [promise, events] of Object.entries({
  ordered: [TOLD[0], TOLD[1], TOLD[3], TOLD[2], ...TOLD.slice(4)],
  unique: [...TOLD.slice(0, 3), TOLD[2], ...TOLD.slice(3)],
  reliable: without(2, 6),
  atomic: without(4, 6),
  resumable: [...TOLD.slice(0, 2), { ...TOLD[0], key: "z" }, ...TOLD.slice(2)],
  bookmarkable: without(0),
  filterable: [...TOLD.slice(0, 2), event("ADDED", "x", 4, 0, 1), ...TOLD.slice(2)],
  prev_value: changed(3, { object: { value: { n: 5 } } }),
  validity: [...TOLD, event("MODIFIED", "a", 7, 1, 1)],
}))
  test(`${promise} is missed where it is broken`, () => {
    const broken = judge(events);
    assert.ok(
      broken.some((text) => text.startsWith(`${promise}:`)),
      broken.join(),
    );
  });
