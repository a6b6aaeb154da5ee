import assert from "node:assert/strict";

import { setTimeout as sleep } from "node:timers/promises";
import { brief, namesOf, openStream, serverFor, testBoth } from "./testing.mjs";

const WATCH = "/api/v1/pods?watch=1&resourceVersion=0";

/** @param {Awaited<ReturnType<typeof serverFor>>} server @param {string} name @param {unknown} [options] */
const trigger = (server, name, options = {}) => server.api(`/demo/faults/${name}`, { method: "POST", json: options });

testBoth("drop_resets_the_sockets_that_match", async (t) => {
  const server = await serverFor(t);
  const pods = await server.watch(WATCH);
  const nodes = await server.watch("/api/v1/nodes?watch=1&resourceVersion=0");
  const stream = await openStream(server.url, WATCH);
  assert.equal((await trigger(server, "drop", { resource: "pods", transport: "websocket" })).body.affected, 1);
  assert.equal((await pods.ended).code, 1006);
  assert.equal(nodes.over, false);
  assert.equal((await trigger(server, "drop", { transport: "http" })).body.affected, 1);
  assert.equal(/** @type {any} */ ((await stream.ended).error).code, "ECONNRESET");
  assert.equal((await trigger(server, "drop")).body.affected, 1);
  assert.equal((await nodes.ended).code, 1006);
  assert.deepEqual(server.control.status().streams, []);
});

