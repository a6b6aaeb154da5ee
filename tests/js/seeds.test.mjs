// Tabs that were opened together must not do everything together.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

/** The waits between two looks after bookmarks and deadlines, as an instance of its own draws them. */
async function ticks() {
  const worker = new Worker(new URL("./lib/ticks.mjs", import.meta.url));
  const [waits] = await once(worker, "message");
  await worker.terminate();
  return waits;
}

test("what is drawn at random differs from instance to instance", async () => {
  const drawn = await Promise.all([ticks(), ticks(), ticks()]);
  assert.equal(new Set(drawn.map(String)).size, 3, `the same everywhere: ${drawn[0]}`);
});
