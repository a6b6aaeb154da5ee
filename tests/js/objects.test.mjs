import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { openModel, settle } from "./lib/open.mjs";
import { pod } from "./lib/model.mjs";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

/** Collects until it is so: finalizers run in tasks of their own, some time after. */
async function until(condition) {
  for (let i = 0; i < 500 && !condition(); i++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.ok(condition());
}

const parses = (model) => model.calls.filter(([name]) => name === "parse").length;

test("one version of an object is decoded once, whoever reads it", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const object = resource.peek("a/x");
  assert.equal(resource.byIndex("namespace", "a")[0], object);
  assert.equal((await resource.list()).items[0], object);
  assert.equal(await resource.get("a/x"), object);
  assert.equal(resource.view().rows[0], object);
  assert.equal((await resource.watch().next()).value.object, object);
  assert.equal(parses(model), 2, "a/x and a/y, once each");
  model.put(pod("a/x", 11));
  assert.notEqual(resource.peek("a/x"), object, "another version is another object");
});

test("a pin that brought nothing new goes back at once, in one call for all", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const first = await resource.list();
  await settle();
  const releases = () => model.calls.filter(([name]) => name === "release");
  const before = releases().length;
  const second = await resource.list();
  await settle();
  assert.deepEqual(releases().slice(before), [], "what was not read yet keeps its pins");
  assert.deepEqual(second.items, first.items);
  await settle();
  assert.deepEqual(releases().slice(before), [["release", 2]]);
  assert.equal(model.pinsOf("a/x"), 2, "the store's, and that of the decoded object");
});

test("the pins of what nobody holds any more are given back", async () => {
  const { resource, model } = await openModel({ objects: Array.from({ length: 50 }, (_, i) => pod(`a/${i}`, i + 1)) });
  let events = [];
  void resource.watch().forEach((event) => void events.push(event));
  await settle();
  assert.equal(events.length, 50);
  assert.equal(model.pinsOf("a/7"), 2);
  // A reader keeps one object, and only the object: its pin stays although the event is gone.
  const kept = events[7].object;
  assert.equal(kept.metadata.name, "7");
  events = [];
  await until(() => model.pinsOf("a/49") === 1);
  assert.equal(model.pinsOf("a/7"), 2);
  assert.equal(resource.peek("a/7"), kept);
  assert.equal(parses(model), 1);
});

test("an object that was collected is decoded again, while its event still reads", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  const name = () => resource.peek("a/x").metadata.name;
  assert.equal(name(), "x");
  await until(() => model.pinsOf("a/x") === 1);
  assert.equal(name(), "x");
  assert.equal(parses(model), 2);
});

test("an event of a version that is long gone still reads", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  const { value: event } = await resource.watch().next();
  model.put(pod("a/x", 11));
  model.remove("a/x", "12");
  await settle();
  collectGarbage();
  await settle();
  assert.equal(event.object.metadata.resourceVersion, "1");
});

test("debug freezes objects deeply; without it they are left alone", async () => {
  const strict = await openModel({ objects: [pod("a/x", 1)], options: { debug: true } });
  const object = strict.resource.peek("a/x");
  assert.throws(() => (object.status.phase = "Gone"), TypeError);
  const loose = await openModel({ objects: [pod("a/x", 1)] });
  assert.equal(Object.isFrozen(loose.resource.peek("a/x").status), false);
});

test("after the close objects stay, and what was not read answers closed", async () => {
  const { resource } = await openModel({ objects: [pod("a/x", 1), pod("a/y", 2)] });
  const batch = (await resource.watch().batches().next()).value;
  const object = batch[0].object;
  resource.close();
  assert.equal(object.metadata.name, "x");
  assert.equal(batch[0].object, object);
});

test("shr_12_fields_that_were_read_of_the_events_before_come_with_version_and_key_in_one_crossing", async () => {
  const { resource, model } = await openModel({ objects: [pod("a/x", 1)] });
  let paths = ["status.phase", "spec.no"];
  const told = [];
  const listen = (event) => told.push([event.resourceVersion, event.key, ...paths.map((path) => event.get(path))]);
  for (let i = 0; i < 3; i++) void resource.watch().forEach(listen);
  const read = new Set(["columns", "facts", "field"]);
  const crossings = () =>
    model.calls.filter(([name]) => read.has(name)).map(([name, ...paths]) => [name, ...(name === "facts" ? [] : paths)]);
  const of = async (version, more) => {
    model.calls.length = told.length = 0;
    model.put({ ...pod("a/x", version), ...more });
    await settle();
    assert.equal(told.length, 3);
    assert.ok(
      told.every((one) => JSON.stringify(one) === JSON.stringify(told[0])),
      "each of them hears the same",
    );
    return told[0].slice(2);
  };
  await settle();
  assert.deepEqual(await of(11, { status: { phase: "A" } }), ["A", undefined]);
  assert.deepEqual(await of(12, { status: { phase: "B" }, spec: { no: null } }), ["B", null]);
  assert.deepEqual(crossings(), [["facts"]]);
  assert.deepEqual(await of(13, { status: { phase: -0.5 }, spec: { no: true } }), [-0.5, true]);
  assert.deepEqual(await of(14, { status: { phase: { is: 1 } } }), [{ is: 1 }, undefined], "no scalar is a new value for each");
  assert.deepEqual(crossings(), [["facts"], ...Array(3).fill(["field", "status.phase"])]);

  paths = ["spec.other"];
  await of(15, {});
  assert.deepEqual(crossings(), [["facts"], ...Array(3).fill(["field", "spec.other"])], "missing, as far as is known");
  await of(16, {});
  assert.deepEqual(crossings(), [["columns", "status.phase", "spec.no", "spec.other"], ["facts"]]);
  for (let version = 17; version < 17 + 64; version++) await of(version, {});
  model.calls.length = 0;
  for (let version = 100; version < 200; version++) model.put(pod("a/x", version));
  await settle();
  assert.deepEqual(
    crossings().filter(([name]) => name === "columns"),
    [["columns", "spec.other"]],
    "what nobody has read of 64 events is left out",
  );
});
