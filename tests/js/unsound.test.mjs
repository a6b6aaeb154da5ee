// Handlers whose filter or transform throws at some versions. They are not told of those versions. The next version that does not throw is
// told as a change from the last one that they were told of.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { listener } from "./lib/listener.mjs";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const BROKEN = { phase: "Broken" };

/** Throws for what is broken; lets through what is not labelled away. */
function sound(object) {
  if (object.status.phase === "Broken") throw new RangeError("broken");
  return object.metadata.labels.app === "web";
}

/** Handlers over one upstream: by a transform, by a filter, and as functions. `seen` runs so many changes and gives what each heard. */
async function rig(objects) {
  const upstream = memorySource({ objects });
  const { resource, reported } = open(upstream);
  const transformed = resource.informer({ transform: (object) => (sound(object), object) });
  const plain = resource.informer();
  const handlers = { transform: listener(), filter: listener() };
  const told = { transform: [], filter: [] };
  const tell = (heard) => (event) => {
    const old = event.oldObject?.metadata.resourceVersion;
    heard.push(`${event.type} ${old ?? ""}->${event.object.metadata.resourceVersion} ${event.getOld("metadata.resourceVersion") ?? ""}`);
  };
  const all = [
    transformed.addEventHandler(handlers.transform),
    transformed.addEventHandler(tell(told.transform)),
    plain.addEventHandler(handlers.filter, { filter: sound }),
    plain.addEventHandler(tell(told.filter), { filter: sound }),
  ];
  await Promise.all(all.map(({ synced }) => synced));
  await until(() => resource.status.phase === "live");
  const witness = [];
  plain.addEventHandler((event) => void witness.push(event.key));
  const settled = async () => {
    upstream.put(pod("z/last"));
    await until(() => witness.includes("z/last"));
    witness.length = 0;
    upstream.remove("z/last");
    await until(() => witness.includes("z/last"));
    const ours = (line) => !line.includes("last");
    return Object.fromEntries(Object.entries(handlers).map(([name, { heard }]) => [name, heard.filter(ours)]));
  };
  return { upstream, resource, reported, told, settled };
}

test("broken when it is first seen: the next sound version is an addition", async () => {
  const { upstream, settled, reported, told } = await rig([pod("a/x", BROKEN)]);
  upstream.put(pod("a/x", BROKEN));
  upstream.put(pod("a/x"));
  upstream.put(pod("a/x"));
  const heard = ["A x@103", "U x@103->104"];
  assert.deepEqual(await settled(), { transform: heard, filter: heard });
  assert.equal(reported.length, 8, "each of four handlers, at each of two versions");
  for (const lines of Object.values(told)) assert.deepEqual(lines.slice(0, 2), ["add ->103 ", "update 103->104 103"]);
});

test("broken later: the next sound version is an update of the last one that was told", async () => {
  const { upstream, settled, told } = await rig([pod("a/x")]);
  upstream.put(pod("a/x"));
  upstream.put(pod("a/x", BROKEN));
  upstream.put(pod("a/x", BROKEN));
  upstream.put(pod("a/x"));
  upstream.put(pod("a/x"));
  const heard = ["A! x@101", "U x@101->102", "U x@102->105", "U x@105->106"];
  assert.deepEqual(await settled(), { transform: heard, filter: heard });
  for (const lines of Object.values(told)) assert.deepEqual(lines.slice(2, 3), ["update 102->105 102"]);
});

test("a filter: what did not pass before it broke comes as an addition, what does not pass afterwards goes as a deletion", async () => {
  const { upstream, settled } = await rig([pod("a/x", { labels: { app: "db" } }), pod("a/y")]);
  upstream.put(pod("a/x", BROKEN));
  upstream.put(pod("a/x"));
  upstream.put(pod("a/y", BROKEN));
  upstream.put(pod("a/y", { labels: { app: "db" } }));
  upstream.put(pod("a/y"));
  assert.deepEqual((await settled()).filter, ["A! y@102", "A x@104", "D a/y@102", "A y@107"]);
});

test("deleted while it is broken: handlers that were told of it are told of its end, and no others", async () => {
  const { upstream, settled } = await rig([pod("a/known"), pod("a/never", BROKEN)]);
  upstream.put(pod("a/known", BROKEN));
  upstream.remove("a/never");
  upstream.put(pod("a/never"));
  const heard = await settled();
  assert.deepEqual(heard.filter, ["A! known@101", "A never@105"]);
  assert.deepEqual(heard.transform, heard.filter);
});

test("a deletion whose last state the filter cannot judge, or would not pass, still reaches handlers that know the object", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
  const { resource, reported } = open(upstream);
  const keys = [];
  const registration = resource.informer().addEventHandler(({ type, key }) => void keys.push(`${type} ${key}`), { filter: sound });
  await registration.synced;
  await until(() => resource.status.phase === "live");
  // The server deletes them with a last change that no MODIFIED told.
  for (const [key, object] of [
    ["a/x", pod("a/x", BROKEN)],
    ["a/y", pod("a/y", { labels: {} })],
  ]) {
    upstream.resourceVersion = String(Number(upstream.resourceVersion) + 1);
    const metadata = { ...object.metadata, resourceVersion: upstream.resourceVersion };
    upstream.send(JSON.stringify({ type: "DELETED", object: { ...object, metadata } }));
    await until(() => keys.includes(`delete ${key}`));
  }
  assert.deepEqual(reported, []);
});

test("a filter that breaks by what is outside of the objects: nobody misses a version that comes after it, or an end", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("a/y"), pod("a/z")] });
  const { resource, reported } = open(upstream);
  let broken = false;
  const filter = () => {
    if (broken) throw new RangeError("outside");
    return true;
  };
  const handler = listener();
  const informer = resource.informer();
  await informer.addEventHandler(handler, { filter }).synced;
  await until(() => resource.status.phase === "live");
  const versions = [];
  informer.addEventHandler(({ object }) => void versions.push(object.metadata.resourceVersion));
  const through = (seen) => until(() => versions.includes(String(seen)));
  handler.heard.length = 0;
  broken = true;
  upstream.put(pod("a/x"));
  upstream.put(pod("a/x"));
  upstream.remove("a/y");
  upstream.put(pod("a/z"));
  await through(upstream.resourceVersion);
  broken = false;
  upstream.put(pod("a/x"));
  upstream.put(pod("a/z"));
  await through(upstream.resourceVersion);
  assert.deepEqual(handler.heard, ["D a/y@106", "U x@101->108", "U z@103->109"]);
  assert.equal(reported.length, 3, "once for each version that was not told");
});
