/**
 * `watchcache/etcd` on a cluster of three: members that are paused, lose their leader, or die. At the end a storm: under load the leader is killed again and
 * again, and members are paused in turn. Every history that was told is held against etcd's nine promises.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { init } from "watchcache";
import { Recorder, eventually } from "../e2e/cache.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";
import { EtcdTraffic, openEtcd } from "./harness/etcd-client.mjs";
import { brokenPromises, historyOf } from "./harness/etcd-history.mjs";
import { freePorts } from "./harness/processes.mjs";

const ROUNDS = Number(process.env.ROUNDS ?? (process.env.MATRIX === "all" ? 20 : 5));
const HEARTBEAT_MS = 400;
const TIMEOUT_MS = 1_000;

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  await init();
  etcd = await EtcdCluster.start({ members: 3 });
});
after(() => etcd?.stop());

let prefixes = 0;
/** A cache that asks this member first. @param {import("node:test").TestContext} t @param {number} first */
function open(t, first, more = {}) {
  const traffic = new EtcdTraffic();
  const { fetch, WebSocket } = traffic;
  const prefix = `/cluster-${++prefixes}/`;
  const endpoints = [0, 1, 2].map((at) => etcd.urls[(first + at) % 3]);
  const options = { endpoints, prefix, heartbeatMs: HEARTBEAT_MS, timeoutMs: TIMEOUT_MS, fetch, WebSocket, ...more };
  return { prefix, traffic, ...openEtcd(t, options) };
}

const live = (resource) =>
  eventually(
    () => resource.status.phase === "live",
    () => `live, not ${resource.status.phase} ${resource.status.error}`,
  );
/** Where the newest watch is. @param {EtcdTraffic} traffic */
const watched = (traffic) => etcd.urls.indexOf(new URL(traffic.sockets.at(-1).url.replace("ws", "http")).origin);

/** Does it at one member after the other, until one takes it. @template T @param {(member: number) => Promise<T>} what */
async function somewhere(what) {
  for (let tries = 0; ; tries++) {
    try {
      return await what(tries % 3);
    } catch (error) {
      if (tries > 200) throw error;
      await sleep(50);
    }
  }
}

test("an endpoint where nobody listens is passed over, by lists, watches and writes", async (t) => {
  const [port] = await freePorts(1);
  const { resource, prefix, traffic } = open(t, 0, { endpoints: [`http://127.0.0.1:${port}`, ...etcd.urls] });
  await resource.synced();
  await live(resource);
  await resource.create({ metadata: { name: "a" }, value: 1 });
  await etcd.put(`${prefix}b`, 2, 2);
  await eventually(() => resource.peek("b"), "what another member was told");
  assert.equal(watched(traffic), 0);
  assert.equal(traffic.asked.filter(({ url }) => url.includes(`:${port}/`)).length, 1, "it is not asked again");
});

test("a quiet watch is asked for a sign of life, and stays", async (t) => {
  const { resource, traffic, prefix } = open(t, 1, { heartbeatMs: 200 });
  const sent = [];
  await resource.synced();
  await eventually(() => traffic.sockets[0]?.socket.readyState === 1, "the watch");
  await sleep(50);
  // Until there is a revision that it could have missed, etcd does not answer it.
  await sleep(500);
  assert.equal(traffic.sockets.length, 1);
  await etcd.put("/elsewhere", 1);
  const { socket } = traffic.sockets[0];
  const send = socket.send.bind(socket);
  socket.send = (data) => (sent.push(String(data)), send(data));
  const asked = traffic.asked.length;
  await sleep(1_500);
  assert.ok(sent.length >= 2 && sent.every((text) => text === '{"progress_request":{}}'), sent.join());
  const beats = traffic.asked.slice(asked);
  assert.ok(
    beats.length >= 2 && beats.every(({ body, url }) => body.count_only && url.startsWith(etcd.urls[1])),
    "its own member is asked",
  );
  assert.equal(traffic.sockets.length, 1);
  await etcd.put(`${prefix}a`, 1);
  await eventually(() => resource.peek("a"), "what follows");
});

