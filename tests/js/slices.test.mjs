// A host runs all microtasks before it does anything else. So bytes that are there already are read in slices, and the host has its turn
// between them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";

const object = (number, note) => ({
  metadata: { name: `p${number}`, namespace: "d", resourceVersion: String(11 + number), annotations: { note } },
});

// The sources are object literals, because the tests count how often the core asks for more. A memorySource has everything at hand.

/** Counts how often something happens between two turns of the host. */
function countTurns() {
  let turn;
  let inThis = 0;
  const counts = { most: 0, all: 0 };
  const beat = () => {
    inThis = 0;
    turn = setImmediate(beat);
  };
  beat();
  return {
    counts,
    happens() {
      counts.all++;
      counts.most = Math.max(counts.most, ++inThis);
    },
    stop: () => clearImmediate(turn),
  };
}

const forever = (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve));

test("a list of which every byte is there leaves the host its turns", async () => {
  const items = Array.from({ length: 30_000 }, (_, number) => object(number, "x, ".repeat(300)));
  const bytes = new TextEncoder().encode(JSON.stringify({ metadata: { resourceVersion: "50000" }, items }));
  const turns = countTurns();
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      turns.happens();
      controller.enqueue(bytes.slice(at, at + 16_384));
      at += 16_384;
      if (at >= bytes.length) controller.close();
    },
  });
  const cache = createWatchCache();
  try {
    const source = {
      list: async () => ({ body }),
      watch: async function* (_request, signal) {
        yield* [];
        await forever(signal);
      },
    };
    const resource = cache.resource({ source, id: "list" });
    await resource.synced();
    assert.equal(resource.size, items.length);
    assert.ok(turns.counts.most < turns.counts.all / 3, JSON.stringify(turns.counts));
  } finally {
    turns.stop();
    await cache.close();
  }
});

test("frames that are all there leave the host its turns", async () => {
  const frames = Array.from({ length: 200 }, (_, number) =>
    JSON.stringify({ type: "ADDED", object: object(number, 'x, "y"'.repeat(50_000)) }),
  );
  const turns = countTurns();
  const source = {
    list: async () => ({ body: JSON.stringify({ metadata: { resourceVersion: "10" }, items: [] }) }),
    async *watch(_request, signal) {
      for (const frame of frames) {
        turns.happens();
        yield frame;
      }
      await forever(signal);
    },
  };
  const cache = createWatchCache();
  try {
    const resource = cache.resource({ source, id: "frames" });
    const heard = [];
    for await (const { key } of resource.watch({ resourceVersion: "10" })) if (heard.push(key) === frames.length) break;
    assert.ok(turns.counts.most < turns.counts.all / 3, JSON.stringify(turns.counts));
  } finally {
    turns.stop();
    await cache.close();
  }
});
