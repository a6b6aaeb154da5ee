// Patches, subresources, dry runs and deletions of many, over the real core and an upstream in memory.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";

import { pod } from "./lib/pod.mjs";

const opened = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

async function open(objects = [pod("ns/a")], options = {}, methods = {}) {
  const upstream = Object.assign(memorySource({ objects }), methods);
  const cache = createWatchCache({ flush: "microtask", retry: { initialMs: 1, capMs: 5 }, ...options });
  opened.push(() => cache.close());
  const resource = cache.resource({ source: upstream, id: "pods" });
  await resource.synced();
  return { upstream, resource };
}

test("a source gets a patch as it was given, with its media type and what else was said", async () => {
  const { upstream, resource } = await open();
  const patch = { metadata: { labels: { app: "web" } } };
  const patched = await resource.patch("ns/a", patch, { type: "merge", fieldManager: "me", fieldValidation: "Strict" });
  assert.equal(resource.peek("ns/a"), patched, "the very object that is held");
  assert.equal(patched.metadata.labels.app, "web");
  assert.deepEqual(upstream.asked("patch"), [
    {
      verb: "patch",
      namespace: "ns",
      name: "a",
      type: "application/merge-patch+json",
      fieldManager: "me",
      fieldValidation: "Strict",
      body: JSON.stringify(patch),
    },
  ]);
  assert.deepEqual(upstream.asked("get"), [], "nothing is read for it");
});

test("each type has its media type, and force goes with apply", async () => {
  const { upstream, resource } = await open();
  await resource.patch("ns/a", { metadata: { labels: { a: "1" } } }, { type: "strategic" });
  await resource.patch("ns/a", [{ op: "add", path: "/metadata/labels/b", value: "2" }], { type: "json" });
  await resource.patch("ns/b", { metadata: { labels: { c: "3" } } }, { type: "apply", fieldManager: "me", force: true });
  assert.deepEqual(resource.peek("ns/a").metadata.labels, { app: "web", a: "1", b: "2" });
  assert.deepEqual(resource.peek("ns/b").metadata.labels, { c: "3" }, "an apply adds what is missing");
  const sent = upstream.asked("patch").map(({ type, force }) => [type, force]);
  assert.deepEqual(sent, [
    ["application/strategic-merge-patch+json", undefined],
    ["application/json-patch+json", undefined],
    ["application/apply-patch+yaml", true],
  ]);
});

test("what is no patch of its type is refused before anything is sent", async () => {
  const { upstream, resource } = await open();
  const operations = [{ op: "remove", path: "/status" }];
  const loop = {};
  loop.self = loop;
  for (const [patch, options, message] of [
    [{}, {}, /^type is missing/],
    [{}, { type: "yaml" }, /^type is one of merge, strategic, json, apply, not "yaml"/],
    [{}, { type: "json" }, /^a patch of type "json" is an array of operations, such as /],
    [operations, { type: "merge" }, /^operations are a patch of type "json"/],
    [{}, { type: "apply" }, /^a patch of type "apply" needs a fieldManager/],
    [{}, { type: "merge", force: true }, /^force is for patches of type "apply"/],
    [null, { type: "merge" }, /^a patch is an object or, of type "json", an array of operations, not null/],
    ["{}", { type: "merge" }, /^a patch is an object or, of type "json", an array of operations, not string/],
    [Promise.resolve({}), { type: "merge" }, /, not a promise/],
    [loop, { type: "merge" }, /^the object has no JSON: /],
    [{}, { type: "merge", subresource: "" }, /^subresource is the name of a subresource, not empty text/],
    // Addresses are made of it: these would be those of the collection, and of what is above it.
    [{}, { type: "merge", subresource: "." }, /^subresource is the name of a subresource/],
    [{}, { type: "merge", subresource: ".." }, /^subresource is the name of a subresource/],
  ]) {
    await assert.rejects(resource.patch("ns/a", patch, options), { name: "WatchCacheError", code: "invalid", message });
  }
  await assert.rejects(resource.patch("", {}, { type: "merge" }), { code: "invalid" });
  assert.deepEqual(upstream.asked("patch"), []);
});

