// The server as the command line starts it: a process of its own, which is killed and started anew.
import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "./testing.mjs";

const SERVED = ["--pods", "5", "--rate", "0"];

test("a server that was started anew is ahead of all that it said before, and says 410 to it", async (t) => {
  const first = await command(["--port", "0", ...SERVED]);
  t.after(() => first.kill());
  const held = await list(first.url);
  await first.kill();
  const second = await command(["--port", new URL(first.url).port, ...SERVED]);
  t.after(() => second.kill());
  assert.equal(second.url, first.url);
  const fresh = await list(second.url);
  assert.ok(BigInt(fresh) > BigInt(held), `${fresh} after ${held}`);
  assert.ok(BigInt(fresh) < BigInt(Number.MAX_SAFE_INTEGER), "it still counts one by one");
  const watch = await fetch(`${second.url}/api/v1/pods?watch=true&resourceVersion=${held}`);
  const [event] = (await watch.text()).split("\n");
  assert.deepEqual([JSON.parse(event).type, JSON.parse(event).object.code], ["ERROR", 410]);
});

/** @param {string} url */
async function list(url) {
  const response = await fetch(`${url}/api/v1/pods`);
  const { metadata, items } = /** @type {any} */ (await response.json());
  assert.equal(items.length, 5);
  return metadata.resourceVersion;
}
