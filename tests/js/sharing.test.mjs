// A version of an object is made of one that was decoded before, and shares with it what is equal in both.
import assert from "node:assert/strict";
import { test } from "node:test";
import v8 from "node:v8";
import vm from "node:vm";

import { memorySource } from "watchcache/memory";
import { change, described, randomFrom, text, value } from "./lib/documents.mjs";
import { open, until } from "./lib/package.mjs";

v8.setFlagsFromString("--expose-gc");
const collectGarbage = vm.runInNewContext("gc");

const DOCUMENTS = Number(process.env.WATCHCACHE_DOCUMENTS ?? 60);
const SEED = Number(process.env.WATCHCACHE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const VERSIONS = 14;

/** A cache over one resource of the objects whose texts are sent; the first version is 11. */
async function fed(options) {
  const upstream = memorySource({ resourceVersion: "10" });
  const { cache, resource } = open(upstream, options);
  await resource.synced();
  const stop = resource.watch({ resourceVersion: "10" }); // keeps the stream open, and reads nothing
  await until(() => upstream.streams === 1);
  let version = 10;
  const names = new Set();
  /**
   * Sends the next version of an object. `rest` are the texts of its members behind the metadata, `front` those before it. `metadata` are the texts
   * of more members there.
   */
  const send = (name, rest, metadata = "", front = "") => {
    version += 1;
    const more = metadata && `,${metadata}`;
    const document = `{${front && `${front},`}"metadata":{"name":"${name}","namespace":"d","resourceVersion":"${version}"${more}}${rest && `,${rest}`}}`;
    upstream.send(`{"type":"${names.has(name) ? "MODIFIED" : "ADDED"}","object":${document}}`);
    names.add(name);
    return document;
  };
  const arrived = () => until(() => resource.resourceVersion === String(version));
  const renewed = () => cache.stats().resources[0].renewed;
  return { cache, resource, send, arrived, renewed, stop };
}

/** Members without the braces around them. */
const inner = (value) => text(value).slice(1, -1);

/** What a server adds, of which nothing is held. */
const MANAGED = ["", '"managedFields":[]', '"managedFields":null', '"managedFields":[{"time":"1","fields":{"f:a":{}}},{"time":"2"}]'];

/** What has to be handed out of a text that was sent. */
function parsed(whole) {
  const value = JSON.parse(whole);
  delete value.metadata.managedFields;
  return value;
}

/** Collects until it is so: finalizers run in tasks of their own. */
async function collected(condition) {
  for (let i = 0; i < 500 && !condition(); i++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  assert.ok(condition());
}

function assertFrozen(value) {
  if (typeof value !== "object" || value === null) return;
  assert.ok(Object.isFrozen(value));
  Object.values(value).forEach(assertFrozen);
}

test(`law_15_sharing_what_is_handed_out_is_what_parsing_the_whole_text_gives (WATCHCACHE_SEED=${SEED})`, async () => {
  const random = randomFrom(SEED);
  let renewals = 0;
  for (let document = 0; document < DOCUMENTS; document++) {
    const debug = document % 3 === 0;
    const { cache, resource, send, arrived, renewed } = await fed({ debug, checkConsistency: false });
    const events = [];
    void resource.watch({ resourceVersion: "10" }).forEach((event) => void events.push(event));
    const updates = [];
    const informer = resource.informer();
    informer.addEventHandler((event) => void updates.push(event));
    const view = resource.view();
    view.subscribe(() => {});

    const [metadata, rest] = [{ members: [] }, { members: [] }];
    for (let i = 0; i < 4; i++) change(random, metadata);
    const filler = ["filler", `"${"x".repeat(random.below(3) * 300)}"`];
    rest.members.push(filler, ...Array.from({ length: 4 }, (_, i) => [`m${i}`, value(random)]));
    /** Each version that was read, and what it has to be for good. */
    const read = [];
    const reads = {
      event: () => events.at(-1).object,
      "old object": () => updates.at(-1).oldObject,
      "object of an update": () => updates.at(-1).object,
      row: () => view.rows[0],
      peek: () => resource.peek("d/x"),
      "a list": async () => (await resource.list({ resourceVersion: "0" })).items[0],
      get: () => resource.get("d/x", { resourceVersion: "0" }),
      "informer's list": () => informer.list()[0],
    };
    const texts = new Map();
    for (let version = 0; version < VERSIONS; version++) {
      const parts = [inner(metadata), random.pick(MANAGED)].filter(Boolean);
      const sent = send("x", inner(rest), (random.chance(0.5) ? parts : parts.reverse()).join(","));
      texts.set(JSON.parse(sent).metadata.resourceVersion, sent);
      await arrived();
      await until(() => events.length > version && updates.length > version);
      for (const how of Object.keys(reads).filter(() => random.chance(0.3))) {
        const object = await reads[how]();
        if (object === undefined) continue; // an addition has no old object
        const whole = texts.get(object.metadata.resourceVersion);
        assert.equal(described(object), described(parsed(whole)), `${how}: ${whole}`);
        if (debug) assertFrozen(object);
        read.push({ object, whole });
      }
      const changes = random.below(4);
      for (let i = 0; i < changes; i++) change(random, random.chance(0.2) ? metadata : rest);
      if (random.chance(0.1)) collectGarbage();
    }
    for (const { object, whole } of read) assert.equal(described(object), described(parsed(whole)), `afterwards: ${whole}`);
    renewals += renewed();
    await cache.close();
  }
  assert.ok(renewals > DOCUMENTS * 2, `${renewals} were made of another version`);
});

test("law_15_sharing_names_that_every_object_inherits_are_names_like_others", async () => {
  const { resource, send, arrived, renewed } = await fed();
  const filler = `"filler":"${"x".repeat(900)}"`;
  const inherited = ["__proto__", "constructor", "hasOwnProperty", "toString"];
  const documents = ["{}", "[]", "1", '{"a":{}}', '{"__proto__":[0]}'].flatMap((value) =>
    inherited.flatMap((name) => [`"a":{"b":1}`, `"a":{"b":1,"${name}":${value}}`, `"a":{"b":2,"${name}":${value}}`]),
  );
  for (const document of documents) {
    const whole = send("x", `${filler},${document}`);
    await arrived();
    const object = resource.peek("d/x");
    assert.equal(described(object), described(JSON.parse(whole)), whole);
  }
  // All but the first, and the second if the first was collected: nobody held it.
  assert.ok(renewed() >= documents.length - 2, `${renewed()} of ${documents.length}`);
});

const SPEC = `"spec":{"containers":[{"name":"web","args":["${"x".repeat(400)}"]}]}`;
const beat = (time, more = "") =>
  `${SPEC},"status":{"phase":"Running","conditions":[{"type":"Ready","time":"${time}"},{"type":"Live"}]${more}}`;

test("shr_01_what_did_not_change_is_the_same_object_in_the_next_version", async () => {
  const { resource, send, arrived, renewed } = await fed();
  const events = [];
  void resource.watch({ resourceVersion: "10" }).forEach((event) => void events.push(event));
  send("x", beat("1"), '"labels":{"app":"web"}');
  await arrived();
  send("x", beat("2"), '"labels":{"app":"web"}');
  await arrived();
  await until(() => events.length === 2);
  const [first, second] = events.map((event) => event.object);
  assert.equal(second.spec, first.spec);
  assert.equal(second.metadata.labels, first.metadata.labels);
  assert.equal(second.status.conditions[1], first.status.conditions[1]);
  assert.notEqual(second.status.conditions, first.status.conditions);
  assert.deepEqual(
    [first, second].map(({ status }) => status.conditions[0].time),
    ["1", "2"],
  );

  // Versions that nobody read do not matter.
  for (const time of ["3", "4", "5"]) send("x", beat(time, ',"ip":"10.0.0.1"'), '"labels":{"app":"web"}');
  await arrived();
  const fifth = resource.peek("d/x");
  assert.equal(fifth.spec, first.spec);
  assert.equal(fifth.status.conditions[1], first.status.conditions[1], "though a member was added beside it");
  assert.equal(renewed(), 2);
});

test("shr_14_the_first_version_that_the_watch_brings_of_an_object_of_a_list_shares_with_it", async () => {
  const item = (version, time) => ({
    ...JSON.parse(`{${beat(time)}}`),
    metadata: { name: "x", namespace: "d", resourceVersion: String(version) },
  });
  // As an API server does: what it lists has no kind, what it sends has one.
  const upstream = memorySource({ resourceVersion: "10", objects: [item(11, "1")] });
  const { cache, resource } = open(upstream);
  const view = resource.view();
  view.subscribe(() => {});
  await until(() => view.getSnapshot().loaded && upstream.streams === 1);
  const [before] = view.rows;
  const whole = { kind: "Pod", apiVersion: "v1", ...item(12, "2") };
  upstream.send({ type: "MODIFIED", object: whole });
  await until(() => view.rows[0] !== before);
  const [after] = view.rows;
  assert.equal(described(after), described(whole));
  assert.equal(after.spec, before.spec);
  assert.equal(after.status.conditions[1], before.status.conditions[1]);
  assert.ok(!("kind" in before));
  assert.equal(cache.stats().resources[0].renewed, 1);
});

test("shr_14_members_in_front_count_as_in_a_text_whatever_their_names", async () => {
  const { resource, send, arrived, renewed } = await fed();
  const filler = `"filler":"${"x".repeat(900)}"`;
  const documents = ['"a":{"b":1}', '"kind":{"b":1},"a":0', '"__proto__":{"b":1}', '"7":{"b":1}'];
  const fronts = ['"kind":"K"', '"a":{"b":7}', '"__proto__":[0]', '"9":1,"8":2', '"a":1,"a":2', '"k\\u0069nd":1', ""];
  let count = 0;
  for (const document of documents) {
    for (const front of fronts) {
      const name = `x${count++}`;
      send(name, `${filler},${document}`);
      await arrived();
      resource.peek(`d/${name}`);
      const whole = send(name, `${filler},${document.replace(":1", ":3")}`, "", front);
      await arrived();
      assert.equal(described(resource.peek(`d/${name}`)), described(JSON.parse(whole)), whole);
    }
  }
  assert.ok(renewed() > count / 2, `${renewed()} of ${count}`);
});

test("shr_02_rows_events_handlers_lists_and_peek_share_in_the_same_way", async () => {
  const { resource, send, arrived } = await fed();
  const updates = [];
  const informer = resource.informer();
  informer.addEventHandler((event) => void updates.push(event));
  const view = resource.view();
  view.subscribe(() => {});
  const events = [];
  void resource.watch({ resourceVersion: "10" }).forEach((event) => void events.push(event));
  const reads = {
    rows: () => view.rows[0],
    events: () => events.at(-1).object,
    "an update": () => updates.at(-1).object,
    peek: () => resource.peek("d/x"),
    "a list": async () => (await resource.list({ resourceVersion: "0" })).items[0],
    get: () => resource.get("d/x", { resourceVersion: "0" }),
    "an informer": () => informer.get("d/x"),
  };
  send("x", beat("0"));
  await arrived();
  await until(() => updates.length === 1);
  let before = resource.peek("d/x");
  let time = 0;
  for (const [what, read] of Object.entries(reads)) {
    send("x", beat(String(++time)));
    await arrived();
    await until(() => updates.length === time + 1 && events.length === time + 1);
    const object = await read();
    assert.equal(object.status.conditions[0].time, String(time), what);
    assert.notEqual(object, before, what);
    assert.equal(object.spec, before.spec, what);
    assert.equal(updates.at(-1).oldObject, before, `${what}: the old object of an update is the one of the event before`);
    before = object;
  }
});

test("shr_03_debug_freezes_what_is_new_and_no_version_changes_another", async () => {
  const { resource, send, arrived } = await fed({ debug: true, checkConsistency: false });
  send("x", beat("1"));
  await arrived();
  const first = resource.peek("d/x");
  send("x", beat("2", ',"ip":[{"a":1}]'));
  await arrived();
  const second = resource.peek("d/x");
  assert.equal(second.spec, first.spec);
  [first, second].forEach(assertFrozen);
});

test("shr_04_a_version_is_held_for_the_next_one_where_an_earlier_one_was_read_and_counts_twice_its_text", async () => {
  const { cache, resource, send, arrived, renewed } = await fed();
  const bytes = () => cache.stats().resources[0].bytes;
  const cost = () => {
    const before = bytes();
    assert.ok(resource.peek("d/x"));
    return bytes() - before;
  };
  send("x", beat("1"));
  await arrived();
  assert.equal(cost(), 0, "one that is read for the first time is its reader's alone");
  await collected(() => cache.stats().resources[0].pinned === 0);
  const text = send("x", beat("2"));
  await arrived();
  assert.equal(cost(), 2 * text.length, "this one may be followed by others");
  assert.equal(renewed(), 0, "there was nothing to make it of");
  for (const time of ["3", "4"]) {
    for (let i = 0; i < 3; i++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    send("x", beat(time));
    await arrived();
    assert.equal(cost(), 0, "it takes the place of the one before");
  }
  assert.equal(renewed(), 2, "nobody but the cache held the version before");

  const again = send("y", beat("1"));
  await arrived();
  const read = () => assert.ok(resource.peek("d/y"));
  read();
  await collected(() => cache.stats().resources[0].pinned === 1);
  const before = bytes();
  read();
  assert.equal(bytes() - before, 2 * again.length, "nor is a version that is read once more the last one to be read");
});

test("shr_04_a_version_that_is_held_for_the_next_one_no_more_counts_no_more_though_its_reader_has_it", async (t) => {
  const { cache, resource, send, arrived } = await fed();
  const bytes = () => cache.stats().resources[0].bytes;
  const read = [];
  const readTwice = async (name) => {
    for (const time of ["1", "2"]) {
      send(name, beat(time));
      await arrived();
      const before = bytes();
      read.push(resource.peek(`d/${name}`));
      read.push(bytes() - before);
    }
    return read.at(-1);
  };
  const cost = await readTwice("x");
  assert.ok(cost > 0);
  const later = performance.now() + 3_000;
  t.mock.method(performance, "now", () => later);
  assert.equal(await readTwice("y"), 0, "it counts as much, and the other one nothing");
  assert.equal(read.length, 8);
});

test("shr_05_few_hundred_versions_are_held_and_large_ones_are_not", async () => {
  const { cache, resource, send, arrived } = await fed();
  const bytes = () => cache.stats().resources[0].bytes;
  const readAll = (names) => names.forEach((name) => assert.ok(resource.peek(`d/${name}`)));
  const names = Array.from({ length: 300 }, (_, i) => `p${100 + i}`);
  for (let time = 0; time < 2; time++) {
    names.forEach((name) => send(name, beat(time)));
    await arrived();
    if (time === 0) readAll(names);
  }
  const before = bytes();
  readAll(names);
  const text = send("p400", beat(1));
  assert.equal(bytes() - before, 256 * 2 * text.length);
  const large = `"data":"${"x".repeat(70_000)}"`;
  for (let time = 0; time < 2; time++) {
    send("large", large);
    await arrived();
    const held = bytes();
    assert.ok(resource.peek("d/large"));
    assert.equal(bytes(), held);
  }
  await cache.close();
});

test("shr_06_what_is_held_for_the_next_versions_goes_first_when_memory_is_short", async () => {
  const { cache, resource, send, arrived } = await fed({ memory: { maxBytes: 600_000 }, history: { minEvents: 1, maxEvents: 1 } });
  const stats = () => cache.stats().resources[0];
  const names = Array.from({ length: 50 }, (_, i) => `p${100 + i}`);
  for (let time = 0; time < 2; time++) {
    names.forEach((name) => send(name, beat(time)));
    await arrived();
    names.forEach((name) => assert.ok(resource.peek(`d/${name}`)));
  }
  await collected(() => stats().pinned === 50);
  const noise = () => Array.from({ length: 20_000 }, () => Math.random().toString(36)[2]).join("");
  for (let i = 0; stats().pinned > 0; i++) {
    send(`more-${i}`, `"data":"${noise()}"`);
    await arrived();
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 2));
    assert.equal(resource.status.error, undefined, `${stats().bytes} bytes, ${stats().pinned} pinned`);
  }
  assert.ok(stats().bytes > 400_000, `${stats().bytes} bytes: memory was not short`);
});

test("shr_12_fields_that_come_with_an_event_are_what_parsing_gives", async () => {
  const { resource, send, arrived } = await fed();
  const paths = ["metadata.resourceVersion", "value", "list[1]", "deep.value", "conditions[?(@.type=='Ready')].status"];
  const told = [];
  const listen = (event) => told.push(paths.map((path) => event.get(path)));
  void resource.watch({ resourceVersion: "10" }).forEach(listen);
  void resource.watch({ resourceVersion: "10" }).forEach(listen);
  const texts = ["1", "-0", "9007199254740993", "1e300", '"a"', '"\\u00fc\\n\\""', '"😀"', "null", "true", "[1]", '{"a":1}', '""', "0"];
  const expected = [];
  for (const [i, value] of [...texts, ...texts.toReversed()].entries()) {
    const rest = [
      `"value":${value},"value":${value}`,
      `"list":[0,${value}]`,
      `"deep":{"value":${value}}`,
      `"conditions":[{"type":"Ready","status":${value}}]`,
    ];
    const whole = JSON.parse(send("x", rest.filter((_, at) => i % 5 !== at).join(",")));
    await arrived();
    const { metadata, value: own, list, deep, conditions } = whole;
    const values = [metadata.resourceVersion, own, list?.[1], deep?.value, conditions?.[0].status];
    expected.push(values, values);
  }
  await until(() => told.length === expected.length);
  assert.deepEqual(told, expected);
});