test("a member that is paused: the watch goes on at another one, and nothing is missed", async (t) => {
  const { resource, traffic, prefix } = open(t, 2);
  await resource.synced();
  await live(resource);
  assert.equal(watched(traffic), 2);
  etcd.members[2].pause();
  t.after(() => etcd.members[2].resume());
  for (let i = 0; i < 5; i++) await somewhere((member) => etcd.put(`${prefix}key-${i}`, i, member % 2));
  await eventually(() => resource.size === 5, "what was put meanwhile");
  assert.notEqual(watched(traffic), 2);
});

test("no leader: rows stay, writes are refused, and all goes on when there is one", async (t) => {
  const { resource, prefix } = open(t, 0);
  await somewhere((member) => etcd.put(`${prefix}a`, 1, member));
  await resource.synced();
  await live(resource);
  await Promise.all([etcd.members[1].kill(), etcd.members[2].kill()]);
  const lost = await eventually(() => resource.status.phase !== "live" && resource.status.error && resource.status, "that it is told");
  assert.equal(lost.phase, "reconnecting");
  assert.match(lost.error.code, /^(network|unavailable|timeout)$/);
  await assert.rejects(resource.create({ metadata: { name: "b" }, value: 2 }), ({ code }) => /^(network|unavailable|timeout)$/.test(code));
  assert.equal(resource.size, 1);
  await Promise.all([etcd.members[1].start(), etcd.members[2].start()]);
  await somewhere((member) => etcd.put(`${prefix}c`, 3, member));
  await eventually(() => resource.peek("c"), "what follows");
  await live(resource);
});

/** Changes keys until it is stopped. What it was answered does not matter: etcd's own history says what happened. */
class Load {
  done = 0;
  failed = 0;
  #stopped = false;

  /** @param {string} prefix @param {boolean} transactions @param {number} writers */
  constructor(prefix, transactions, writers) {
    this.running = Promise.all(Array.from({ length: writers }, (_, writer) => this.#write(prefix, transactions, writer)));
  }

  async #write(prefix, transactions, writer) {
    let member = writer;
    for (let n = 0; !this.#stopped; n++) {
      const keys = Array.from({ length: transactions ? 1 + (n % 4) : 1 }, (_, i) => `${prefix}${(writer * 7 + n * 5 + i * 3) % 40}`);
      const changes = keys.map((key, i) => [key, (n + i) % 5 === 4 ? undefined : { writer, n, even: (writer + n + i) % 2 === 0 }]);
      try {
        await etcd.txn(Object.fromEntries(changes), member % 3, AbortSignal.timeout(1_500));
        this.done++;
      } catch {
        this.failed++;
        member++;
      }
      await sleep(30);
    }
  }

  async stop() {
    this.#stopped = true;
    await this.running;
  }
}

/** Watches from a version, stops now and then, and goes on behind what it heard last. */
class Wanderer {
  /** @type {Recorder["events"]} */
  events = [];
  stops = 0;
  #stopped = false;

  constructor(resource) {
    this.from = resource.resourceVersion;
    this.running = this.#wander(resource);
  }

