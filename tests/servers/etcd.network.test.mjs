/**
 * What stands between a page and etcd: the proxies of the end-to-end suite that drop, truncate, delay and cut, before a real etcd. Its scenarios themselves
 * write by the Kubernetes API. These are the ones that mean the same over etcd.
 */
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { init } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { Recorder, eventually } from "../e2e/cache.mjs";
import { follow, numbered } from "../e2e/cache/setup.mjs";
import { TroubledProxy } from "../e2e/proxy.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";
import { EtcdTraffic, openEtcd } from "./harness/etcd-client.mjs";
import { freePorts } from "./harness/processes.mjs";

const PODS = 20;

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  await init();
  etcd = await EtcdCluster.start();
});
after(() => etcd?.stop());

let prefixes = 0;

/** Pods as JSON, behind a proxy of their own. @param {import("node:test").TestContext} t */
async function behindProxy(t) {
  const proxy = await TroubledProxy.start(etcd.url);
  const traffic = new EtcdTraffic();
  const { fetch, WebSocket } = traffic;
  const prefix = `/network-${++prefixes}/`;
  const label = async (round) => {
    for (let i = 0; i < PODS; i++)
      await etcd.put(prefix + numbered(i), { metadata: { labels: { round: String(round) } }, spec: { nodeName: `node-${i}` } });
  };
  await label("none");
  const opened = openEtcd(t, { endpoints: proxy.url, prefix, fetch, WebSocket, timeoutMs: 3_000 });
  // After the cache, whose connections it has.
  t.after(() => proxy.close());
  const { resource } = opened;
  const hasRound = (round) => () => resource.peek(numbered(PODS - 1))?.metadata.labels.round === String(round);
  const assertIntegrity = async () => {
    const { keys } = await etcd.range(prefix);
    await eventually(
      () =>
        resource.size === keys.size &&
        [...keys].every(([key, kv]) => resource.peek(key.slice(prefix.length))?.metadata.resourceVersion === kv.mod_revision),
      "the state of etcd",
    );
    for (const [key, { value }] of keys) {
      const { metadata, ...rest } = resource.peek(key.slice(prefix.length));
      assert.deepEqual({ metadata: { labels: metadata.labels }, ...rest }, JSON.parse(Buffer.from(value, "base64").toString()));
    }
  };
  const lists = () => traffic.to("/kv/range").filter(({ body }) => !body.count_only).length;
  return { proxy, label, hasRound, assertIntegrity, lists, traffic, ...opened };
}

test("a proxy that drops connections all the time: nothing is lost, doubled or out of order", async (t) => {
  const { proxy, resource, label, hasRound, assertIntegrity, lists, traffic } = await behindProxy(t);
  await resource.synced();
  const rows = follow(resource);
  const seen = new Recorder(resource.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }));
  for (let round = 0; round < 15; round++) {
    await label(round);
    await eventually(hasRound(round), () => `round ${round}`);
    proxy.drop();
  }
  await seen.count(15 * PODS);
  await assertIntegrity();
  assert.equal(seen.events.length, 15 * PODS);
  seen.assertGrowing();
  assert.equal(lists(), 1, "a lost connection needs no list");
  assert.ok(traffic.sockets.length > 10, "and there were many");
  assert.ok(
    rows.states.every((state) => state.size === 0 || state.size === PODS),
    "no row went away",
  );
  await seen.stop();
  rows.stop();
});

test("a proxy that truncates what it passes on: no half of a message is taken", async (t) => {
  const { proxy, resource, label, hasRound, assertIntegrity } = await behindProxy(t);
  await resource.synced();
  for (let round = 0; round < 8; round++) {
    proxy.behaviour = { truncateAt: 900 + 777 * round };
    proxy.drop();
    await label(round);
    proxy.behaviour = {};
    proxy.drop();
    await eventually(hasRound(round), () => `round ${round}: ${resource.status.phase} ${resource.status.error}`);
  }
  await assertIntegrity();
  assert.equal(resource.stats().quarantined ?? 0, 0);
});

test("a proxy that delays every piece and cuts what lasts: live again and again, and whole", async (t) => {
  const { proxy, resource, label, hasRound, assertIntegrity, lists } = await behindProxy(t);
  proxy.behaviour = { delayMs: 60, cutAfterMs: 700 };
  await resource.synced();
  for (let round = 0; round < 6; round++) {
    await label(round);
    await eventually(hasRound(round), () => `round ${round}: ${resource.status.phase} ${resource.status.error}`);
  }
  proxy.behaviour = {};
  await assertIntegrity();
  assert.ok(lists() <= 3, `${lists()} lists`);
});

test("a proxy that lets a list trickle: it ends and is told, and the next one loads", async (t) => {
  const proxy = await TroubledProxy.start(etcd.url);
  const prefix = `/network-${++prefixes}/`;
  for (let i = 0; i < PODS; i++) await etcd.put(prefix + numbered(i), { spec: {} });
  // All of it would take a minute.
  proxy.behaviour = { trickleMs: 20 };
  const options = { endpoints: proxy.url, prefix, timeoutMs: 100, WebSocket: /** @type {any} */ (WebSocket) };
  const { resource } = openEtcd(t, options);
  t.after(() => proxy.close());
  const { signal } = new AbortController();
  const alone = etcdSource(options).list({ limit: 500 }, signal);
  await assert.rejects(Promise.race([alone, sleep(10_000)]), /etcd has not sent its whole answer within 6 seconds/);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  await eventually(() => resource.status.error, "an error");
  assert.match(resource.status.error.message, /etcd has not sent its whole answer within 6 seconds/);
  proxy.behaviour = {};
  await resource.synced();
  assert.equal(resource.size, PODS);
});

test("a signal that outlives its requests keeps nothing of them, also where a member is passed over", async () => {
  const [port] = await freePorts(1);
  const prefix = `/network-${++prefixes}/`;
  await etcd.put(`${prefix}a`, { spec: {} });
  const make = () => etcdSource({ endpoints: [`http://127.0.0.1:${port}`, etcd.url], prefix, WebSocket: /** @type {any} */ (WebSocket) });
  const { signal } = new AbortController();
  await make().list({}, signal);
  await make().get({ name: "a" }, signal);
  await assert.rejects(make().get({ name: "b" }, signal));
  const version = await make().currentResourceVersion(signal);
  await make().update({ name: "a", body: JSON.stringify({ metadata: { name: "a" }, spec: { size: 1 } }) }, signal);
  for await (const _ of make().watch({ resourceVersion: version, allowWatchBookmarks: true, timeoutSeconds: 60 }, signal)) break;
  assert.equal(getEventListeners(signal, "abort").length, 0);
});
