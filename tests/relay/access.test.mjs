// Nothing that is held is shown before the server has let its caller in, and nobody goes on who is no longer let in.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Api, bearerProtocols } from "../e2e/wire.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";
import { JANE, JOE, OWN, relayed, relayTo } from "./harness.mjs";

const PODS = "/api/v1/pods";

test("who says no name, or a wrong one, is refused as by the server, although it is held and others see it", async (t) => {
  const { relay, server, jane, pod } = await relayed(t);
  await pod("a");
  assert.equal((await jane.list(PODS)).items.length, 1);
  for (const token of [undefined, "wrong", `${JANE}x`]) {
    for (const path of [PODS, `${PODS}?watch=1`, "/api/v1/namespaces/default/pods"]) {
      const ask = (url) => fetch(url + path, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });
      const [ours, theirs] = await Promise.all([relay.url, server.url].map(ask));
      assert.deepEqual([ours.status, await ours.text()], [401, await theirs.text()], `${token} ${path}`);
    }
    const watch = new Api(relay.url, token).watch(PODS, {}, token === undefined ? { protocols: [] } : {});
    assert.equal((await watch.refusal()).status, 401);
  }
});

test("a long token is one, too, over either way", async (t) => {
  const token = "t".repeat(40_000);
  const { relay, tokens, server } = await relayed(t);
  tokens.push(token);
  const api = new Api(relay.url, token);
  // The embedded server takes no more than Node does by itself, and says so.
  assert.equal((await new Api(server.url, token).get(PODS)).status, 431);
  assert.equal((await api.get("/-/livez")).status, 200);
  const answer = await api.watch(PODS, { resourceVersion: "0" }).refusal();
  assert.equal(answer.status, 431, "the server's own answer, to the review");
});

test("two ways to say who asks are for the server to judge: none of it comes from what is held", async (t) => {
  const { relay, jane, pod, metrics } = await relayed(t);
  await pod("a");
  await jane.list(PODS);
  const before = (await metrics())['watchcache_relay_requests_total{by="relay",verb="watch"}'] ?? 0;
  const watch = jane.watch(
    PODS,
    { resourceVersion: "0" },
    { protocols: bearerProtocols("wrong"), headers: { authorization: `Bearer ${JANE}` } },
  );
  assert.equal((await watch.refusal()).status, 401);
  // A token alone, without a subprotocol to echo, is refused by the server.
  assert.equal((await new Api(relay.url, JANE).watch(PODS, {}, { protocols: [bearerProtocols(JANE)[0]] }).refusal()).status, 401);
  assert.equal((await metrics())['watchcache_relay_requests_total{by="relay",verb="watch"}'] ?? 0, before);
});

test("an answer counts for seconds, for one caller and one question", async (t) => {
  const { jane, joe, metrics } = await relayed(t);
  const reviews = async () => (await metrics())['watchcache_relay_reviews_total{verdict="allowed"}'] ?? 0;
  for (let i = 0; i < 5; i++) await jane.list(PODS);
  assert.equal(await reviews(), 1);
  await Promise.all(Array.from({ length: 5 }, () => joe.list(PODS)));
  assert.equal(await reviews(), 2, "all who ask at once are answered by one");
  await jane.list("/api/v1/namespaces/default/pods");
  await jane.list(PODS, { labelSelector: "a=b" });
  (await jane.watch(PODS, { resourceVersion: "0" }).opened()).stop();
  assert.equal(await reviews(), 5, "another namespace, selector and verb are other questions");
});

test("an open watch ends when its caller is let in no more, and others go on", async (t) => {
  const { tokens, jane, joe, pod } = await relayed(t, { relay: { reviewMs: 200 } });
  const [hers, his] = await Promise.all([jane, joe].map((api) => api.watch(PODS, { resourceVersion: "0" }).opened()));
  await sleep(500);
  assert.equal(hers.end, undefined, "asked anew, and still let in");
  tokens.splice(tokens.indexOf(JANE), 1);
  assert.equal((await hers.closed()).code, 1000);
  await pod("secret", joe);
  await his.count(1);
  assert.deepEqual([hers.events.length, his.events.length], [0, 1]);
  his.stop();
});

test("while nobody can say whether a watch may go on it does, but not for long", async (t) => {
  const { server } = await relayed(t);
  let isAway = false;
  // All but reviews comes through.
  const between = await Proxy.start({
    upstream: server.url,
    serve(request, response) {
      const isRefused = isAway && request.url?.includes("selfsubjectaccessreviews");
      if (isRefused) response.writeHead(503).end();
      return Boolean(isRefused);
    },
  });
  const relay = await relayTo(between.url, { reviewMs: 200 });
  t.after(async () => {
    await relay.close();
    await between.close();
  });
  const watch = await new Api(relay.url, JANE).watch(PODS, { resourceVersion: "0" }).opened();
  isAway = true;
  const since = Date.now();
  assert.equal((await new Api(relay.url, JOE).get(PODS)).status, 503, "who comes now is told what the review was");
  await sleep(400);
  assert.equal(watch.end, undefined);
  assert.equal((await watch.closed()).code, 1000);
  assert.ok(Date.now() - since >= 900, `after five times in vain: ${Date.now() - since}`);
});

