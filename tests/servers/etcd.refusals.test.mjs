/** What each failure of etcd, or of what stands in its place, is to a user of `watchcache/etcd`: a code and a phase. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { init } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { eventually } from "../e2e/cache.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";
import { openEtcd } from "./harness/etcd-client.mjs";
import { freePorts } from "./harness/processes.mjs";

const PREFIX = "/app/";
const TIMEOUT_MS = 300;

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  await init();
  // A request of 200 kB is too large, and a store of three megabytes is full.
  etcd = await EtcdCluster.start({ flags: ["--max-request-bytes=200000", "--quota-backend-bytes=3000000"] });
});
after(() => etcd?.stop());

/** What stands where etcd should. @param {import("node:net").Server} server */
async function listen(server) {
  const sockets = new Set();
  server.on("connection", (socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  after(() => (sockets.forEach((socket) => socket.destroy()), server.close()));
  return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
}

const html = (status) => () =>
  listen(
    createServer((request, response) => {
      request.resume();
      response.writeHead(status, { "content-type": "text/html" }).end("<!doctype html><title>Sign in</title>");
    }),
  );

/** Its answers begin and never end. */
const loris = (headers, body) =>
  createServer((request, response) => {
    request.resume();
    if (headers) response.writeHead(200, { "content-type": "application/json" });
    if (body) response.write(body);
  });

/** Which code and phase, and what of the message, a resource has that lists there. */
const FIRST = {
  "nothing listens": [async () => `http://127.0.0.1:${(await freePorts(1))[0]}`, "loading", "network", /fetch failed|ECONNREFUSED/],
  "a port of another protocol": [() => listen(createTcpServer((socket) => socket.end("SSH-2.0-x\r\n"))), "loading", "network", /./],
  "a page to sign in": [html(200), "loading", "protocol", /no answer of etcd's JSON gateway/],
  "a web server": [html(404), "failed", "not-found", /does not answer as etcd does: status 404/],
  "a proxy without an upstream": [html(503), "loading", "unavailable", /status 503/],
  "a path that etcd does not have": [async () => `${etcd.url}/base`, "failed", "not-found", /404/],
  "one that never answers": [() => listen(loris(false)), "loading", "network", /has not answered within 0.3 seconds/],
  "one whose first answer never ends": [() => listen(loris(true, '{"kvs":[')), "loading", "network", /the list has hardly moved for 1 s/],
};

describe("the first list", () => {
  for (const [what, [start, phase, code, message]] of Object.entries(FIRST))
    test(what, async (t) => {
      const { resource } = openEtcd(t, { endpoints: await start(), prefix: PREFIX, timeoutMs: TIMEOUT_MS }, { idleTimeout: 1_000 });
      resource.synced().catch(() => {});
      const { error } = await eventually(
        () => resource.status.error && resource.status,
        () => `an error, not ${JSON.stringify(resource.status)}`,
      );
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      const phases = phase === "loading" ? ["loading", "reconnecting", "listing"] : [phase];
      assert.ok(phases.includes(resource.status.phase), resource.status.phase);
    });

  for (const status of [200, 404])
    test(`a page (${status}) at one of several endpoints is passed over, by lists, writes and watches`, async (t) => {
      const endpoints = [await html(status)(), etcd.url];
      const { resource } = openEtcd(t, { endpoints, prefix: `${PREFIX}passed-${status}/`, timeoutMs: TIMEOUT_MS * 10 });
      await resource.synced();
      await eventually(
        () => resource.status.phase === "live",
        () => JSON.stringify(resource.status),
      );
      await resource.create({ metadata: { name: "a" }, value: 1 });
      assert.equal(resource.peek("a").value, 1);
    });

  test("what is wrong in the options is told at once, and no password in it", () => {
    for (const [options, message] of [
      [{ endpoints: [], prefix: "" }, /endpoints names no endpoint/],
      [{ endpoints: "127.0.0.1:2379", prefix: "" }, /endpoints/],
      [{ endpoints: "http://bob:secret@127.0.0.1", prefix: "" }, /credentials, which belong in username and password/],
      [{ endpoints: etcd.url }, /prefix/],
      [{ endpoints: etcd.url, prefix: "", username: "bob" }, /username and password belong together/],
      [{ endpoints: etcd.url, prefix: "", timeout: 1 }, /timeout/],
    ])
      assert.throws(
        () => etcdSource(/** @type {any} */ (options)),
        (error) => error.code === "invalid" && message.test(error.message) && !error.message.includes("secret"),
        JSON.stringify(options),
      );
  });
});

/** @param {import("node:test").TestContext} t */
async function live(t, more = {}) {
  const opened = openEtcd(t, { endpoints: etcd.url, prefix: PREFIX, timeoutMs: TIMEOUT_MS * 10, ...more });
  await opened.resource.synced();
  await eventually(() => opened.resource.status.phase === "live", "the watch");
  return opened;
}

const create = (resource, name, value) => resource.create({ metadata: { name }, value });

describe("writes, and answers of one object", () => {
  test("a request that is too large is invalid: no try of it would help", async (t) => {
    const { resource } = await live(t);
    await assert.rejects(create(resource, "large", "x".repeat(250_000)), { code: "invalid", message: /request is too large/ });
    assert.equal(resource.status.phase, "live");
  });

  test("a name, a value or an option that etcd has not is invalid", async (t) => {
    const { resource, source } = await live(t);
    await assert.rejects(create(resource, "a~b", 1), { code: "invalid", message: /no key is called so/ });
    const both = { metadata: { name: "both" }, value: 1, valueBase64: "AA==" };
    await assert.rejects(resource.create(both), { code: "invalid", message: /both value and valueBase64/ });
    await assert.rejects(resource.create({ metadata: { name: "odd" }, valueBase64: "?" }), { code: "invalid", message: /no base64/ });
    await assert.rejects(resource.get("a", { subresource: "status" }), { code: "not-found", message: /no subresources/ });
    await create(resource, "a", 1);
    await assert.rejects(resource.patch("a", { value: 2 }, { type: "merge" }), { code: "invalid", message: /no method patch/ });
    await assert.rejects(resource.delete("a", { dryRun: true }), { code: "invalid", message: /no dry run/ });
    assert.equal(resource.peek("a").value, 1);
    await resource.delete("a");
    const signal = new AbortController().signal;
    const watch = (version) => source.watch({ resourceVersion: version, allowWatchBookmarks: true, timeoutSeconds: 9 }, signal);
    const first = (version) => watch(version)[Symbol.asyncIterator]().next();
    await assert.rejects(first("0"), { code: 422 });
    await assert.rejects(first("one"), { code: 400 });
  });

  test("answers that begin and never end have their time: writes, gets and the current version", async (t) => {
    const url = await listen(loris(true, '{"header":'));
    const { source, resource } = openEtcd(t, { endpoints: url, prefix: PREFIX, timeoutMs: TIMEOUT_MS });
    const late = /has not answered within 0.3 seconds/;
    await assert.rejects(source.currentResourceVersion(new AbortController().signal), { message: late });
    await assert.rejects(create(resource, "a", 1), { code: "network", message: late });
  });

  test("a watch that never opens has its time", async (t) => {
    const server = loris(false);
    server.on("upgrade", () => {}); // says nothing
    const { source } = openEtcd(t, { endpoints: await listen(server), prefix: PREFIX, timeoutMs: TIMEOUT_MS });
    const watch = source.watch({ resourceVersion: "5", allowWatchBookmarks: true, timeoutSeconds: 9 }, new AbortController().signal);
    await assert.rejects(watch[Symbol.asyncIterator]().next(), { message: /has not opened the watch within 0.3 seconds/ });
  });
});

test("a proxy that lets no WebSocket through is told as such, and rows are there", async (t) => {
  await etcd.put("/no-upgrades/a", 1);
  const proxy = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = await fetch(etcd.url + request.url, { method: "POST", body: Buffer.concat(chunks) });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  proxy.on("upgrade", (_request, socket) => socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"));
  const { resource } = openEtcd(t, { endpoints: await listen(proxy), prefix: "/no-upgrades/" });
  await resource.synced();
  const { error, phase } = await eventually(() => resource.status.error && resource.status, "an error");
  assert.deepEqual([error.code, phase, resource.size], ["network", "reconnecting", 1]);
  assert.match(error.message, /etcd answers, but what stands before it may let no WebSocket through/);
});

test("members that the cache strips are kept by an update, and an update that changes nothing writes nothing", async (t) => {
  const { resource } = await live(t, { prefix: "/kept/" });
  const managedFields = [{ manager: "somebody" }];
  const first = await etcd.put("/kept/a", { metadata: { labels: { app: "web" }, managedFields }, big: 1 });
  await etcd.put("/kept/bytes", Buffer.from("[1, 2]"));
  await eventually(() => resource.peek("a") && resource.peek("bytes"), "both");
  assert.equal(resource.peek("a").metadata.managedFields, undefined);
  const same = await resource.update("a", (held) => structuredClone(held));
  assert.equal(same.metadata.resourceVersion, first);
  // The same list in other bytes is another value only where bytes were asked for.
  await resource.update("bytes", ({ metadata }) => ({ metadata, value: [1, 2] }));
  const kept = async (name) => Buffer.from((await etcd.range(`/kept/${name}`)).keys.get(`/kept/${name}`).value, "base64").toString();
  assert.equal(await kept("bytes"), "[1, 2]");
  await resource.update("bytes", ({ metadata }) => ({ metadata, valueBase64: Buffer.from("[1,2]").toString("base64") }));
  assert.equal(await kept("bytes"), "[1,2]");
  await resource.update("a", (held) => ({ ...held, big: 2 }));
  assert.deepEqual(JSON.parse(await kept("a")), { metadata: { labels: { app: "web" }, managedFields }, big: 2 });
});

test("etcd that was made anew at its address: rows stay, and it is told why, until somebody says `refresh({ reset: true })`", async (t) => {
  const { resource } = await live(t, { prefix: "/anew/", heartbeatMs: 200 });
  for (let i = 0; i < 5; i++) await create(resource, `key-${i}`, i);
  await etcd.members[0].kill();
  rmSync(join(etcd.dir, "m0"), { recursive: true });
  await etcd.members[0].start();
  await etcd.put("/anew/other", 1);
  const { error } = await eventually(
    () => /older|behind|went back|stale/.test(resource.status.error?.message ?? "") && resource.status,
    () => `that it is told, not ${resource.status.phase} ${resource.status.error}`,
  );
  assert.equal(error.code, "protocol");
  assert.equal(resource.size, 5);
  resource.refresh({ reset: true }).catch(() => {});
  await eventually(() => resource.size === 1 && resource.peek("other"), "what is there now");
});

test("NOSPACE: a full store refuses writes as unavailable and says why; what is held stays alive, and deletions go on", async (t) => {
  const { resource } = await live(t);
  await create(resource, "first", 1);
  const filler = Buffer.alloc(150_000, 7);
  await assert.rejects(async () => {
    for (let i = 0; i < 100; i++) await etcd.put(`/filler/${i}`, filler);
  }, /space exceeded/);
  await assert.rejects(create(resource, "second", 2), { code: "unavailable", message: /database space exceeded/ });
  await assert.rejects(
    resource.update("first", (held) => ({ ...held, value: 2 })),
    { code: "unavailable", message: /database space exceeded/ },
  );
  assert.equal(resource.status.phase, "live");
  await resource.delete("first");
  assert.equal(resource.peek("first"), undefined);
});
