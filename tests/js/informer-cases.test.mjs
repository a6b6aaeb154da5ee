// Cases of client-go's informers in which JavaScript functions take part: transforms, index functions, deletions, filters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { memorySource } from "watchcache/memory";
import { open, relist, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const name = ({ metadata }) => metadata.name;
const version = ({ metadata }) => metadata.resourceVersion;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function live(upstream, options) {
  const opened = open(upstream, options);
  await opened.resource.synced();
  await until(() => opened.resource.status.phase === "live");
  return opened;
}

// client-go ends the process. Here the store holds the object all the same, because the store follows the server. The object has no values
// in that index, the error is reported, and other indexes go on.
test("st_17: an index function that fails is reported, and changes no other index", async () => {
  const upstream = memorySource({ objects: [pod("a/good"), pod("a/bad")] });
  const { resource, reported } = await live(upstream);
  const informer = resource.informer({
    indexers: {
      fails({ metadata: { name } }) {
        if (name === "bad") throw new RangeError("no");
        return [name];
      },
      nonsense: () => "text",
      node: "spec.nodeName",
    },
  });
  assert.deepEqual(informer.indexKeys("fails", "good"), ["a/good"]);
  assert.deepEqual(informer.indexValues("fails"), ["good"]);
  assert.deepEqual(
    reported.splice(0).map(({ name }) => name),
    ["RangeError"],
    "once, and not at each read",
  );
  assert.deepEqual(informer.indexValues("nonsense"), []);
  assert.deepEqual(
    reported.map(({ code }) => code),
    ["invalid", "invalid"],
  );
  assert.deepEqual(informer.indexKeys("node", "node-1"), ["a/bad", "a/good"]);
  assert.equal(informer.list().length, 2);
});

// The version held is the server's, whatever the transform makes of objects. That is a deliberate difference.
test("st_22: a transform to a bare text is what readers and handlers see, and the version goes on", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  const informer = resource.informer({ transform: (object) => `${name(object)}@${version(object)}` });
  const heard = [];
  informer.addEventHandler({ onAdd: (text) => void heard.push(text), onUpdate: (old, text) => void heard.push([old, text]) });
  await until(() => heard.length === 1);
  upstream.put(pod("a/x"));
  await until(() => heard.length === 2);
  assert.equal(informer.lastSyncResourceVersion, "102");
  await relist(upstream, resource, () => upstream.put(pod("a/x")));
  await until(() => heard.length === 3);
  assert.deepEqual(heard, ["x@101", ["x@101", "x@102"], ["x@102", "x@103"]]);
  assert.deepEqual([informer.get("a/x"), informer.list(), informer.lastSyncResourceVersion], ["x@103", ["x@103"], "104"]);
});

test("st_26: what is added, changed and listed anew is transformed", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  const informer = resource.informer({ transform: (object) => ({ ...object, seen: true }) });
  await informer.synced;
  assert.deepEqual(
    informer.list().map(({ seen }) => seen),
    [true],
  );
  upstream.put(pod("a/x"));
  upstream.put(pod("a/y"));
  await until(() => informer.list().length === 2);
  await relist(upstream, resource, () => upstream.put(pod("a/z")));
  assert.deepEqual(
    informer.list().map((object) => [name(object), object.seen]),
    [
      ["x", true],
      ["y", true],
      ["z", true],
    ],
  );
});

test("q_25: a version is transformed once, for all handlers; deletions that were missed and resyncs are not transformed again", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource } = await live(upstream);
  const calls = [];
  const kept = new Set();
  const informer = resource.informer({
    resyncPeriod: 1,
    transform(object) {
      calls.push(`${name(object)}@${version(object)}`);
      return { ...object, transformed: (object.transformed ?? 0) + 1 };
    },
  });
  const heard = [];
  const keep = (type) => (event) => {
    kept.add(event.object);
    heard.push([type, event.type, event.object.transformed]);
  };
  informer.addEventHandler(keep("one"));
  informer.addEventHandler(keep("other"));
  await until(() => heard.some(([, type]) => type === "update"));
  await relist(upstream, resource, () => upstream.remove("a/x"));
  await until(() => heard.filter(([, type]) => type === "delete").length === 2);
  assert.deepEqual(calls, ["x@101", "y@102"]);
  assert.ok(heard.every(([, , transformed]) => transformed === 1));
});

