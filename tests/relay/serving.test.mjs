// What is held serves everybody, and what is not held is the server's.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createWatchCache } from "watchcache";
import { Watch } from "../../dist/relay/watches.js";
import { eventually } from "../e2e/cache.mjs";
import { Api, concurrently } from "../e2e/wire.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";
import { JANE, JOE, metricsOf, relayed, relayTo } from "./harness.mjs";

const PODS = "/api/v1/pods";
const LISTS = 'watchcache_relay_upstream_requests_total{verb="list"}';
const WATCHES = 'watchcache_relay_upstream_requests_total{verb="watch"}';

test("fifty caches of two users cost the server one list and one watch, and come back from another network without any", async (t) => {
  const { relay, metrics, pod, direct } = await relayed(t);
  await concurrently(30, (i) => pod(`p${i}`, direct));
  const proxy = await Proxy.start({ upstream: relay.url });
  const caches = Array.from({ length: 50 }, (_, i) =>
    createWatchCache({ server: proxy.url, auth: () => ({ token: i % 2 ? JANE : JOE }), pageSize: 10, retry: { initialMs: 20 } }),
  );
  t.after(async () => {
    await Promise.all(caches.map((cache) => cache.close()));
    await proxy.close();
  });
  const pods = caches.map((cache) => cache.resource("pods"));
  for (const resource of pods) resource.view().subscribe(() => {});
  const all = (held) =>
    eventually(
      () => pods.every(({ size, status }) => size === held && status.phase === "live"),
      () => pods.map(({ size, status }) => `${size} ${status.phase}`).join(),
    );
  await all(30);
  await pod("more", direct);
  await all(31);
  const lost = pods.map(({ resourceVersion }) => resourceVersion);
  proxy.drop();
  await eventually(() => pods.some(({ status }) => status.phase !== "live"), "lost connections");
  await pod("meanwhile", direct);
  await all(32);
  assert.ok(lost.every(Boolean));
  const counted = await metrics();
  assert.deepEqual([counted[LISTS], counted[WATCHES]], [1, 1]);
  assert.deepEqual(counted['watchcache_relay_watches{group="",resource="pods"}'], 50);
  assert.equal(counted.watchcache_relay_clients, 2);
});

test("when the relay dies another one takes its clients: rows stay, and the server lists once more for all of them", async (t) => {
  const { relay, server, pod, direct } = await relayed(t);
  await concurrently(20, (i) => pod(`p${i}`, direct));
  const proxy = await Proxy.start({ upstream: relay.url });
  const caches = Array.from({ length: 10 }, () =>
    createWatchCache({ server: proxy.url, auth: () => ({ token: JANE }), retry: { initialMs: 20 } }),
  );
  const pods = caches.map((cache) => cache.resource("pods"));
  const fewest = pods.map(() => Infinity);
  for (const [i, resource] of pods.entries()) {
    const view = resource.view();
    view.subscribe(() => {
      if (resource.hasSynced) fewest[i] = Math.min(fewest[i], view.getSnapshot().rows.length);
    });
  }
  const live = () => pods.every(({ status }) => status.phase === "live");
  await eventually(() => live() && pods.every(({ size }) => size === 20), "all live");
  await relay.close();
  await direct.delete("/api/v1/namespaces/default/pods/p0");
  await pod("while-none-was-there", direct);
  const next = await relayTo(server.url);
  t.after(async () => {
    await Promise.all(caches.map((cache) => cache.close()));
    await proxy.close();
    await next.close();
  });
  proxy.upstream = new URL(next.url);
  await eventually(
    () =>
      live() &&
      pods.every((resource) => resource.size === 20 && resource.peek("default/while-none-was-there") && !resource.peek("default/p0")),
    () => pods.map(({ size, status }) => `${size} ${status.phase}`).join(),
  );
  assert.ok(
    fewest.every((rows) => rows >= 19),
    fewest.join(),
  );
  assert.equal((await metricsOf(next.url))[LISTS], 1);
});

