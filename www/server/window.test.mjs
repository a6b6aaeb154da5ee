// The history of one resource: what it keeps, by count, by time and by bytes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventWindow } from "./window.mjs";

/** A window and a clock. @param {import("./window.mjs").WindowBounds} [bounds] */
function windowAt(bounds = {}) {
  let now = 1_000_000;
  let version = 0;
  const events = new EventWindow(bounds, 0, () => now);
  return {
    events,
    /** So many changes, so many milliseconds apart, each of so many bytes. @param {number} count @param {number} apart @param {number} [bytes] */
    change(count, apart, bytes = 0) {
      const previous = /** @type {any} */ ({ bytes: { length: bytes } });
      for (let index = 0; index < count; index += 1) {
        now += apart;
        version += 1;
        events.append({ version, key: "a", current: previous, previous, last: null });
      }
    },
    get version() {
      return version;
    },
  };
}

test("it grows while it is full of fresh events, and holds 75 seconds of them", () => {
  const at = windowAt();
  at.change(99, 1);
  assert.equal(at.events.capacity, 100);
  for (const apart of [1, 5, 50]) {
    at.change(200_000 / apart, apart);
    const { length, capacity } = at.events;
    assert.ok(length * apart >= 75_000 && capacity <= 4 * (75_000 / apart), `${apart} ms: ${length} of ${capacity}`);
    assert.ok(at.events.covers(at.version - 75_000 / apart) && !at.events.covers(at.version - capacity - 1));
  }
  // It shrinks by halves where a quarter of it would do, and never below the least.
  at.change(5_000, 10_000);
  assert.equal(at.events.capacity, 100);
  assert.equal(at.events.length, 100);
  assert.equal(at.events.at(at.events.end - 1).version, at.version);
});

test("it never holds more than 102,400 events, however fresh", () => {
  const at = windowAt({ historyBytes: Infinity });
  at.change(300_000, 0);
  assert.deepEqual([at.events.capacity, at.events.length], [102_400, 102_400]);
});

test("within a bound of bytes", () => {
  const at = windowAt({ historyBytes: 1_000_000 });
  at.change(1_000, 1, 10_000 - 2_048);
  assert.equal(at.events.length, 100);
  assert.equal(at.events.bytes, 1_000_000);
  assert.throws(() => at.events.after(at.version - 101), /too old resource version/);
  assert.equal(at.events.after(at.version - 100), at.events.first);
  at.change(1, 1, 5_000_000); // which is never let go before it was told
  assert.deepEqual([at.events.length, at.events.covers(at.version - 1)], [1, true]);
  at.change(1, 1, 10);
  assert.deepEqual([at.events.length, at.events.bytes], [1, 10 + 2_048]);
});

test("a number that is pinned is kept, in time and in bytes", () => {
  const at = windowAt({ history: 7, historyBytes: 1 });
  at.change(1_000, 1, 5_000);
  assert.deepEqual([at.events.capacity, at.events.length], [7, 7]);
  at.events.reset(at.version);
  assert.deepEqual([at.events.length, at.events.bytes, at.events.oldest], [0, 0, at.version]);
  at.change(3, 100_000, 5_000);
  assert.deepEqual([at.events.capacity, at.events.length], [7, 3]);
});