test("what a patch does not fit is refused by the upstream, and nothing is changed", async () => {
  const { resource } = await open();
  const held = resource.peek("ns/a");
  for (const [patch, message] of [
    [[{ op: "test", path: "/metadata/name", value: "b" }], /test at "\/metadata\/name": the value there is another$/],
    [[{ op: "remove", path: "/nothing" }], /remove at "\/nothing": there is nothing$/],
    [[{ op: "add", path: "nothing", value: 1 }], /that is no JSON pointer$/],
    [[{ op: "add", path: "/status" }], /it has no value$/],
    [[{ op: "jump", path: "/status" }], /there is no such operation$/],
    [[null], /an operation lacks its path$/],
    [[{ op: "remove" }], /an operation lacks its path$/],
    [[{ op: "move", from: "/status", path: "/status/inside" }], /it is inside of what is moved$/],
  ]) {
    await assert.rejects(resource.patch("ns/a", patch, { type: "json" }), (error) => {
      assert.deepEqual([error.code, error.status.code], ["invalid", 422]);
      assert.match(error.message, message);
      return true;
    });
  }
  const stale = { metadata: { resourceVersion: "1" } };
  await assert.rejects(resource.patch("ns/a", stale, { type: "merge" }), { code: "conflict" });
  await assert.rejects(resource.patch("ns/none", {}, { type: "merge" }), { code: "not-found" });
  assert.equal(resource.peek("ns/a"), held);
});

test("an operation of each kind does what RFC 6902 says, and members called __proto__ are members", async () => {
  const { resource } = await open([{ ...pod("ns/a"), status: { list: [1, 2, 3], "a/b": { c: null } } }]);
  const patched = await resource.patch(
    "ns/a",
    [
      { op: "add", path: "/status/list/1", value: "between" },
      { op: "add", path: "/status/list/-", value: "last" },
      { op: "remove", path: "/status/list/0" },
      { op: "replace", path: "/status/a~1b/c", value: { d: 1 } },
      { op: "copy", from: "/status/a~1b", path: "/status/copied" },
      { op: "move", from: "/status/a~1b", path: "/status/moved" },
      { op: "test", path: "/status/copied", value: { c: { d: 1 } } },
      { op: "add", path: "/status/__proto__", value: { polluted: true } },
    ],
    { type: "json" },
  );
  const status = JSON.parse('{"list":["between",2,3,"last"],"copied":{"c":{"d":1}},"moved":{"c":{"d":1}},"__proto__":{"polluted":true}}');
  assert.deepEqual(patched.status, status);
  assert.equal({}.polluted, undefined);
  const merged = await resource.patch("ns/a", JSON.parse('{"status":{"list":null,"__proto__":{"x":1}}}'), { type: "merge" });
  assert.deepEqual(Object.keys(merged.status).toSorted(), ["__proto__", "copied", "moved"]);
});

test("a dry run answers with what would be kept, keeps nothing and waits for nothing", async () => {
  const { upstream, resource } = await open(undefined, { debug: true });
  const held = resource.peek("ns/a");
  const dryRun = true;
  const created = await resource.create(pod("ns/b"), { dryRun });
  const patched = await resource.patch("ns/a", { status: { phase: "Failed" } }, { type: "merge", dryRun });
  const updated = await resource.update("ns/a", (current) => ({ ...current, status: { phase: "Succeeded" } }), { dryRun });
  assert.deepEqual([created.metadata.name, patched.status.phase, updated.status.phase], ["b", "Failed", "Succeeded"]);
  assert.ok([created, patched, updated].every(Object.isFrozen), "debug freezes what it gives out");
  await resource.delete("ns/a", { dryRun });
  await resource.deleteCollection({ dryRun });
  assert.equal(resource.peek("ns/a"), held);
  assert.deepEqual([upstream.objects.length, resource.size], [1, 1]);
});