test("who has written finds it, although the relay has not heard of it yet", async (t) => {
  const { jane, pod, server, direct, metrics } = await relayed(t);
  await pod("a");
  await jane.list(PODS);
  server.control.fault("freeze");
  await pod("b", direct);
  assert.deepEqual(
    (await jane.list(PODS)).items.map(({ metadata }) => metadata.name),
    ["a"],
    "what somebody else wrote is on its way",
  );
  await pod("c");
  const names = async (query) => (await jane.list(PODS, query)).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(await names(), ["a", "b", "c"]);
  assert.deepEqual(await names({ limit: 2 }), ["a", "b"]);
  assert.equal((await metrics())[LISTS], 1);
  server.control.fault("clear");
  // The answer to a deletion may tell no version.
  const maps = "/api/v1/namespaces/default/configmaps";
  await direct.create(maps, { metadata: { name: "gone" } });
  assert.equal((await jane.list(maps)).items.length, 1);
  server.control.fault("freeze");
  assert.equal((await jane.delete(`${maps}/gone`)).kind, "Status");
  assert.deepEqual((await jane.list(maps)).items, []);
});

test("with --exact-lists what names no version is the server's", async (t) => {
  const { jane, pod, server, direct } = await relayed(t, { relay: { exactLists: true } });
  await pod("a", direct);
  await jane.list(PODS, { resourceVersion: "0" });
  server.control.fault("freeze");
  await pod("b", direct);
  assert.equal((await jane.list(PODS)).items.length, 2);
  assert.equal((await jane.list(PODS, { resourceVersion: "0" })).items.length, 1);
});