test("what a trusted proxy would say of a caller, and the relay's own token, go with no request", async (t) => {
  const seen = [];
  const upstream = createServer((request, response) => {
    seen.push(request.headers);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise((resolve) => upstream.listen(0, "127.0.0.1", () => resolve(undefined)));
  const relay = await relayTo(`http://127.0.0.1:${/** @type {any} */ (upstream.address()).port}`);
  t.after(async () => {
    await relay.close();
    upstream.closeAllConnections();
    upstream.close();
  });
  const forged = {
    "x-remote-user": "admin",
    "x-remote-group": "system:masters",
    "x-remote-extra-a": "b",
    "x-mine": "kept",
    te: "trailers",
    connection: "close, x-hop, impersonate-user, authorization",
    "x-hop": "1",
    // Of a gateway before the relay, and not the caller's to take away.
    "impersonate-user": "jane",
    authorization: "Bearer of-the-gateway",
  };
  // fetch sends no such headers.
  const [answer] = await once(get(`${relay.url}/version`, { headers: forged }), "response");
  answer.resume();
  const [headers] = seen;
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^x-remote|^te$|^x-hop$/);
  assert.deepEqual([headers["x-mine"], headers["x-forwarded-for"]], ["kept", "127.0.0.1"]);
  assert.deepEqual([headers["impersonate-user"], headers.authorization], ["jane", "Bearer of-the-gateway"]);
  assert.ok(!JSON.stringify(headers).includes(OWN));
});

test("a page of another origin opens no WebSocket and reads nothing, unless it is allowed", async (t) => {
  const page = "https://console.example.com";
  for (const [allowOrigins, isAllowed] of [
    [[], false],
    [["https://other.example.com"], false],
    [[page], true],
    [["*"], true],
  ]) {
    const { relay, jane } = await relayed(t, { relay: { allowOrigins } });
    const watch = jane.watch(PODS, { resourceVersion: "0" }, { origin: page });
    if (isAllowed) (await watch.opened()).stop();
    else assert.equal((await watch.refusal()).status, 403);
    for (const own of [relay.url, null]) (await jane.watch(PODS, { resourceVersion: "0" }, { origin: own }).opened()).stop();
    const { headers } = await jane.request("GET", PODS, { headers: { origin: page } });
    assert.equal(headers.get("access-control-allow-origin"), isAllowed ? page : null);
    const preflight = await fetch(relay.url + PODS, {
      method: "OPTIONS",
      headers: { origin: page, "access-control-request-method": "GET", "access-control-request-headers": "authorization" },
    });
    assert.equal(preflight.headers.get("access-control-allow-headers"), isAllowed ? "authorization" : null);
  }
});

test("one client has so many watches at once, over either way, and another one as many", async (t) => {
  const { relay, jane, joe, metrics } = await relayed(t, { relay: { maxWatches: 2 } });
  const stream = await fetch(`${relay.url}${PODS}?watch=1&resourceVersion=0`, { headers: { authorization: `Bearer ${JANE}` } });
  const socket = await jane.watch(PODS, { resourceVersion: "0" }).opened();
  // Another way to write the same is the same client.
  const shouted = await fetch(`${relay.url}${PODS}?watch=1&resourceVersion=0`, { headers: { authorization: `BEARER ${JANE}` } });
  assert.equal(shouted.status, 429);
  const refused = await jane.watch(PODS, { resourceVersion: "0" }).refusal();
  assert.deepEqual([refused.status, refused.headers.get("retry-after"), refused.body.reason], [429, "5", "TooManyRequests"]);
  // One that the server serves counts as well.
  const table = await jane.request("GET", PODS, {
    query: { watch: 1 },
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  assert.equal(table.status, 429);
  (await joe.watch(PODS, { resourceVersion: "0" }).opened()).stop();
  assert.equal((await jane.get(PODS)).status, 200, "lists are no watches");
  socket.stop();
  await stream.body?.cancel();
  for (const deadline = Date.now() + 5_000; ; await sleep(20)) {
    const again = jane.watch(PODS, { resourceVersion: "0" });
    const isOpen = await again.opened().then(
      () => true,
      () => false,
    );
    again.stop();
    if (isOpen) break;
    assert.ok(Date.now() < deadline, "who has ended some may have others");
  }
  const counted = await metrics();
  assert.ok(counted['watchcache_relay_refused_total{why="max-watches"}'] >= 2);
  for (const deadline = Date.now() + 5_000; (await metrics()).watchcache_relay_clients > 0; await sleep(20))
    assert.ok(Date.now() < deadline, "nobody is left");
});

test("a watch that the relay cannot read, or by the old path, counts as any, and ends before the relay does", async (t) => {
  const { relay, jane, metrics } = await relayed(t, { relay: { maxWatches: 2 } });
  const names = { authorization: `Bearer ${JANE}` };
  const ask = (path, headers = names) => fetch(relay.url + path, { headers });
  const open = [await ask(`${PODS}?watch=1&resourceVersion=0&x=1`), await ask("/api/v1/watch/pods?resourceVersion=0")];
  assert.deepEqual(
    open.map(({ status }) => status),
    [200, 200],
  );
  const more = [
    `${PODS}?watch=1&x=1`,
    `${PODS}?watch=&x=1`,
    `${PODS}?%77atch=yes`,
    "/api/v1/watch/pods",
    "/apis/apps/v1//w%61tch/deployments",
  ];
  for (const path of more) assert.equal((await ask(path)).status, 429, path);
  assert.equal((await jane.watch(PODS, { x: 1 }).refusal()).status, 429);
  for (const path of [`${PODS}?watch=0&x=1`, `${PODS}?watch=False&x=1`, PODS, "/api/v1/namespaces/watch/pods"])
    assert.notEqual((await ask(path)).status, 429, path);
  const counted = await metrics();
  assert.equal(counted['watchcache_relay_requests_total{by="server",verb="watch"}'], 2);
  assert.equal(counted.watchcache_relay_clients, 1);
  const [since, drained] = [performance.now(), relay.drain()];
  assert.equal((await ask(`${PODS}?watch=1&x=1`)).status, 503, "none begins any more");
  await Promise.all([...open.map((stream) => stream.text().catch(() => {})), drained]);
  assert.ok(performance.now() - since < 3_000, "nobody waits for them");
});