testBoth("drop_in_the_middle_of_a_frame_leaves_a_torn_message", async (t) => {
  const server = await serverFor(t);
  const socket = await server.watch(WATCH);
  const stream = await openStream(server.url, WATCH);
  await server.createPod("default", "p");
  assert.deepEqual([...(await socket.nextBrief(1)), ...(await stream.nextBrief(1))], ["ADDED default/p", "ADDED default/p"]);
  /** @type {Buffer[]} */
  const raw = [];
  /** @type {any} */ (socket.socket)._socket.on("data", (/** @type {Buffer} */ part) => raw.push(part));
  assert.equal((await trigger(server, "drop", { midFrame: true })).body.affected, 2);
  assert.equal((await socket.ended).code, 1006);
  const torn = Buffer.concat(raw);
  assert.equal(torn[0], 0x81, "a text frame was begun");
  assert.ok(torn.readUInt16BE(2) > torn.length - 4, "and not ended");
  assert.ok((await stream.ended).error);
  assert.match(stream.rest(), /^\{"type":"MODIFIED"/);
  assert.deepEqual([socket.frames.length, stream.frames.length], [1, 1], "no torn frame counts as one");
});

testBoth("freeze_is_silence_in_both_directions_until_it_ends", async (t) => {
  const server = await serverFor(t);
  const socket = await server.watch(WATCH);
  const stream = await openStream(server.url, WATCH);
  assert.equal((await trigger(server, "freeze", { ms: 400 })).body.affected, 2);
  let pongs = 0;
  socket.socket.on("pong", () => {
    pongs += 1;
  });
  socket.socket.ping();
  await server.createPod("default", "p");
  await sleep(150);
  assert.deepEqual([socket.events.length, stream.events.length, pongs, socket.over], [0, 0, 0, false]);
  const fresh = await server.watch(WATCH);
  assert.deepEqual(await fresh.nextBrief(1), ["ADDED default/p"], "new connections work");
  assert.deepEqual(await socket.nextBrief(1), ["ADDED default/p"]);
  assert.deepEqual(await stream.nextBrief(1), ["ADDED default/p"]);
});

testBoth("freeze_for_good_ends_with_clear", async (t) => {
  const server = await serverFor(t);
  const socket = await server.watch(WATCH);
  await trigger(server, "freeze");
  await server.createPod("default", "p");
  await sleep(50);
  assert.equal(socket.events.length, 0);
  await trigger(server, "clear");
  assert.deepEqual(await socket.nextBrief(1), ["ADDED default/p"]);
});

testBoth("expire_makes_every_known_version_too_old", async (t) => {
  const server = await serverFor(t);
  await server.createPod("default", "p");
  const { metadata } = (await server.api("/api/v1/pods")).body;
  const socket = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}`);
  const kept = await (async () => {
    await trigger(server, "expire", { drop: false });
    return socket.over;
  })();
  assert.equal(kept, false);
  assert.equal((await trigger(server, "expire")).body.affected, 1);
  assert.equal((await socket.ended).code, 1006);
  const resumed = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}`);
  assert.match(
    brief(await resumed.next()),
    new RegExp(`^ERROR Expired: too old resource version: ${metadata.resourceVersion} \\(\\d+\\)$`),
  );
  const relisted = (await server.api("/api/v1/pods")).body;
  assert.deepEqual(namesOf(relisted), ["default/p"]);
  const again = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${relisted.metadata.resourceVersion}`);
  await server.createPod("default", "q");
  assert.deepEqual(await again.nextBrief(1), ["ADDED default/q"]);
});

testBoth("status_refuses_for_some_requests_or_some_time", async (t) => {
  const server = await serverFor(t);
  await trigger(server, "status", { code: 503, retryAfterSeconds: 2, requests: 2, on: "list" });
  const watch = await server.watch(WATCH);
  assert.equal(watch.over, false);
  for (let round = 0; round < 2; round += 1) {
    const refused = await server.api("/api/v1/pods");
    assert.equal(refused.code, 503);
    assert.equal(refused.headers.get("retry-after"), "2");
    assert.equal(refused.body.reason, "ServiceUnavailable");
    assert.equal(refused.body.details.retryAfterSeconds, 2);
  }
  assert.equal((await server.api("/api/v1/pods")).code, 200);
  await trigger(server, "status", { code: 429, ms: 150 });
  const busy = await server.api(WATCH);
  assert.deepEqual([busy.code, busy.body.reason, busy.headers.get("retry-after")], [429, "TooManyRequests", "1"]);
  await assert.rejects(server.watch(WATCH), { code: 429 });
  await sleep(200);
  assert.equal((await server.api("/api/v1/pods")).code, 200);
  await trigger(server, "status", { code: 429, plain: true, requests: 1, resource: "nodes" });
  assert.equal((await server.api("/api/v1/pods")).code, 200);
  const plain = await server.api("/api/v1/nodes");
  assert.deepEqual(
    [plain.code, plain.headers.get("content-type"), plain.text],
    [429, "text/plain; charset=utf-8", "Too many requests, please try again later.\n"],
  );
});

testBoth("refuse_upgrade_hits_only_websockets", async (t) => {
  const server = await serverFor(t);
  await trigger(server, "refuseUpgrade", { requests: 1, code: 502 });
  assert.equal((await server.api("/api/v1/pods")).code, 200);
  await assert.rejects(server.watch(WATCH), { code: 502 });
  await server.watch(WATCH);
});

testBoth("stale_replica_lists_and_watches_from_the_past", async (t) => {
  const server = await serverFor(t);
  for (const name of ["a", "b", "c", "d"]) await server.createPod("default", name);
  const current = Number(server.control.status().resourceVersion);
  const established = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${current}`);
  await trigger(server, "staleReplica", { behind: 2, ms: 600 });
  const list = (await server.api("/api/v1/pods")).body;
  assert.equal(list.metadata.resourceVersion, String(current - 2));
  assert.deepEqual(namesOf(list), ["default/a", "default/b"]);
  assert.equal((await server.api("/api/v1/namespaces/default/pods/d")).code, 404);
  const behind = await server.watch(
    "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
  );
  assert.deepEqual(await behind.nextBrief(3), ["ADDED default/a", "ADDED default/b", "BOOKMARK end"]);
  const resumed = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${current}`);
  await server.createPod("default", "e");
  assert.deepEqual(await established.nextBrief(1), ["ADDED default/e"], "who was connected before sees on");
  assert.deepEqual(await behind.nextBrief(1), ["ADDED default/c"], "the replica follows at its distance");
  assert.deepEqual(await behind.nextBrief(2), ["ADDED default/d", "ADDED default/e"], "and catches up at the end");
  assert.deepEqual(await resumed.nextBrief(1), ["ADDED default/e"], "without going back behind what was asked for");
  assert.equal((await server.api("/api/v1/pods")).body.items.length, 5);
});

testBoth("slow_pages_drip", async (t) => {
  const server = await serverFor(t, { pods: 10 });
  await trigger(server, "slowPages", { pageMs: 300, chunks: 5, requests: 1 });
  const started = performance.now();
  const response = await fetch(`${server.url}/api/v1/pods?pretty=false`);
  let chunks = 0;
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of /** @type {any} */ (response.body)) {
    chunks += 1;
    text += decoder.decode(part, { stream: true });
  }
  assert.ok(performance.now() - started >= 250);
  assert.ok(chunks >= 3);
  assert.equal(JSON.parse(text).items.length, 10);
});

testBoth("strange_frames_arrive_as_they_are_and_the_stream_goes_on", async (t) => {
  const server = await serverFor(t);
  const pod = await server.createPod("default", "p");
  const nudge = (/** @type {string} */ mark) =>
    server.api("/api/v1/namespaces/default/pods/p", {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { annotations: { mark } } }),
    });
  const socket = await server.watch(WATCH);
  const stream = await openStream(server.url, WATCH);
  await Promise.all([socket.next(), stream.next()]);
  for (const client of [socket, stream]) await trigger(server, "badFrame", { transport: client === socket ? "websocket" : "http" });
  for (const client of [socket, stream]) assert.equal((await client.next()).type, "BROKEN");
  await trigger(server, "unknownType");
  for (const client of [socket, stream]) assert.equal(brief(await client.next()), "RENAMED default/p");
  await trigger(server, "noVersion");
  for (const client of [socket, stream]) {
    const event = await client.next();
    assert.equal(event.type, "MODIFIED");
    assert.equal(event.object.metadata.resourceVersion, undefined);
  }
  await nudge("1");
  for (const client of [socket, stream]) assert.equal(brief(await client.next()), "MODIFIED default/p");
  await trigger(server, "outOfOrder");
  for (const client of [socket, stream]) {
    const event = await client.next();
    assert.equal(event.type, "MODIFIED");
    assert.equal(event.object.metadata.resourceVersion, pod.metadata.resourceVersion, "an older version than the one before");
  }
  await nudge("2");
  for (const client of [socket, stream]) assert.equal((await client.next()).object.metadata.annotations.mark, "2");
});

testBoth("bad_utf8_in_a_frame", async (t) => {
  const server = await serverFor(t);
  const socket = await server.watch(WATCH);
  await trigger(server, "badFrame", { how: "utf8" });
  const { code, error } = await socket.ended;
  // The client's side of the protocol finds it: 1007 is what it closes with.
  assert.equal(/** @type {any} */ (error).code, "WS_ERR_INVALID_UTF8");
  assert.ok(code === 1007 || code === 1006);
});

testBoth("html_error_page_instead_of_json", async (t) => {
  const server = await serverFor(t);
  for (const code of [200, 502]) {
    await trigger(server, "htmlErrorPage", { code, requests: 1 });
    const page = await server.api("/api/v1/pods");
    assert.deepEqual([page.code, page.headers.get("content-type")], [code, "text/html"]);
    assert.match(page.text, /^<!DOCTYPE html>/);
    await trigger(server, "htmlErrorPage", { code, requests: 1, on: "watch" });
    await assert.rejects(server.watch(WATCH), { code });
    assert.equal((await server.api("/api/v1/pods")).code, 200);
  }
});

testBoth("a_big_object_comes_and_goes", async (t) => {
  const server = await serverFor(t);
  const socket = await server.watch(WATCH);
  await trigger(server, "bigObject", { bytes: 10 * 1024 * 1024 });
  const event = await socket.next();
  assert.equal(event.type, "ADDED");
  assert.ok(socket.frames[0].length > 10 * 1024 * 1024);
  assert.equal(server.control.digest("pods").count, 1);
  await trigger(server, "clear");
  assert.equal((await socket.next()).type, "DELETED");
  assert.equal(server.control.digest("pods").count, 0);
});

testBoth("clear_ends_what_lasts_and_status_tells_what_is_on", async (t) => {
  const server = await serverFor(t);
  await trigger(server, "status", { ms: 60_000 });
  await trigger(server, "slowPages", { requests: 3 });
  const { body } = await server.api("/demo/status");
  assert.deepEqual(Object.keys(body.faults.on).sort(), ["slowPages", "status"]);
  assert.ok(body.faults.on.status.leftMs > 50_000);
  assert.equal(body.faults.on.slowPages.leftRequests, 3);
  assert.equal((await trigger(server, "clear")).body.affected, 2);
  assert.deepEqual((await server.api("/demo/status")).body.faults.on, {});
  assert.equal((await server.api("/api/v1/pods")).code, 200);
});

testBoth("bad_commands_are_refused", async (t) => {
  const server = await serverFor(t);
  for (const [name, options, code, message] of /** @type {[string, unknown, number, RegExp][]} */ ([
    ["nothing", {}, 404, /^no fault is called "nothing"; there are drop, /],
    ["drop", { frame: 1 }, 400, /^the fault "drop" has no option "frame"; it has resource, /],
    ["drop", { midFrame: "yes" }, 400, /^the option "midFrame" of the fault "drop" is a boolean$/],
    ["freeze", { ms: -1 }, 400, /is not negative$/],
    ["status", { on: "delete" }, 400, /is one of list, watch, all$/],
    ["drop", [], 400, /^options of a fault are a JSON object$/],
    ["bigObject", { resource: "none" }, 400, /^there is no resource "none"$/],
  ])) {
    const answer = await trigger(server, name, options);
    assert.equal(answer.code, code, name);
    assert.match(answer.body.message, message);
  }
  assert.equal(
    (await server.api("/demo/faults/drop", { method: "POST", body: "{", headers: { "content-type": "application/json" } })).code,
    400,
  );
  assert.throws(() => server.control.fault("nothing"), /no fault is called/);
});
