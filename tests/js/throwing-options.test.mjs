// What users give may throw when it is read: a getter, a proxy, a proxy that was revoked. That is one more wrong option, with the code of all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache, WatchCacheError } from "watchcache";
import { etcdSource } from "watchcache/etcd";
import { memorySource } from "watchcache/memory";
import { pod } from "./lib/pod.mjs";

const trap = () => {
  throw new Error("not today");
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const WRONG = {
  "a proxy that throws": new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap }),
  "a proxy that was revoked": revoked(),
};

for (const [what, wrong] of Object.entries(WRONG))
  test(`${what} is invalid wherever it is given, and harms nothing`, async (t) => {
    const cache = createWatchCache();
    t.after(() => cache.close());
    const pods = cache.resource({ source: memorySource({ objects: [pod("a/p1")] }), id: "pods" });
    await pods.synced();
    const source = { list() {}, watch() {} };
    const calls = {
      createWatchCache: () => createWatchCache(wrong),
      resource: () => cache.resource(wrong),
      "a kind": () => cache.resource({ kind: wrong }),
      namespaces: () => cache.resource({ version: "v1", resource: "pods", namespaces: wrong }),
      poll: () => cache.resource({ version: "v1", resource: "pods", poll: wrong }),
      source: () => cache.resource({ source: wrong, id: "x" }),
      collection: () => cache.resource({ source: { ...source, collection: wrong }, id: "x" }),
      discover: () => cache.discover(wrong),
      can: () => cache.can(wrong),
      "can's resource": () => cache.can({ verb: "get", resource: wrong }),
      key: () => pods.get(wrong),
      get: () => pods.get("a/p1", wrong),
      create: () => pods.create(wrong),
      update: () => pods.update("a/p1", wrong),
      patch: () => pods.patch("a/p1", wrong, { type: "merge" }),
      operations: () => pods.patch("a/p1", [wrong], { type: "json" }),
      "patch's options": () => pods.patch("a/p1", {}, wrong),
      signal: () => pods.patch("a/p1", {}, { type: "merge", signal: wrong }),
      preconditions: () => pods.delete("a/p1", { preconditions: wrong }),
      deleteCollection: () => pods.deleteCollection(wrong),
      setNamespaces: () => pods.setNamespaces(wrong),
      view: () => pods.view(wrong),
      childrenOf: () => pods.childrenOf(wrong),
      selectedBy: () => pods.selectedBy(wrong),
      eventsOf: () => pods.eventsOf(wrong),
      "a relation's view": () => pods.childrenOf("uid", wrong),
      etcdSource: () => etcdSource(wrong),
      endpoints: () => etcdSource({ endpoints: wrong, prefix: "" }),
    };
    for (const [name, call] of Object.entries(calls))
      await assert.rejects(
        async () => call(),
        (error) => {
          assert.ok(error instanceof WatchCacheError, `${name}: ${error}`);
          assert.equal(error.code, "invalid", `${name}: ${error.message}`);
          return true;
        },
        name,
      );
    assert.equal(pods.status.phase, "live");
    assert.equal(pods.size, 1);
  });

test("what a getter threw is told, and is the cause", () => {
  const mistake = new Error("not today");
  const options = {
    get server() {
      throw mistake;
    },
  };
  assert.throws(
    () => createWatchCache(options),
    (error) => error.code === "invalid" && /cannot be read: not today$/.test(error.message) && error.cause === mistake,
  );
});

test("etcd is given no text that UTF-8 does not have", () => {
  const sound = { endpoints: "http://127.0.0.1:1", prefix: "/a/", username: "bob", password: "x" };
  etcdSource({ ...sound, prefix: "/\u{1f600}/", password: "\u{1f600}" });
  for (const name of ["prefix", "username", "password"])
    for (const half of ["\ud800", "a\udc00b", "\ude00\ud83d"])
      assert.throws(() => etcdSource({ ...sound, [name]: half }), {
        code: "invalid",
        message: new RegExp(`^${name} holds half of a character`),
      });
});
