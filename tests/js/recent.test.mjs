// A map that gives its oldest value. Frames and decoded versions are kept within bounds by it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Recent } from "../../dist/language/recent.js";

/** Keys and values from the oldest on, each by the step from the one before. */
function inOrder(recent) {
  const entries = [];
  for (let entry = recent.oldest; entry !== undefined; entry = entry.newer) entries.push([entry.key, entry.value]);
  return entries;
}

test("whatever is put and deleted, it holds and orders what a Map does", () => {
  const recent = new Recent();
  const model = new Map();
  let seed = 7;
  const below = (bound) => (seed = (Math.imul(seed, 48_271) >>> 0) % 0x7fff_ffff) % bound;
  for (let step = 0; step < 20_000; step++) {
    const key = below(12);
    if (below(3) > 0) {
      recent.put(key, step);
      model.delete(key);
      model.set(key, step);
    } else {
      assert.equal(recent.delete(key), model.delete(key));
    }
    if (below(2_000) === 0) {
      recent.clear();
      model.clear();
    }
    assert.equal(recent.size, model.size);
    assert.deepEqual(inOrder(recent), [...model]);
    assert.equal(recent.get(key), model.get(key));
    assert.equal(recent.has(key), model.has(key));
  }
});

test("what is deleted on a walk from the oldest on does not end the walk", () => {
  const recent = new Recent();
  for (const key of [1, 2, 3, 4]) recent.put(key, key);
  for (let { oldest } = recent; oldest !== undefined && oldest.key < 4; oldest = oldest.newer) recent.delete(oldest.key);
  assert.deepEqual(inOrder(recent), [[4, 4]]);
});