test("a token or a version of one's own making shows nothing of another namespace, or of another name", async (t) => {
  // What the relay's window no longer has it asks the server for, as itself.
  const { jane } = await relayed(t, { server: { history: 5 } });
  const made = [];
  for (const namespace of ["a", "b"]) {
    await jane.create("/api/v1/namespaces", { metadata: { name: namespace } });
    for (const name of ["1", "2", "3"]) made.push(await jane.create(`/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name } }));
  }
  const { metadata } = await jane.list("/api/v1/configmaps");
  const token = (start, version) => Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv: Number(version), start })).toString("base64url");
  const shown = new Set();
  for (const version of [metadata.resourceVersion, made[4].metadata.resourceVersion, made[0].metadata.resourceVersion, "1", "-1"]) {
    const asked = ["/b/", "/b/1\0", "/", "/a/", "/a/1\0", "b/1\0", "/a/../b/", "/aa/"].map((start) => ({
      continue: token(start, version),
    }));
    for (const query of [...asked, { resourceVersion: version, resourceVersionMatch: "Exact" }, { resourceVersion: version, limit: "1" }]) {
      for (const [namespace, fieldSelector] of [
        ["a", undefined],
        ["a", "metadata.name=1"],
        ["a", "metadata.namespace=b"],
      ]) {
        const { body } = await jane.get(`/api/v1/namespaces/${namespace}/configmaps`, { limit: 10, ...query, fieldSelector });
        for (const { metadata } of body.items ?? []) {
          shown.add(metadata.namespace);
          if (fieldSelector) assert.equal(metadata.name, "1", JSON.stringify([version, query, fieldSelector]));
        }
      }
    }
  }
  assert.deepEqual([...shown], ["a"]);
});

test("a long list is packed for who takes it, and is the same", async (t) => {
  const { relay } = await relayed(t, { server: { pods: 40 }, relay: { allowOrigins: ["*"] } });
  const ask = async (encoding) => {
    const headers = { authorization: `Bearer ${JANE}`, "accept-encoding": encoding, origin: "https://page.example.com" };
    const answer = await fetch(relay.url + PODS, { headers });
    return [answer.headers.get("content-encoding"), answer.headers.get("vary"), await answer.text()];
  };
  const [packed, plain] = await Promise.all(["gzip", "identity"].map(ask));
  assert.deepEqual(packed.slice(0, 2), ["gzip", "Origin, Accept-Encoding"]);
  assert.deepEqual(plain.slice(0, 2), [null, "Origin"]);
  assert.equal(packed[2], plain[2]);
  assert.equal(JSON.parse(plain[2]).items.length, 40);
});

test("a client that takes nothing is let go after half a minute", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let [isStopped, isEnded] = [false, false];
  const sink = { writable: false, send: () => assert.fail("it takes nothing"), end: () => (isEnded = true), ondrain() {}, onclose() {} };
  const batch = Promise.resolve({ done: false, value: [{ type: "ADDED" }] });
  const opened = { watcher: { stop: () => (isStopped = true) }, first: batch, batches: { next: () => batch } };
  const over = new Watch(/** @type {any} */ ({}), /** @type {any} */ (opened), sink, () => {}).run();
  await batch;
  await new Promise(setImmediate);
  t.mock.timers.tick(29_000);
  assert.deepEqual([isStopped, isEnded], [false, false]);
  t.mock.timers.tick(2_000);
  await over;
  assert.deepEqual([isStopped, isEnded], [true, true]);
});

test("while the server is away nobody is told that all is well", async () => {
  const told = [];
  const sink = { writable: true, send: (frame) => told.push(JSON.parse(frame)), end() {}, ondrain() {}, onclose() {} };
  const bookmark = (resourceVersion, initialEventsEnd) => ({ type: "BOOKMARK", resourceVersion, initialEventsEnd });
  const resource = { status: { phase: "live" } };
  const steps = [
    ["live", [bookmark("1")]],
    ["reconnecting", [bookmark("1"), bookmark("2", true)]],
    ["live", [bookmark("3")]],
  ];
  const next = async () => {
    const [phase, value] = steps.shift() ?? [];
    resource.status.phase = phase;
    return { done: value === undefined, value };
  };
  const collection = { group: "", version: "v1", kind: "Pod" };
  await new Watch(
    /** @type {any} */ ({ collection, resource }),
    /** @type {any} */ ({ watcher: { stop() {} }, first: next(), batches: { next } }),
    sink,
    () => {},
  ).run();
  assert.deepEqual(
    told.map(({ object }) => object.metadata.resourceVersion),
    ["1", "2", "3"],
  );
});

test("a client that takes nothing costs the others nothing", async (t) => {
  const { relay, server, jane, metrics } = await relayed(t, { server: { pods: 200 } });
  await jane.list(PODS);
  const deaf = connect(relay.port, "127.0.0.1");
  t.after(() => deaf.destroy());
  deaf.pause();
  deaf.write(`GET ${PODS}?watch=1&resourceVersion=0 HTTP/1.1\r\nhost: relay\r\nauthorization: Bearer ${JANE}\r\n\r\n`);
  const watch = await jane.watch(PODS, { resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }).opened();
  for (let i = 0; i < 30; i++) {
    server.control.step(100);
    await sleep(5);
  }
  await watch.count(1_200);
  // It was sent what fits on the way, and the rest was let go.
  const sent = (await metrics())['watchcache_relay_events_total{group="",resource="pods"}'];
  assert.ok(sent - 600 < 1.5 * watch.events.length, `${sent} events, of which ${watch.events.length} to who takes them`);
  watch.stop();
});

test("what the relay may not hold is served by the server, to who may", async (t) => {
  const { server } = await relayed(t);
  const relay = await relayTo(server.url, { token: async () => "none that is known" });
  t.after(() => relay.close());
  const api = new Api(relay.url, JANE);
  assert.deepEqual((await api.list(PODS)).items, []);
  const watch = await api.watch(PODS, { resourceVersion: "0" }).opened();
  await new Api(server.url, JANE).create("/api/v1/namespaces/default/configmaps", { metadata: { name: "x" } });
  watch.stop();
  assert.equal((await api.get("/api/v1/namespaces/default/configmaps/x")).status, 200);
});

test("the relay's token is read anew when it is refused", async (t) => {
  const { server, tokens } = await relayed(t);
  let token = "old";
  tokens.push("old");
  const relay = await relayTo(server.url, { token: async () => token });
  t.after(() => relay.close());
  const api = new Api(relay.url, JANE);
  await api.list(PODS);
  tokens.splice(tokens.indexOf("old"), 1);
  token = "new";
  tokens.push("new");
  server.control.fault("drop");
  const direct = new Api(server.url, JANE);
  await direct.create("/api/v1/namespaces/default/configmaps", { metadata: { name: "x" } });
  const watch = await api.watch("/api/v1/configmaps", { resourceVersion: "0" }).opened();
  await watch.count(1);
  watch.stop();
});

test("while the server is away a watch stays, and a list is refused with when to come back", async (t) => {
  const { server } = await relayed(t);
  const proxy = await Proxy.start({ upstream: server.url });
  const relay = await relayTo(proxy.url);
  t.after(() => relay.close());
  const api = new Api(relay.url, JANE);
  await api.list(PODS);
  const watch = await api.watch(PODS, { resourceVersion: "0" }).opened();
  const { port } = new URL(proxy.url);
  // A stream that ends within its first second counts as refused, and the relay would list anew.
  await sleep(1_100);
  await proxy.close();
  const refused = await api.get(PODS, { labelSelector: "not=asked-before" });
  assert.deepEqual([refused.status, refused.headers.get("retry-after"), refused.body.reason], [503, "1", "ServiceUnavailable"]);
  assert.equal((await api.get("/-/readyz")).status, 200, "as good as any other relay");
  const again = await Proxy.start({ upstream: server.url, port: Number(port) });
  t.after(() => again.close());
  await new Api(server.url, JANE).create("/api/v1/namespaces/default/pods", {
    metadata: { name: "later" },
    spec: { containers: [{ name: "main", image: "x" }] },
  });
  await watch.count(1);
  assert.equal(watch.events[0].object.metadata.name, "later");
  watch.stop();
});

test("what is no list and no watch passes as it is: bodies of any size, in chunks or not, and connections that become others", async (t) => {
  const upstream = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    response.writeHead(201, "Made", { "content-type": "text/x", "set-cookie": ["a=1", "b=2"], warning: "299 - something" });
    response.end(
      JSON.stringify({ method, url, length: Buffer.concat(chunks).length, chunked: headers["transfer-encoding"], host: headers.host }),
    );
  });
  upstream.on("upgrade", (request, socket) => {
    if (request.url === "/refused")
      return void socket.end(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
      );
    socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: SPDY/3.1\r\nconnection: Upgrade\r\n\r\nhello ");
    socket.pipe(socket);
  });
  await new Promise((resolve) => upstream.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (upstream.address());
  const relay = await relayTo(`http://127.0.0.1:${port}/clusters/one`);
  t.after(async () => {
    await relay.close();
    upstream.closeAllConnections();
    upstream.close();
  });
  const large = Buffer.alloc(3 << 20, "x");
  const stream = new ReadableStream({ start: (controller) => (controller.enqueue(large), controller.close()) });
  for (const [method, body] of [
    ["POST", large],
    ["DELETE", "{}"],
    ["PATCH", stream],
    ["DELETE", new Blob([large]).stream()],
  ]) {
    const answer = await fetch(`${relay.url}/api/v1/namespaces/x/pods?a=%2F`, {
      method,
      body,
      ...(typeof body === "object" && !Buffer.isBuffer(body) ? { duplex: "half" } : {}),
    });
    const isStream = !Buffer.isBuffer(body) && typeof body !== "string";
    assert.deepEqual(
      [answer.status, answer.statusText, answer.headers.getSetCookie(), answer.headers.get("warning")],
      [201, "Made", ["a=1", "b=2"], "299 - something"],
    );
    const length = typeof body === "string" ? 2 : large.length;
    assert.deepEqual(await answer.json(), {
      method,
      url: "/clusters/one/api/v1/namespaces/x/pods?a=%2F",
      length,
      ...(isStream ? { chunked: "chunked" } : {}),
      host: `127.0.0.1:${port}`,
    });
  }
  for (const [path, expected] of [
    ["/exec", /^HTTP\/1\.1 101 .*\r\n\r\nhello early late$/s],
    ["/clusters", /^HTTP\/1\.1 101/],
  ]) {
    const socket = connect(relay.port, "127.0.0.1");
    socket.write(`POST ${path} HTTP/1.1\r\nhost: relay\r\nupgrade: SPDY/3.1\r\nconnection: Upgrade\r\n\r\nearly `);
    let said = "";
    socket.on("data", (chunk) => {
      said += chunk;
      if (said.endsWith("early ")) socket.write("late");
      if (said.endsWith("late")) socket.end();
    });
    await once(socket, "close");
    assert.match(said, expected);
  }
});

test("a request that offers HTTP/2 is one as any other, with its body", async (t) => {
  const { relay, direct } = await relayed(t);
  const said = async (method, path, body, more = "") => {
    const socket = connect(relay.port, "127.0.0.1");
    const head = `${method} ${path} HTTP/1.1\r\nhost: relay\r\nauthorization: Bearer ${JANE}\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAEAAEAAAAIAAAAB\r\n`;
    socket.write(
      `${head}content-type: application/json\r\n${more}${body ? `content-length: ${body.length}\r\n` : ""}\r\n${body.slice(0, 5)}`,
    );
    await sleep(20);
    socket.write(body.slice(5));
    let all = "";
    for await (const chunk of socket) all += chunk;
    return all;
  };
  const made = await said("POST", "/api/v1/namespaces/default/configmaps", JSON.stringify({ metadata: { name: "made" } }));
  assert.match(made, /^HTTP\/1\.1 201 Created\r\n.*\r\nconnection: close\r\n\r\n\{.*"name":"made"/s);
  assert.match(await said("GET", "/api/v1/configmaps", ""), /^HTTP\/1\.1 200 OK\r\n.*"made"/s);
  assert.match(await said("POST", "/api/v1/namespaces/default/configmaps", "", "transfer-encoding: chunked\r\n"), /^HTTP\/1\.1 400 /);
  assert.equal((await direct.list("/api/v1/configmaps")).items.length, 1);
});

test("an upgrade that the server refuses is answered with its words", async (t) => {
  const { jane } = await relayed(t);
  const refused = await jane.watch("/api/v1/nothing", {}).refusal();
  assert.equal(refused.status, 404);
});

test("an address with a path is a server, too", async (t) => {
  const { server } = await relayed(t);
  const gateway = await Proxy.start({
    upstream: server.url,
    serve(request, response) {
      const [, rest] = /^\/clusters\/one(\/.*)$/.exec(request.url) ?? [];
      if (rest === undefined) response.writeHead(404).end();
      else request.url = rest;
      return rest === undefined;
    },
  });
  const relay = await relayTo(`${gateway.url}/clusters/one/`);
  t.after(async () => {
    await relay.close();
    await gateway.close();
  });
  const api = new Api(relay.url, JANE);
  await api.create("/api/v1/namespaces/default/configmaps", { metadata: { name: "x" } });
  const { items, metadata } = await api.list("/api/v1/configmaps");
  assert.equal(items.length, 1);
  const watch = await api.watch("/api/v1/configmaps", { resourceVersion: metadata.resourceVersion }).opened();
  await api.patch("/api/v1/namespaces/default/configmaps/x", { data: { a: "b" } });
  await watch.count(1);
  watch.stop();
  // The kind is taken out of what is held, and given back.
  assert.equal(watch.events[0].object.kind, "ConfigMap");
  assert.equal((await api.list("/api/v1/configmaps")).items[0].kind, undefined);
  assert.equal((await metricsOf(relay.url))[LISTS], 1);
});

test("what has no room in the relay is served by the server", async (t) => {
  const { jane, metrics } = await relayed(t, { server: { pods: 300 }, relay: { memoryBytes: 64 << 10 } });
  for (let i = 0; i < 2; i++) assert.equal((await jane.list(PODS)).items.length, 300);
  const watch = await jane.watch(PODS, { resourceVersion: "0" }).opened();
  await watch.count(300);
  watch.stop();
  const counted = await metrics();
  assert.equal(counted['watchcache_relay_requests_total{by="server",verb="watch"}'], 1);
  assert.equal(counted['watchcache_relay_requests_total{by="relay",verb="list"}'], undefined);
});
