// The leader of three etcd members is killed. How long it takes until a watcher hears of what is written afterwards: `watchcache/etcd` in
// Node, beside etcd's own Go client, on the same kill. Both watch through the member that dies.
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { startEtcdGo } from "../lib/etcd-go.mjs";
import { OURS } from "../lib/peers.mjs";
import { median, ratioOf } from "../lib/report.mjs";
import { EtcdCluster } from "../../tests/servers/harness/etcd-cluster.mjs";

const PLANS = { full: { rounds: 15 }, quick: { rounds: 2 } };
const GO = "etcd's Go client";
const PREFIX = "/recovery/";
const PATIENCE_MS = 60_000;

/** The member that leads, as soon as all that are asked agree on one. @param {EtcdCluster} etcd */
async function leaderOf(etcd) {
  for (const began = performance.now(); performance.now() - began < PATIENCE_MS; await sleep(50)) {
    const said = await Promise.all([0, 1, 2].map((member) => etcd.leader(member).catch(() => undefined)));
    if (said[0] !== undefined && new Set(said).size === 1) return said[0];
  }
  throw new Error("three members did not agree on a leader");
}

/** Puts a key at one of the members, until one takes it. @param {EtcdCluster} etcd @param {string} key @param {number[]} members */
async function putSomewhere(etcd, key, members) {
  const body = { key: Buffer.from(key).toString("base64"), value: Buffer.from("1").toString("base64") };
  for (let tries = 0; tries < 2_000; tries++) {
    try {
      await etcd.call("/v3/kv/put", body, members[tries % members.length], AbortSignal.timeout(500));
      return performance.now();
    } catch {
      await sleep(10);
    }
  }
  throw new Error("no member took a put");
}

/** Resolves with the time at which the key is told. */
class Heard {
  #waiting = new Map();
  count = 0;

  take(key) {
    this.count++;
    this.#waiting.get(key)?.(performance.now());
  }

  of(key) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${key} was not heard`)), PATIENCE_MS);
      this.#waiting.set(key, (at) => (clearTimeout(timer), resolve(at)));
    });
  }
}

/** @param {string[]} endpoints */
async function ours(endpoints) {
  const { createWatchCache } = await import("watchcache");
  const { etcdSource } = await import("watchcache/etcd");
  const heard = new Heard();
  const cache = createWatchCache({ flush: "microtask" });
  const resource = cache.resource({ source: etcdSource({ endpoints, prefix: PREFIX, WebSocket }), id: "keys" });
  await resource.synced();
  void resource.watch({ resourceVersion: resource.resourceVersion }).forEach(({ key }) => heard.take(key));
  return { heard, end: () => cache.close() };
}

/** @param {string} root @param {string[]} endpoints */
async function go(root, endpoints) {
  const heard = new Heard();
  const client = await startEtcdGo(root, ["watch", endpoints[0], PREFIX, endpoints.join()]);
  if ((await client.line()) !== "ready") throw new Error("the Go client did not open its watch");
  let ended = false;
  const reading = (async () => {
    while (!ended) heard.take((await client.line()).slice(PREFIX.length));
  })().catch(() => {});
  return { heard, end: async () => ((ended = true), await client.stop(), await reading) };
}

async function round(root, etcd, number) {
  const leader = await leaderOf(etcd);
  // The member that dies is the first of both, so each loses its connection.
  const endpoints = [0, 1, 2].map((at) => etcd.urls[(leader + at) % 3]);
  const watchers = { [OURS]: await ours(endpoints), [GO]: await go(root, endpoints) };
  try {
    const first = `before-${number}`;
    const warm = Object.values(watchers).map(({ heard }) => heard.of(first));
    await etcd.put(PREFIX + first, 1, leader);
    await Promise.all(warm);
    const key = `after-${number}`;
    const told = Object.entries(watchers).map(async ([name, { heard }]) => [name, await heard.of(key)]);
    const others = [0, 1, 2].filter((member) => member !== leader);
    const began = performance.now();
    await etcd.members[leader].kill();
    const taken = await putSomewhere(etcd, PREFIX + key, others);
    const times = Object.fromEntries(await Promise.all(told));
    return { taken: taken - began, ...Object.fromEntries(Object.entries(times).map(([name, at]) => [name, at - began])) };
  } finally {
    for (const { end } of Object.values(watchers)) await end();
    await etcd.members[leader].start();
  }
}

async function measure({ root, mode, say }) {
  const { rounds } = PLANS[mode];
  const etcd = await EtcdCluster.start({ members: 3 });
  const results = { [OURS]: { ms: [] }, [GO]: { ms: [] } };
  const takenMs = [];
  try {
    for (let number = 0; number < rounds; number++) {
      const times = await round(root, etcd, number);
      say(`a leader killed, ${number + 1} of ${rounds}: ${[OURS, GO].map((name) => `${name} ${Math.round(times[name])} ms`).join(", ")}`);
      for (const name of [OURS, GO]) results[name].ms.push(times[name]);
      takenMs.push(times.taken);
    }
  } finally {
    await etcd.stop();
  }
  for (const result of Object.values(results)) result.checksum = `${result.ms.length} kills, the next put heard`;
  return { takenMs, harnesses: results };
}

function lines({ takenMs, harnesses }) {
  const [a, b] = [harnesses[OURS].ms, harnesses[GO].ms];
  const ratios = a.map((ms, i) => ms / b[i]);
  const worst = ratios.indexOf(Math.max(...ratios));
  const what = "from the kill of etcd's leader to the next event";
  return [
    { what: `${what}, median`, unit: "ms", peer: GO, ours: median(a), theirs: median(b), ratio: ratioOf(a, b) },
    { what: `${what}, the worst round's ratio`, unit: "ms", peer: GO, ours: a[worst], theirs: b[worst], ratio: ratios[worst] },
    { what: `${what}, median`, unit: "ms", peer: "the put is taken", ours: median(a), theirs: median(takenMs), ratio: ratioOf(a, takenMs) },
  ];
}

export default { name: "recovery", measure, scenarios: (result) => ({ recovery: result }), lines };