  async #wander(resource) {
    for (let from = this.from; !this.#stopped; this.stops++) {
      const watcher = resource.watch({ resourceVersion: from, allowWatchBookmarks: true });
      this.stop = () => ((this.#stopped = true), watcher.stop(), this.running);
      const until = this.events.length + 20 + ((this.stops * 37) % 60);
      for await (const { type, key, resourceVersion, object } of watcher) {
        this.events.push({ type, key, resourceVersion, object });
        from = resourceVersion;
        if (this.events.length >= until) break;
      }
    }
  }
}

test("a storm: nothing is lost, doubled or out of order", { timeout: 600_000 }, async (t) => {
  const told = [];
  const opened = [0, 1, 2].flatMap((first) =>
    [false, true].map((transactions) => ({ transactions, ...open(t, first, { transactions, prefix: transactions ? "/many/" : "/one/" }) })),
  );
  await Promise.all(opened.map(({ resource }) => resource.synced()));
  await Promise.all(opened.map(({ resource }) => live(resource)));
  /** @type {string[]} */
  const relists = [];
  for (const { resource, transactions } of opened) {
    resource.addEventListener("relist", ({ detail }) => relists.push(String(detail.cause?.message ?? JSON.stringify(detail))));
    const from = resource.resourceVersion;
    const watch = { resourceVersion: from, bufferSize: 100_000 };
    const even = { ...watch, fieldSelector: "value.even=true" };
    told.push({ transactions, from, recorder: new Recorder(resource.watch({ ...watch, allowWatchBookmarks: true })) });
    told.push({ transactions, from, recorder: new Recorder(resource.watch(even)), selects: ({ even }) => even });
    told.push({ transactions, from, wanderer: new Wanderer(resource) });
  }
  const loads = [new Load("/one/", false, 3), new Load("/many/", true, 2)];
  const done = () => loads.reduce((sum, load) => sum + load.done, 0);
  const more = async (count) => {
    const before = done();
    await eventually(() => done() >= before + count, "writes that are taken");
  };

  await more(20);
  for (let round = 0; round < ROUNDS; round++) {
    const leader = await somewhere(async (member) => {
      const at = await etcd.leader(member);
      if (at === undefined) throw new Error("nobody leads");
      return at;
    });
    await etcd.members[leader].kill();
    await more(20);
    await etcd.members[leader].start();
    const paused = etcd.members[round % 3];
    paused.pause();
    await sleep(HEARTBEAT_MS + TIMEOUT_MS + 300);
    paused.resume();
    await more(20);
  }
  for (const load of loads) await load.stop();
  await Promise.all(etcd.members.map(({ spec }) => eventually(() => spec.ready().catch(() => false), `${spec.name}`)));

  const truths = {};
  for (const prefix of ["/one/", "/many/"]) {
    const { keys } = await somewhere((member) => etcd.range(prefix, member));
    // Its end, of which all are told.
    const last = await somewhere((member) => etcd.put(`${prefix}end`, { even: true }, member));
    truths[prefix] = { last, history: await historyOf(etcd.url, prefix, last), keys: (await etcd.range(prefix)).keys, before: keys.size };
  }
  for (const { resource, transactions } of opened) {
    const prefix = transactions ? "/many/" : "/one/";
    const { keys } = truths[prefix];
    await eventually(() => resource.peek("end"), "the end");
    const { items } = await resource.list({ resourceVersion: "" });
    const held = items.map(({ metadata, value }) => [
      metadata.name,
      metadata.uid,
      metadata.resourceVersion.slice(0, transactions ? -9 : undefined),
      value,
    ]);
    const kept = [...keys].map(([key, { create_revision, mod_revision, value }]) => [
      key.slice(prefix.length),
      create_revision,
      mod_revision,
      JSON.parse(Buffer.from(value, "base64").toString()),
    ]);
    assert.deepEqual(held.sort(), kept.sort(), "the final store is the cluster's");
  }

  let events = 0;
  const broken = [];
  for (const { transactions, from, recorder, wanderer, selects } of told) {
    const { history, last } = truths[transactions ? "/many/" : "/one/"];
    const of = recorder ?? wanderer;
    const isLast = ({ key }) => key === "end";
    await eventually(
      () => of.events.some(isLast),
      () => `the end at ${last}; ${recorder?.ended} ${recorder?.error} ${relists}`,
    );
    await of.stop();
    events += of.events.length;
    broken.push(...brokenPromises({ events: of.events, from }, history, { transactions, ...(selects && { selects }) }));
  }
  assert.deepEqual(broken, []);
  const failed = loads.reduce((sum, load) => sum + load.failed, 0);
  const sockets = opened.reduce((sum, { traffic }) => sum + traffic.sockets.length, 0);
  const wandered = told.reduce((sum, { wanderer }) => sum + (wanderer?.stops ?? 0), 0);
  t.diagnostic(
    `${ROUNDS} leaders killed: ${done()} writes taken, ${failed} failed, ${events} events told, ${sockets} watches of etcd, ${wandered} resumes, ${relists.length} relists`,
  );
  assert.ok(failed > 0 && sockets >= opened.length + ROUNDS && wandered > ROUNDS, "there was trouble");
  assert.deepEqual(relists, [], "nothing was compacted, so nothing had to be listed anew");
});
