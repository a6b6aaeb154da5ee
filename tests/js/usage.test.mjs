// How long a resource is kept that nobody uses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Usage } from "../../dist/resource/usage.js";

const LINGER_MS = 5;

test("a use that ends after the close keeps nothing, and nobody hears of it", async () => {
  for (const [closes, heard] of [
    [false, ["idle"]],
    [true, []],
  ]) {
    const told = [];
    const usage = new Usage(
      LINGER_MS,
      () => told.push("idle"),
      () => told.push("evicted"),
    );
    const [first, last] = [usage.acquire(), usage.acquire()];
    first();
    if (closes) usage.close();
    last();
    last();
    usage.touch();
    await sleep(20 * LINGER_MS);
    assert.deepEqual(told, heard);
    usage.close();
  }
});
