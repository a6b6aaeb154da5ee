// Answers of a Kubernetes API that are not what was asked for.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const soon = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Pods of a server whose lists and watches are answered so. Gives the lists that were asked for, and a way to send events. */
async function pods(t, { items = [], allowed = ["list", "watch"], options = {} } = {}) {
  const asked = [];
  const watches = new Set();
  const server = createServer((request, response) => {
    const what = new URL(request.url, "http://host").searchParams.has("watch") ? "watch" : "list";
    asked.push(what);
    const code = allowed.includes(what) ? 200 : 405;
    response.writeHead(code, { "content-type": "application/json" });
    if (code === 405) {
      const message = "the server does not allow this method on the requested resource";
      return void response.end(JSON.stringify({ kind: "Status", status: "Failure", code, reason: "MethodNotAllowed", message }));
    }
    if (what === "watch") {
      response.flushHeaders();
      watches.add(response);
      return void response.on("close", () => watches.delete(response));
    }
    response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cache = createWatchCache({ server: `http://127.0.0.1:${server.address().port}`, transport: "fetch", ...options });
  t.after(async () => {
    await cache.close();
    server.closeAllConnections();
    server.close();
  });
  const send = (type, object) => watches.forEach((watch) => watch.write(`${JSON.stringify({ type, object })}\n`));
  return { asked, send, resource: cache.resource("pods") };
}

for (const what of ["list", "watch"]) {
  test(`405 to the ${what} is invalid: the phase is failed, and it is not asked for at once again`, async (t) => {
    const { asked, resource } = await pods(t, { allowed: ["list", "watch"].filter((other) => other !== what) });
    const synced = resource.synced();
    if (what === "list") await assert.rejects(synced, (error) => error.code === "invalid" && !error.retryable && error.status.code === 405);
    await until(() => resource.status.phase === "failed");
    assert.deepEqual([resource.status.error.code, resource.status.error.status.reason], ["invalid", "MethodNotAllowed"]);
    const before = asked.length;
    await soon(500);
    assert.equal(asked.length, before, "nothing but who asks has it tried again");
    assert.equal(resource.status.retryAt, undefined);
    resource.resume();
    await until(() => asked.length > before);
    assert.ok(asked.length <= before + 2, "once: a list, and its watch");
  });
}

const item = (name, version, kind) => ({ ...(kind && { kind }), metadata: { name, namespace: "a", resourceVersion: String(version) } });
const retry = { initialMs: 5, capMs: 20 };

test("an event of another kind than the list's ends the round, and the next list says how it stands", async (t) => {
  const { asked, send, resource } = await pods(t, { items: [item("x", 5)], options: { retry } });
  const told = [];
  resource.addEventListener("error", () => told.push(resource.status.error.message));
  await resource.synced();
  await until(() => resource.status.phase === "live");
  send("ADDED", item("y", 11, "Pod"));
  await until(() => resource.size === 2);
  send("ADDED", item("w", 12, "Service"));
  await until(() => told.length > 0);
  assert.deepEqual(told, ["the server sent a Service where objects are of the kind Pod"]);
  // This server's list is older than what it has sent. The list is refused, and what is held stays.
  await until(() => asked.filter((what) => what === "list").length > 1);
  assert.deepEqual([resource.peek("a/w"), resource.size], [undefined, 2]);
});

test("a source of the user's own may mix kinds", async () => {
  const upstream = memorySource({ objects: [item("x", 5, "Pod")] });
  const { resource } = open(upstream);
  await resource.synced();
  await until(() => upstream.streams === 1);
  upstream.put(item("w", 12, "Service"));
  await until(() => resource.size === 2);
  assert.equal(resource.status.phase, "live");
});

test("key_02: a watch with a namespace that is no path is refused as a list is", async (t) => {
  const { resource } = await pods(t);
  await resource.synced();
  for (const namespace of ["..", ".", "a/.."]) {
    const refused = { code: "invalid", retryable: false, message: `invalid key: "/pods/${namespace}"` };
    await assert.rejects(resource.list({ namespace, resourceVersion: "0" }), refused);
    await assert.rejects(resource.watch({ namespace }).next(), refused);
  }
});

for (const [code, reason, what] of [
  [400, "BadRequest", "invalid"],
  [401, "Unauthorized", "unauthorized"],
  [403, "Forbidden", "forbidden"],
  [404, "NotFound", "not-found"],
  [405, "MethodNotAllowed", "invalid"],
]) {
  test(`a list of what the server refuses with ${code} is refused, as a get is; watches and views wait`, async () => {
    const upstream = memorySource({ objects: [pod("a/x")] });
    upstream.fail({ code, reason, message: `no: ${code}` });
    const { resource } = open(upstream);
    const refused = { code: what, message: `no: ${code}` };
    const watch = resource.watch().next();
    const view = resource.view();
    view.subscribe(() => {});
    const early = [resource.list(), resource.list({ labelSelector: "app" }), resource.list({ resourceVersion: "0" })];
    const all = await Promise.allSettled([...early, resource.synced(), resource.get("a/x")]);
    for (const { reason } of all) assert.deepEqual([reason?.code, reason?.message], [what, `no: ${code}`]);
    await assert.rejects(resource.list({ resourceVersion: "0" }), refused, "and who comes later");
    await assert.rejects(resource.list({ resourceVersion: "0", wait: false }), { code: "too-many-requests" });
    await assert.rejects(resource.list({ wait: false }), refused);
    upstream.recover();
    resource.resume();
    assert.equal((await watch).value.key, "a/x");
    assert.equal((await resource.list()).items.length, 1);
    await until(() => view.total === 1);
  });
}

test("a list that waits for a new state is refused when that is", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  await resource.synced();
  upstream.fail({ code: 403, reason: "Forbidden", message: "no more" });
  upstream.drop();
  await until(() => resource.status.phase === "failed");
  await assert.rejects(resource.list(), { code: "forbidden", message: "no more" });
  await resource.synced();
});

for (const items of [[], [pod("a/x")]]) {
  test(`a state of ${items.length} objects is stale while the server is gone`, async () => {
    const upstream = memorySource({ objects: items });
    const { resource } = open(upstream);
    const view = resource.view();
    view.subscribe(() => {});
    const interruptions = [];
    const informer = resource.informer({ onWatchError: (interruption) => void interruptions.push(interruption) });
    assert.equal(resource.status.stale, false);
    await informer.synced;
    await until(() => resource.status.phase === "live" && view.getSnapshot().loaded);
    assert.deepEqual([resource.status.stale, view.getSnapshot().stale], [false, false]);
    upstream.fail({ code: 503, message: "gone" });
    upstream.drop({ error: new TypeError("gone") });
    await until(() => resource.status.phase === "reconnecting");
    await until(() => view.getSnapshot().stale);
    const { stale, staleSince } = resource.status;
    assert.ok(stale && staleSince <= Date.now());
    assert.deepEqual([view.getSnapshot().loaded, view.total], [true, items.length]);
    assert.ok(interruptions.length > 0 && interruptions.every((told) => told.stale));
    upstream.recover();
    resource.resume();
    await until(() => !view.getSnapshot().stale && resource.status.phase === "live");
    assert.deepEqual([resource.status.stale, resource.status.staleSince], [false, undefined]);
  });
}

test("get_03: who may get an object and not list it gets it, at its own address", async (t) => {
  const cache = createWatchCache();
  t.after(() => cache.close());
  const source = memorySource({ objects: [{ metadata: { namespace: "web", name: "one" }, data: { a: "1" } }] });
  source.fail({ code: 403, reason: "Forbidden", message: "you may not list" }, { verbs: ["list"] });
  const resource = cache.resource({ source, id: "get-alone" });
  await assert.rejects(resource.synced(), { code: "forbidden" });

  for (const options of [undefined, { resourceVersion: "0" }]) {
    assert.equal((await resource.get("web/one", options)).data.a, "1");
    for (const key of ["web/two", "other/one", "one"]) await assert.rejects(resource.get(key, options), { code: "not-found" });
  }
  // At a version it would have to be known that the object is as new as that.
  await assert.rejects(resource.get("web/one", { resourceVersion: "5" }), { code: "forbidden", message: /may not list/ });
  await assert.rejects(resource.list(), { code: "forbidden" });

  source.fail({ code: 403, reason: "Forbidden", message: "you may not get" }, { verbs: ["get"] });
  await assert.rejects(resource.get("web/one"), { code: "forbidden", message: /may not get/ });

  const { list, watch } = source;
  const alone = cache.resource({ source: { list: list.bind(source), watch: watch.bind(source) }, id: "without-get" });
  await assert.rejects(alone.get("web/one"), { code: "forbidden", message: /may not list/ });
});

test("get_03: a get at the object's own address is not asked for where the resource has a selector, which it would pass over", async (t) => {
  const asked = [];
  const server = createServer(({ url }, response) => {
    asked.push(new URL(url, "http://host").pathname);
    const alone = asked.at(-1) === "/api/v1/namespaces/web/configmaps/one";
    const one = { kind: "ConfigMap", apiVersion: "v1", metadata: { namespace: "web", name: "one", resourceVersion: "3" } };
    const status = { kind: "Status", status: "Failure", code: 403, reason: "Forbidden", message: "you may not list" };
    response.writeHead(alone ? 200 : 403, { "content-type": "application/json" }).end(JSON.stringify(alone ? one : status));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cache = createWatchCache({ server: `http://127.0.0.1:${server.address().port}` });
  t.after(async () => {
    await cache.close();
    server.closeAllConnections();
    server.close();
  });
  const maps = { version: "v1", resource: "configmaps", namespace: "web" };
  for (const selector of [{ labelSelector: "app=web" }, { fieldSelector: "metadata.name!=two" }])
    await assert.rejects(cache.resource({ ...maps, ...selector }).get("web/one"), { code: "forbidden", message: /may not list/ });
  assert.deepEqual([...new Set(asked)], ["/api/v1/namespaces/web/configmaps"]);
  assert.equal((await cache.resource(maps).get("web/one")).metadata.name, "one");
});
