// Writes of the built package in Node: over a Source object, and over HTTP where requests, credentials and refusals are seen as they are.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { afterEach, test } from "node:test";

import { createWatchCache, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { pod } from "./lib/pod.mjs";

const opened = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

function open(source, options = {}) {
  const cache = createWatchCache({ flush: "microtask", retry: { initialMs: 1, capMs: 5 }, ...options });
  opened.push(() => cache.close());
  return { cache, resource: cache.resource({ source, id: "pods" }) };
}

const writable = () => memorySource({ objects: [pod("ns/a")] });

const READS = ["list", "watch"];
/** How many requests earlier looks have seen. */
const seen = new WeakMap();
/** The verbs of all requests since the last look, but the stream's own. */
function names(upstream) {
  const requests = upstream.requests.slice(seen.get(upstream) ?? 0);
  seen.set(upstream, upstream.requests.length);
  return requests.map(({ verb }) => verb).filter((verb) => !READS.includes(verb));
}

test("a source takes writes by methods of its own", async () => {
  const upstream = writable();
  const { resource } = open(upstream);
  await resource.synced();
  const created = await resource.create(pod("ns/b"));
  assert.equal(resource.peek("ns/b"), created);
  const updated = await resource.update("ns/b", (current) => ({ ...current, status: { phase: "Failed" } }));
  assert.equal(resource.peek("ns/b"), updated);
  assert.equal(updated.status.phase, "Failed");
  await resource.delete("ns/b", { preconditions: { uid: "ns/b" }, gracePeriodSeconds: 0, propagationPolicy: "Orphan" });
  assert.equal(resource.peek("ns/b"), undefined);
  const [create, update, remove] = upstream.requests.filter(({ verb }) => !READS.includes(verb));
  assert.deepEqual(create, { verb: "create", namespace: "ns", body: JSON.stringify(pod("ns/b")) });
  assert.deepEqual([update.verb, update.name, remove.verb], ["update", "b", "delete"]);
  assert.equal(JSON.parse(update.body).metadata.resourceVersion, created.metadata.resourceVersion);
  assert.deepEqual(JSON.parse(remove.body), {
    kind: "DeleteOptions",
    apiVersion: "v1",
    preconditions: { uid: "ns/b" },
    gracePeriodSeconds: 0,
    propagationPolicy: "Orphan",
  });
});

test("a source without such methods takes no writes, and says which one it lacks", async () => {
  const { resource } = open(memorySource({ objects: [pod("ns/a")], readOnly: true }));
  for (const [call, method] of [
    [() => resource.create(pod("ns/b")), "create"],
    [() => resource.update("ns/a", (current) => current), "update"],
    [() => resource.delete("ns/a"), "delete"],
  ]) {
    await assert.rejects(call(), { name: "WatchCacheError", code: "invalid", message: `the source has no method ${method}` });
  }
});

test("a change is made in a copy, of the newest object after a conflict", async () => {
  const upstream = writable();
  const { resource } = open(upstream, { debug: true });
  await resource.synced();
  const held = resource.peek("ns/a");
  const shown = [];
  const updated = await resource.update("ns/a", (current) => {
    shown.push(current.metadata.resourceVersion);
    if (shown.length === 1) upstream.put({ ...pod("ns/a"), status: { restarts: 7 } });
    current.status.restarts += 1;
    return current;
  });
  assert.equal(updated.status.restarts, 8);
  assert.equal(held.status.restarts, 0, "what readers share is as it was");
  assert.deepEqual(shown, ["101", "102"]);
  assert.deepEqual(names(upstream), ["update", "get", "update"]);
});

test("what a function throws is what the caller gets, and it may use the cache meanwhile", async () => {
  const upstream = writable();
  const { cache, resource } = open(upstream);
  await resource.synced();
  const seen = [];
  let list;
  await resource.update("ns/a", (current) => {
    seen.push(resource.peek("ns/a").metadata.name, resource.size, resource.byIndex("namespace", "ns").length);
    resource.watch().stop();
    list = resource.list();
    return { ...current, status: {} };
  });
  assert.deepEqual(seen, ["a", 1, 1]);
  assert.equal((await list).items.length, 1);
  for (const mine of [new TypeError("mine"), "text", undefined, null]) {
    const failed = resource.update("ns/a", () => {
      throw mine;
    });
    await failed.then(
      () => assert.fail("it was thrown"),
      (error) => assert.equal(error, mine),
    );
  }
  names(upstream);
  const closing = resource.update("ns/a", (current) => {
    void cache.close();
    return { ...current, status: { late: true } };
  });
  await assert.rejects(closing, { code: "closed" });
  assert.deepEqual(names(upstream), [], "nothing is written for who has closed");
});

test("a change that is not given back is not dropped without a word", async () => {
  const upstream = writable();
  const { resource } = open(upstream);
  await resource.synced();
  const forgetful = resource.update("ns/a", (current) => {
    current.status.phase = "Failed";
  });
  await assert.rejects(forgetful, { name: "WatchCacheError", code: "invalid", message: /return the changed object$/ });
  assert.equal(await resource.update("ns/a", () => undefined), resource.peek("ns/a"));
  assert.deepEqual(names(upstream), ["get", "get"]);
});

test("what is no object is not written", async () => {
  const upstream = writable();
  const { resource } = open(upstream);
  await resource.synced();
  const cyclic = {};
  cyclic.self = cyclic;
  const unreadable = {
    get metadata() {
      throw null;
    },
  };
  for (const [what, message] of [
    [null, /not null/],
    [[], /not an array/],
    ["text", /not string/],
    [Promise.resolve(pod("ns/a")), /not a promise/],
    [cyclic, /has no JSON/],
    [{ toJSON() {} }, /has no JSON: its toJSON gives undefined/],
    [unreadable, /has no JSON: null/],
  ]) {
    await assert.rejects(resource.create(what), { name: "WatchCacheError", code: "invalid", message });
    const update = resource.update("ns/a", () => what);
    await assert.rejects(update, { name: "WatchCacheError", code: "invalid", message: what instanceof Promise ? /promise/ : message });
  }
  await assert.rejects(
    resource.update("ns/a", () => ({ spec: {} })),
    { code: "invalid", message: /it has no metadata/ },
  );
  await assert.rejects(resource.create({ metadata: { name: "x", resourceVersion: "1" } }), { code: "invalid" });
  await assert.rejects(
    resource.update("a/b/c", (current) => current),
    { code: "invalid" },
  );
  await assert.rejects(resource.delete("ns/a", { gracePeriodSeconds: -1 }), { code: "invalid" });
  assert.deepEqual(
    names(upstream).filter((name) => name !== "get"),
    [],
  );
});

test("an aborted write gives up its request, and tries no more", async () => {
  const upstream = writable();
  const { resource } = open(upstream);
  await resource.synced();
  const given = [];
  upstream.before = (_, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => (given.push("up"), reject(signal.reason))));
  const controller = new AbortController();
  const writing = resource.update("ns/a", (current) => ({ ...current, status: {} }), { signal: controller.signal });
  while (upstream.asked("update").length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort(new Error("enough"));
  await assert.rejects(writing, (error) => error instanceof DOMException && error.name === "AbortError");
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual([given, names(upstream)], [["up"], ["update"]]);
  await assert.rejects(resource.delete("ns/a", { signal: AbortSignal.abort() }), { name: "AbortError" });
  await assert.rejects(resource.create(pod("ns/b"), { signal: AbortSignal.abort() }), { name: "AbortError" });
  assert.deepEqual(names(upstream), []);
});

// ---------------------------------------------------------------------------------------------- over HTTP

/** A server with one object in its list and no news, whose answers to everything else a test gives: [code, body, headers]. */
async function serve(answers) {
  const asked = [];
  const item = { metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "5" } };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://host");
    if (url.searchParams.has("watch")) return void response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    if (request.method === "GET" && url.pathname === "/api/v1/pods") {
      response.writeHead(200, { "content-type": "application/json" });
      return void response.end(JSON.stringify({ kind: "PodList", metadata: { resourceVersion: "7" }, items: [item] }));
    }
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      const { authorization, "content-type": type } = request.headers;
      asked.push({ line: `${request.method} ${url.pathname}`, query: url.search, body, authorization, type });
      const answer = answers.shift();
      if (answer === undefined) return void request.socket.destroy();
      const [code, document, headers] = answer;
      response.writeHead(code, { "content-type": "application/json", ...headers });
      response.end(typeof document === "string" ? document : JSON.stringify(document));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  const tokens = [];
  const auth = () => ({ token: `secret-${tokens.push("") - 1}`, query: { as: "me" } });
  const cache = createWatchCache({ server: `http://127.0.0.1:${server.address().port}`, transport: "fetch", auth });
  opened.push(() => cache.close());
  const resource = cache.resource("pods");
  await resource.synced();
  return { asked, resource };
}

