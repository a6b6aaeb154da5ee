// Functions that users give. What they throw and what their promises reject with is reported in one place. Some may not return promises.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { createWatchCache, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const soon = (ms = 30) => new Promise((resolve) => setTimeout(resolve, ms));
const own = (what) => new Error(`${what}'s own`);

/** A rejection that nobody handles would end a program in Node. */
const unhandled = [];
process.on("unhandledRejection", (error) => unhandled.push(error));
afterEach(async () => {
  await soon(5);
  assert.deepEqual(unhandled.splice(0), []);
});

/** Everything that is called and not waited for, each with what has it called. */
const CALLED = {
  "a view's subscriber": async ({ resource, upstream }, callback) => {
    resource.view().subscribe(callback);
    await resource.synced();
    upstream.put(pod("a/y"));
  },
  "a listener": async ({ resource }, callback) => {
    resource.addEventListener("sync", callback);
    await resource.synced();
  },
  "a watch's handler": async ({ resource }, callback) => void resource.watch().forEach(callback),
  "an informer's handler": async ({ resource }, callback) => void resource.informer().addEventHandler({ onAdd: callback }),
  onWatchError: async ({ resource, upstream }, callback) => {
    await resource.informer({ onWatchError: callback }).synced;
    await until(() => resource.status.phase === "live");
    upstream.drop({ error: new TypeError("broken") });
  },
};

for (const [name, provoke] of Object.entries(CALLED)) {
  for (const [way, make] of Object.entries({
    throws: (error) => () => {
      throw error;
    },
    "rejects later": (error) => async () => {
      await soon(1);
      throw error;
    },
  })) {
    test(`${name} that ${way} is reported`, async () => {
      const upstream = memorySource({ objects: [pod("a/x")] });
      const { resource, reported } = open(upstream);
      const error = own(name);
      await provoke({ resource, upstream }, make(error));
      await until(() => reported.includes(error));
    });
  }
}

const promising = () => Promise.reject(own("an async function"));
const refusal = (name) => (error) => {
  assert.ok(error instanceof WatchCacheError);
  assert.deepEqual([error.code, error.message], ["invalid", `${name} answers at once, not by a promise: it cannot be async`]);
  return true;
};

test("what a watch's handler throws is told also where it has closed its resource", async () => {
  const { resource, reported } = open(memorySource({ objects: [pod("a/x")] }));
  await resource.synced();
  const handled = resource.watch({ resourceVersion: "0" }).forEach(() => {
    resource.close();
    throw own("a handler");
  });
  await handled.catch(() => {});
  await until(() => reported.length > 0);
  assert.deepEqual(
    reported.map(({ message }) => message),
    ["a handler's own"],
  );
});

test("a where that gives promises is the view's error, lets nothing through, and is told once", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, reported } = open(upstream);
  const view = resource.view({ where: promising });
  view.subscribe(() => {});
  await until(() => view.getSnapshot().error !== undefined);
  refusal("where")(view.getSnapshot().error);
  upstream.put(pod("a/z"));
  await soon();
  const { total, rows, error } = view.getSnapshot();
  assert.deepEqual([total, rows.length], [0, 0]);
  refusal("where")(error);
  await assert.rejects(view.keys(), refusal("where"));
  assert.equal(reported.length, 1);
  refusal("where")(reported[0]);
});

test("a filter that gives promises lets nothing through, and is told once", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, reported } = open(upstream);
  const told = [];
  const filter = () => Promise.reject(own("a filter"));
  const { synced } = resource.informer().addEventHandler((event) => void told.push(event.key), { filter });
  await synced;
  upstream.put(pod("a/z"));
  await until(() => reported.length > 0);
  await soon();
  assert.deepEqual(told, []);
  assert.equal(reported.length, 1);
  refusal("filter")(reported[0]);
});

test("a transform that gives promises stores none of them, and is told once", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, reported } = open(upstream);
  const informer = resource.informer({ transform: () => Promise.reject(own("a transform")) });
  const told = [];
  informer.addEventHandler({ onAdd: (object) => void told.push(object) });
  await informer.synced;
  await until(() => reported.length > 0);
  assert.deepEqual([informer.list(), informer.get("a/x"), told], [[], undefined, []]);
  assert.equal(reported.length, 1);
  refusal("transform")(reported[0]);
});

test("an index function that gives promises gives no values, and is told once", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, reported } = open(upstream, { indexes: { odd: async () => Promise.reject(own("an index")) } });
  await resource.synced();
  assert.deepEqual(resource.indexValues("odd"), []);
  assert.equal(reported.length, 1);
  refusal("an index function")(reported[0]);
  const informer = resource.informer({ indexers: { other: async () => ["a"] } });
  await informer.synced;
  assert.deepEqual(informer.indexValues("other"), []);
  assert.equal(reported.length, 2, "another function");
});

test("update's function that gives a promise rejects the update, each time", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  upstream.update = async () => assert.fail("nothing is written");
  const { resource, reported } = open(upstream);
  await resource.synced();
  for (let i = 0; i < 2; i++) await assert.rejects(resource.update("a/x", promising), refusal("the function of update"));
  assert.deepEqual(reported, []);
});

test("a logger that throws or rejects stops nobody, and what it fails to say is on the console", async (t) => {
  const said = [];
  t.mock.method(console, "error", (...words) => void said.push(words));
  for (const fail of [
    () => {
      throw own("the logger");
    },
    () => Promise.reject(own("the logger")),
  ]) {
    said.length = 0;
    const logger = { debug: fail, info: fail, warn: fail, error: fail };
    const upstream = memorySource({ objects: [pod("a/x")] });
    const cache = createWatchCache({ flush: "microtask", logger });
    t.after(() => cache.close());
    const resource = cache.resource({ source: upstream, id: "pods" });
    const error = own("a subscriber");
    const failing = () => {
      throw error;
    };
    const heard = { view: 0, watch: [] };
    resource.view({ labelSelector: "" }).subscribe(failing);
    resource.view().subscribe(() => void heard.view++);
    void resource.watch().forEach(failing);
    void resource.watch().forEach(({ key }) => void heard.watch.push(key));
    await until(() => heard.watch.length === 1);
    heard.view = 0;
    for (const key of ["a/y", "a/z"]) {
      upstream.put(pod(key));
      await soon();
    }
    assert.deepEqual(heard, { view: 2, watch: ["a/x", "a/y", "a/z"] });
    assert.ok(said.length >= 5);
    for (const [what, why, , told] of said) {
      assert.deepEqual([what, why.message, told], ["watchcache: the logger failed:", "the logger's own", error]);
    }
  }
});