test("q_26: however often everything is told again, a transform never meets its own result", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, reported } = await live(upstream);
  const informer = resource.informer({
    resyncPeriod: 1000,
    transform(object) {
      assert.equal(object.transformed, undefined);
      object.transformed = true;
      return object;
    },
  });
  let updates = 0;
  let resyncs = 0;
  informer.addEventHandler({
    onUpdate(old, object, { resync }) {
      updates += old.transformed && object.transformed ? 1 : NaN;
      resyncs += Number(resync);
    },
  });
  await informer.synced;
  const end = Date.now() + 1100;
  while (Date.now() < end) {
    upstream.put(pod("a/x"));
    await pause(5);
    assert.deepEqual(
      informer.list().map(({ transformed }) => transformed),
      [true],
    );
    assert.equal(resource.peek("a/x").transformed, undefined);
  }
  await until(() => updates > 20 && resyncs > 0);
  assert.deepEqual(reported, [], "what a transform throws is reported");
});

test("in_13: a registration of another informer is left where it is", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  const [one, other] = [resource.informer(), resource.informer()];
  const heard = [];
  const registration = one.addEventHandler(({ key }) => void heard.push(key));
  await registration.synced;
  await other.removeEventHandler(registration);
  upstream.put(pod("a/y"));
  await until(() => heard.length === 2);
  await one.removeEventHandler(registration);
  await one.removeEventHandler(registration);
  upstream.put(pod("a/z"));
  await until(() => resource.size === 3);
  assert.deepEqual(heard, ["a/x", "a/y"]);
});

test("in_14: one function registered twice is called twice, and once when one registration is gone", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  const informer = resource.informer();
  const heard = [];
  const handler = ({ key }) => void heard.push(key);
  const [first, second] = [informer.addEventHandler(handler), informer.addEventHandler(handler)];
  assert.notEqual(first, second);
  await Promise.all([first.synced, second.synced]);
  assert.deepEqual(heard.splice(0), ["a/x", "a/x"]);
  await first.remove();
  upstream.put(pod("a/y"));
  await until(() => heard.length > 0);
  await pause(5);
  assert.deepEqual(heard, ["a/y"]);
});

test("in_34: a deletion always has its key, and what was last known of the object", async () => {
  const upstream = memorySource({ objects: [pod("a/seen"), pod("a/unseen")] });
  const { resource, cache } = await live(upstream);
  const informer = resource.informer();
  const deleted = [];
  const registration = informer.addEventHandler({ onDelete: (gone) => void deleted.push(gone) });
  await registration.synced;
  upstream.remove("a/seen");
  await until(() => deleted.length === 1);
  await relist(upstream, resource, () => upstream.remove("a/unseen"));
  await until(() => deleted.length === 2);
  assert.deepEqual(
    deleted.map(({ key, finalStateUnknown }) => [key, finalStateUnknown]),
    [
      ["a/seen", false],
      ["a/unseen", true],
    ],
  );
  const { decoded } = cache.stats().resources[0];
  assert.deepEqual(
    deleted.map(({ object }) => version(object)),
    ["103", "102"],
  );
  assert.equal(cache.stats().resources[0].decoded, decoded + 2, "decoded when it is read");
});