const status = (code, reason, message, details) => ({
  kind: "Status",
  apiVersion: "v1",
  status: "Failure",
  code,
  reason,
  message,
  details,
});
/** At the version of the list, so that nothing has to be waited for. */
const answered = { metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "7" }, spec: { done: true } };

test("requests are those of the API, each with credentials of its own", async () => {
  const { asked, resource } = await serve([
    [201, answered],
    [200, answered],
    [200, { kind: "Status", status: "Success", details: { uid: "another" } }],
  ]);
  await resource.create({ metadata: { name: "a", namespace: "ns" } });
  await resource.update("ns/a", (current) => ({ ...current, spec: {} }));
  await resource.delete("ns/a", { preconditions: { resourceVersion: "7" } });
  assert.deepEqual(
    asked.map(({ line }) => line),
    ["POST /api/v1/namespaces/ns/pods", "PUT /api/v1/namespaces/ns/pods/a", "DELETE /api/v1/namespaces/ns/pods/a"],
  );
  assert.deepEqual(
    asked.map(({ body }) => JSON.parse(body)),
    [
      { metadata: { name: "a", namespace: "ns" } },
      { metadata: { name: "a", namespace: "ns", uid: "u", resourceVersion: "5" }, spec: {} },
      { kind: "DeleteOptions", apiVersion: "v1", preconditions: { resourceVersion: "7" } },
    ],
  );
  for (const { type, query } of asked) assert.deepEqual([type, query], ["application/json", "?pretty=false&as=me"]);
  assert.equal(new Set(asked.map(({ authorization }) => authorization)).size, 3, "auth is asked at each request");
});

