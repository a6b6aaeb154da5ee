/** What etcd has compacted, as `watchcache/etcd` tells it to a cache, on a real etcd. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import WebSocket from "ws";
import { createWatchCache } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  etcd = await EtcdCluster.start();
});
after(() => etcd?.stop());

const sourceOf = (/** @type {string} */ prefix, more = {}) =>
  etcdSource({ endpoints: etcd.url, prefix, WebSocket: /** @type {any} */ (WebSocket), ...more });
const told = (/** @type {any} */ source) => source.compactedResourceVersion(new AbortController().signal);

test("snp_09 etcd tells what it has compacted, also where the prefix itself is a key, with and without transactions", async () => {
  const [some, key, wide] = [sourceOf("/some/"), sourceOf("/key"), sourceOf("/some/", { transactions: true })];
  await etcd.put("/some/a", 1);
  await etcd.put("/key", 1);
  for (const source of [some, key, wide]) assert.equal(await told(source), "0");
  await etcd.put("/some/a", 2);
  for (let round = 0; round < 2; round++) {
    const revision = String(await etcd.revision());
    await etcd.compact();
    assert.equal(await told(some), revision);
    assert.equal(await told(some), revision, "said again");
    assert.equal(await told(key), revision);
    assert.equal(await told(wide), `${revision}999999999`);
    await etcd.put("/some/a", 3 + round);
  }
});

test("who gives the question up leaves no watch behind", async () => {
  let open = 0;
  class Counted extends WebSocket {
    constructor(/** @type {any[]} */ ...given) {
      super(.../** @type {[any]} */ (given));
      open++;
      this.once("close", () => open--);
    }
  }
  const source = /** @type {any} */ (sourceOf("/some/", { WebSocket: Counted }));
  const abort = new AbortController();
  const asked = source.compactedResourceVersion(abort.signal);
  abort.abort();
  await assert.rejects(asked);
  await told(source);
  const deadline = Date.now() + 5_000;
  while (open > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(open, 0);
});

test("snp_09 a list at a revision that etcd has compacted is 410, though the cache has seen that state", async (t) => {
  const cache = createWatchCache({ flush: "microtask", linger: 60_000 });
  t.after(() => cache.close());
  const source = sourceOf("/old/");
  let asks = 0;
  const keys = cache.resource({ source, id: "keys" });
  await etcd.put("/old/a", 1);
  await keys.synced();
  const old = keys.resourceVersion;
  await etcd.put("/old/b", 2);
  const exactly = (/** @type {string} */ resourceVersion) => keys.list({ resourceVersion, resourceVersionMatch: "Exact" });
  await keys.list();
  await etcd.compact();
  assert.equal((await exactly(old)).items.length, 1);
  for (const deadline = Date.now() + 40_000; Date.now() < deadline; asks++) {
    const refusal = await exactly(old).then(
      () => undefined,
      (error) => error,
    );
    if (refusal !== undefined) {
      assert.deepEqual([refusal.code, refusal.status.code], ["expired", 410]);
      assert.equal((await keys.list()).items.length, 2);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  assert.fail(`it was still served after ${asks} lists`);
});