test("an informer of a cache that is not loaded yet takes handlers and indexes all the same", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = open(upstream);
  const informer = resource.informer({ start: false });
  assert.deepEqual(
    [informer.list(), informer.get("a/x"), informer.hasSynced, informer.lastSyncResourceVersion],
    [[], undefined, false, ""],
  );
  informer.addIndexers({ node: "spec.nodeName" });
  const heard = [];
  const registration = informer.addEventHandler((event) => void heard.push(event.key));
  await pause(5);
  assert.equal(upstream.asked("list").length, 0);
  informer.start();
  await registration.synced;
  assert.deepEqual([heard, informer.indexValues("node")], [["a/x"], ["node-1"]]);
});

test("a path or a selector with a mistake is told where it is given", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource } = await live(upstream);
  assert.throws(() => resource.informer().addIndexers({ x: "a[[" }), { code: "invalid", message: /indexers\.x/ });
  assert.throws(() => resource.informer({ indexers: { x: "a[[" } }), { code: "invalid", message: /indexers\.x/ });
  const informer = resource.informer();
  assert.throws(() => informer.addEventHandler(() => {}, { labelSelector: "app in (" }), { code: "invalid", message: /requirement/ });
});

test("what informers held is given back when nobody holds it any more", async () => {
  const upstream = memorySource({ objects: Array.from({ length: 200 }, (_, i) => pod(`a/${i}`)) });
  const { resource, cache } = await live(upstream);
  let informer = resource.informer();
  let seen = 0;
  await informer.addEventHandler({ onAdd: (object) => void (seen += name(object).length > 0 ? 1 : 0) }).synced;
  await informer.addEventHandler((event) => void (seen += event.get("spec.nodeName") === "node-1" ? 1 : 0)).synced;
  assert.equal(seen, 400);
  informer.stop();
  informer = undefined;
  resource.watch(); // it stays open
  for (let i = 0; i < 200 && cache.stats().resources[0].pinned > 0; i++) {
    collectGarbage();
    await pause(5);
  }
  assert.equal(cache.stats().resources[0].pinned, 0);
});

test("law_08_bounded: stopped informers go with what held them, and so do their indexes, while their resource lives", async () => {
  const upstream = memorySource({ objects: Array.from({ length: 50 }, (_, i) => pod(`a/${i}`)) });
  const { resource, cache } = await live(upstream);
  resource.watch(); // it stays open
  const mount = async () => {
    const informer = resource.informer({ indexers: { node: (object) => [object.spec.nodeName, name(object)] } });
    await informer.addEventHandler(() => {}).synced;
    assert.equal(informer.byIndex("node", "node-1").length, 50);
    informer.stop();
    assert.equal(informer.list().length, 50, "it is read on");
    return new WeakRef(informer);
  };
  await mount();
  const before = cache.stats().resources[0].bytes;
  const mounted = [];
  for (let i = 0; i < 20; i++) mounted.push(await mount());
  const alive = () => mounted.filter((informer) => informer.deref() !== undefined).length;
  for (let i = 0; i < 200 && (alive() > 0 || cache.stats().resources[0].bytes > before); i++) {
    await pause(5);
    collectGarbage(); // in another task than `alive`, which holds what it asks for until its own ends
  }
  assert.equal(alive(), 0);
  assert.ok(cache.stats().resources[0].bytes <= before, `${before} bytes became ${cache.stats().resources[0].bytes}`);
});

test("a reader that keeps the newest object of a key keeps no older versions", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { resource, cache } = await live(upstream);
  const newest = new Map();
  const informer = resource.informer();
  await informer.addEventHandler({
    onAdd: (object) => void newest.set(name(object), object),
    onUpdate: (old, object) => void (old === newest.get(name(object)) && newest.set(name(object), object)),
  }).synced;
  for (let i = 0; i < 300; i++) upstream.put(pod("a/x"));
  await until(() => version(newest.get("x")) === "401");
  for (let i = 0; i < 200 && cache.stats().resources[0].pinned > 2; i++) {
    collectGarbage();
    await pause(5);
  }
  assert.ok(cache.stats().resources[0].pinned <= 2, `${cache.stats().resources[0].pinned} versions are held`);
});