test("a subresource is asked for by its name, and status is written apart from the rest", async () => {
  const { upstream, resource } = await open();
  const written = await resource.patch(
    "ns/a",
    { spec: { lost: true }, status: { phase: "Failed" } },
    { type: "merge", subresource: "status" },
  );
  assert.deepEqual([written.status.phase, written.spec?.lost], ["Failed", undefined]);
  assert.equal(resource.peek("ns/a"), written);
  for (const call of [
    () => resource.get("ns/a", { subresource: "scale" }),
    () => resource.update("ns/a", (scale) => scale, { subresource: "scale" }),
    () => resource.patch("ns/a", {}, { type: "merge", subresource: "scale" }),
    () => resource.create({ metadata: { namespace: "ns", name: "a" } }, { subresource: "eviction" }),
  ])
    await assert.rejects(call(), { code: "not-found", message: "the server could not find the requested resource" });
  assert.deepEqual(upstream.asked("get").at(-1), { verb: "get", namespace: "ns", name: "a", subresource: "scale" });
  assert.equal(upstream.asked("create").at(-1).name, "a");
  const nameless = { metadata: { namespace: "ns" } };
  await assert.rejects(resource.create(nameless, { subresource: "eviction" }), {
    code: "invalid",
    message: "metadata.name says whose eviction it is, and it is missing",
  });
  await assert.rejects(resource.get("ns/a", { subresource: "scale", resourceVersion: "0" }), {
    code: "invalid",
    message: /^a subresource is read as it stands/,
  });
});

test("an answer that is no JSON says that the request was taken", async () => {
  const { resource } = await open(undefined, undefined, { patch: async () => ({ body: "done" }) });
  const patch = resource.patch("ns/a", {}, { type: "merge", dryRun: true });
  await assert.rejects(patch, { code: "decode", message: /^the request was taken, but its answer cannot be read: / });
});

test("a subresource of another kind is what the source answers", async () => {
  const scale = { kind: "Scale", metadata: { namespace: "ns", name: "a", resourceVersion: "101" }, spec: { replicas: 1 } };
  const get = async () => ({ body: JSON.stringify(scale) });
  const { resource } = await open(undefined, undefined, { get, update: async ({ body }) => ({ body }) });
  assert.deepEqual(await resource.get("ns/a", { subresource: "scale" }), scale);
  const to = (replicas) => (current) => ({ ...current, spec: { ...current.spec, replicas } });
  assert.equal((await resource.update("ns/a", to(3), { subresource: "scale" })).spec.replicas, 3);
  assert.equal(resource.peek("ns/a").kind, "Pod");
});

test("all of a namespace are deleted together, and a source that cannot select says so", async () => {
  const { upstream, resource } = await open([pod("ns/a"), pod("ns/b"), pod("other/c")]);
  await assert.rejects(resource.deleteCollection({ labelSelector: "app=web" }), { code: "invalid" });
  assert.equal(resource.size, 3);
  await resource.deleteCollection({ namespace: "ns", propagationPolicy: "Orphan" });
  assert.deepEqual([resource.size, resource.peek("other/c") !== undefined], [1, true]);
  assert.equal(JSON.parse(upstream.asked("deleteCollection").at(-1).body).propagationPolicy, "Orphan");
  for (const slip of ["", " "])
    await assert.rejects(resource.deleteCollection({ labelSelector: slip }), {
      code: "invalid",
      message: /^labelSelector is empty: leave it out/,
    });
  await resource.deleteCollection();
  assert.equal(resource.size, 0);
});

test("a source without such methods says which one it lacks", async () => {
  const cache = createWatchCache({ flush: "microtask" });
  opened.push(() => cache.close());
  const resource = cache.resource({ source: memorySource({ objects: [pod("ns/a")], readOnly: true }), id: "pods" });
  await assert.rejects(resource.patch("ns/a", {}, { type: "merge" }), { code: "invalid", message: "the source has no method patch" });
  await assert.rejects(resource.deleteCollection(), { code: "invalid", message: "the source has no method deleteCollection" });
});

test("a patch that is given up, or comes after the end, is refused", async () => {
  const { resource } = await open();
  const patch = (signal) => resource.patch("ns/a", {}, { type: "merge", signal });
  await assert.rejects(patch(AbortSignal.abort()), { name: "AbortError" });
  resource.close();
  await assert.rejects(patch(), { code: "closed" });
  await assert.rejects(resource.deleteCollection(), { code: "closed" });
});
