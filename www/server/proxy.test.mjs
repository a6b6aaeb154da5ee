import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "./index.mjs";
import { openStream, serverFor } from "./testing.mjs";

const WATCH = "/api/v1/pods?watch=1&resourceVersion=0";

/** A server, and another that forwards to it. @param {import("node:test").TestContext} t @param {import("./options.mjs").ServerOptions} [options] */
async function pair(t, options) {
  const upstream = await serverFor(t, options);
  const front = await serverFor(t, { proxy: upstream.url });
  return { upstream, front };
}

test("requests_pass_through", async (t) => {
  const { upstream, front } = await pair(t, { pods: 20 });
  const direct = await upstream.api("/api/v1/pods?limit=5&pretty=false");
  const passed = await front.api("/api/v1/pods?limit=5&pretty=false");
  assert.equal(passed.text, direct.text);
  assert.equal((await front.api("/version")).body.minor, "36");
  const made = await front.api("/api/v1/namespaces/default/configmaps", {
    method: "POST",
    json: { metadata: { name: "a" }, data: { big: "x".repeat(100_000) } },
  });
  assert.equal(made.code, 201);
  assert.equal((await upstream.api("/api/v1/namespaces/default/configmaps/a")).body.data.big.length, 100_000);
  assert.equal((await front.api("/api/v1/namespaces/default/configmaps/none")).code, 404);
});

test("watches_pass_through_over_both_transports_with_a_token", async (t) => {
  const { upstream, front } = await pair(t, { tokens: ["secret"] });
  const protocols = [`base64url.bearer.authorization.k8s.io.${Buffer.from("secret").toString("base64url")}`, "base64.binary.k8s.io"];
  const socket = await front.watch(WATCH, { protocols });
  assert.equal(socket.socket.protocol, "base64.binary.k8s.io");
  const authorization = "Bearer secret";
  const stream = await openStream(front.url, WATCH, { authorization });
  const created = await upstream.api("/api/v1/namespaces/default/pods", {
    method: "POST",
    json: { metadata: { name: "p" }, spec: { containers: [] } },
    headers: { authorization },
  });
  assert.equal(created.code, 201);
  assert.deepEqual(await socket.nextBrief(1), ["ADDED default/p"]);
  assert.deepEqual(await stream.nextBrief(1), ["ADDED default/p"]);
  await assert.rejects(front.watch(WATCH), { code: 401 });
  stream.close();
});

test("a_token_is_given_to_requests_that_bring_none", async (t) => {
  const upstream = await serverFor(t, { tokens: ["secret"], pods: 5 });
  const front = await serverFor(t, { proxy: upstream.url, proxyToken: "secret" });
  assert.equal((await front.api("/api/v1/pods")).code, 200);
  assert.equal((await front.api("/api/v1/pods", { headers: { authorization: "Bearer other" } })).code, 401);
  const socket = await front.watch(WATCH);
  await socket.nextBrief(5);
  const stream = await openStream(front.url, WATCH);
  await stream.nextBrief(5);
  stream.close();
  assert.equal((await front.api("/demo/digest?resource=pods")).body.count, 5);
});

test("sockets_break_on_command_and_our_own_faults_are_off", async (t) => {
  const { upstream, front } = await pair(t);
  const { body } = await front.api("/demo/status");
  assert.equal(body.mode, "proxy");
  assert.deepEqual(body.faults.usable.sort(), ["clear", "drop", "freeze", "htmlErrorPage", "refuseUpgrade", "status"]);
  const fault = (/** @type {string} */ name, /** @type {unknown} */ options = {}) =>
    front.api(`/demo/faults/${name}`, { method: "POST", json: options });
  assert.equal((await fault("expire")).code, 409);
  assert.equal((await front.api("/demo/rate", { method: "POST", json: { eventsPerSecond: 1 } })).code, 400);
  const socket = await front.watch(WATCH);
  const stream = await openStream(front.url, WATCH);
  assert.equal((await fault("freeze", { ms: 300 })).body.affected, 2);
  await upstream.createPod("default", "p");
  await sleep(100);
  assert.deepEqual([socket.events.length, stream.events.length], [0, 0]);
  assert.deepEqual(await socket.nextBrief(1), ["ADDED default/p"]);
  assert.deepEqual(await stream.nextBrief(1), ["ADDED default/p"]);
  assert.equal((await fault("drop")).body.affected, 2);
  assert.equal((await socket.ended).code, 1006);
  await stream.ended;
  assert.equal(upstream.control.status().objects.pods, 1);
  await fault("status", { requests: 1, on: "list" });
  assert.equal((await front.api("/api/v1/pods")).code, 503);
  assert.equal((await front.api("/api/v1/pods")).code, 200);
  await fault("refuseUpgrade", { requests: 1 });
  await assert.rejects(front.watch(WATCH), { code: 503 });
  await front.watch(WATCH);
});

test("the_digest_is_asked_of_the_other_server", async (t) => {
  const { upstream, front } = await pair(t, { pods: 30 });
  const version = upstream.control.status().resourceVersion;
  const own = upstream.control.digest("pods", version);
  upstream.control.step(50);
  assert.deepEqual((await front.api(`/demo/digest?resource=pods&resourceVersion=${version}`)).body, own);
  upstream.control.fault("expire");
  assert.equal((await front.api(`/demo/digest?resource=pods&resourceVersion=${version}`)).code, 410);
});

test("a_server_that_is_not_there", async (t) => {
  const gone = await startServer({ port: 0, pods: 0, rate: 0 });
  await gone.close();
  const front = await serverFor(t, { proxy: gone.url });
  const answer = await front.api("/api/v1/pods");
  assert.equal(answer.code, 503);
  assert.match(answer.body.message, /^the API server at http:\/\/127\.0\.0\.1:\d+ cannot be reached: /);
  await assert.rejects(front.watch(WATCH), { code: 503 });
});
