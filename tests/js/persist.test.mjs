// What keeping a state refuses, and a host without storage: the rest is in tests/browser/persist.test.mjs and tests/conformance/cache/persist.rs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache, forgetPersisted } from "watchcache";
import { startServer } from "../../www/server/index.mjs";

test("what cannot be kept is invalid at once, with what to do", async () => {
  for (const [options, message] of [
    [{ persist: {} }, /^identity is missing: with `persist` what one user saw is kept, so say who this one is/],
    [{ persist: true, identity: "jane" }, /persist is an object/],
    [{ persist: { resources: "pods" }, identity: "jane" }, /persist\.resources/],
    [{ persist: { resources: [""] }, identity: "jane" }, /persist\.resources/],
    [{ persist: { maxBytes: -1 }, identity: "jane" }, /persist\.maxBytes/],
    [{ persist: { maxAge: 5 }, identity: "jane" }, /maxAge/],
  ])
    assert.throws(() => createWatchCache(options), { code: "invalid", message });
  for (const identity of [undefined, "", 5])
    await assert.rejects(forgetPersisted(identity), { code: "invalid", message: /takes an identity/ });
});

test("a host without storage lists, says so once however many resources there are, and has nothing to forget", async (t) => {
  const server = await startServer({ port: 0, pods: 3, rate: 0 });
  t.after(() => server.close());
  const warned = [];
  const logger = { ...console, warn: (text) => warned.push(text) };
  const cache = createWatchCache({ server: server.url, identity: "jane", persist: {}, logger });
  t.after(() => cache.close());
  const [pods, nodes] = [cache.resource("pods"), cache.resource("nodes")];
  await Promise.all([pods.synced(), nodes.synced()]);
  assert.deepEqual([pods.size, pods.status.stale], [3, false]);
  assert.deepEqual(warned, ["watchcache: what is held is not kept for the next start: this host has no IndexedDB"]);
  await forgetPersisted("jane");
});

test("a storage that never answers fails what forgets after ten seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const given = Object.getOwnPropertyDescriptor(globalThis, "indexedDB");
  Object.defineProperty(globalThis, "indexedDB", { value: { open: () => ({}) }, configurable: true });
  t.after(() => (given === undefined ? delete globalThis.indexedDB : Object.defineProperty(globalThis, "indexedDB", given)));
  let error;
  forgetPersisted("jane").catch((thrown) => (error = thrown));
  t.mock.timers.tick(9_999);
  await Promise.resolve();
  assert.equal(error, undefined);
  t.mock.timers.tick(1);
  for (let i = 0; i < 10; i++) await Promise.resolve();
  assert.equal(error?.code, "timeout");
  assert.match(error.message, /has not answered for 10 seconds, and may still have what was kept/);
});