test("401 has auth asked once more; no token is part of an error", async () => {
  const unauthorized = [401, status(401, "Unauthorized", "Unauthorized")];
  const { asked, resource } = await serve([unauthorized, [200, answered], unauthorized, unauthorized]);
  await resource.update("ns/a", (current) => current);
  assert.notEqual(asked[0].authorization, asked[1].authorization);
  await assert.rejects(resource.delete("ns/a"), (error) => {
    assert.ok(error instanceof WatchCacheError);
    assert.equal(error.code, "unauthorized");
    assert.ok(!`${error.stack} ${JSON.stringify(error)}`.includes("secret"));
    return true;
  });
  assert.equal(asked.length, 4);
});

test("429 is waited out, as its header or its Status says", async () => {
  const { asked, resource } = await serve([
    [429, "Too many requests, please try again later.\n", { "content-type": "text/plain", "retry-after": "1" }],
    [200, answered],
  ]);
  const began = performance.now();
  await resource.update("ns/a", (current) => current);
  assert.ok(performance.now() - began >= 990);
  assert.deepEqual(
    asked.map(({ line }) => line.split(" ")[0]),
    ["PUT", "PUT"],
  );
});

test("refusals keep the server's code, words and causes", async () => {
  const causes = [{ reason: "FieldValueInvalid", message: "Invalid value: -1", field: "spec.replicas" }];
  const { asked, resource } = await serve([
    [422, status(422, "Invalid", "Pod is invalid", { causes })],
    [200, { ...answered, metadata: { ...answered.metadata, resourceVersion: "5" } }],
    [403, status(403, "Forbidden", "pods is forbidden")],
    [405, status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")],
    [200, "<html>sign in</html>", { "content-type": "text/html" }],
  ]);
  await assert.rejects(
    resource.update("ns/a", (current) => current),
    (error) => error.code === "invalid" && error.status.details.causes[0].field === "spec.replicas",
  );
  await assert.rejects(resource.delete("ns/a"), { code: "forbidden", message: "pods is forbidden" });
  await assert.rejects(resource.create({ metadata: { name: "b" } }), { code: "invalid" });
  await assert.rejects(resource.create({ metadata: { name: "b" } }), { code: "protocol" });
  await assert.rejects(resource.create({ metadata: { name: "b" } }), (error) => {
    assert.equal(error.code, "network");
    assert.match(error.message, /; whether the write has happened is not known$/);
    return true;
  });
  assert.equal(asked.length, 6, "a creation without an answer is not tried again");
});
