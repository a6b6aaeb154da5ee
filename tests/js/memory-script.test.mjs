// The script of `watchcache/memory`: what it takes and gives out, time, order and refusals. memory-source.test.mjs compares it with a
// server.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";

import { createWatchCache } from "watchcache";
import { memorySource, virtualClock } from "watchcache/memory";
import { map, never, page, said } from "./lib/memory.mjs";
import { until } from "./lib/package.mjs";

/** All pages of a list. */
async function whole(source) {
  const items = [];
  let { metadata, items: more } = await page(source);
  for (;;) {
    items.push(...more);
    if (metadata.continue === undefined) return { items };
    ({ metadata, items: more } = await page(source, { continue: metadata.continue }));
  }
}

// ------------------------------------------------------------------------------------------- order and ends

test("frames arrive whatever the date does", async (t) => {
  for (const clock of [undefined, virtualClock(Date.now())]) {
    const source = memorySource({ kind: "ConfigMap", clock });
    const heard = [];
    void (async () => {
      for await (const frame of source.watch({ resourceVersion: "100" }, never)) heard.push(JSON.parse(frame).object.metadata.name);
    })();
    await until(() => source.streams === 1);
    source.put(map("before"));
    const now = Date.now();
    t.mock.method(Date, "now", () => now - 3_600_000_000);
    if (clock) t.mock.method(clock, "now", () => 0);
    source.put(map("back"));
    await until(() => heard.length === 2);
    source.delay = 1;
    source.put(map("late"));
    await clock?.advance(1);
    await until(() => heard.length === 3);
    assert.deepEqual(heard, ["before", "back", "late"]);
    t.mock.restoreAll();
  }
});

test("what is sent with another delay goes by that one, and overtakes nothing", async () => {
  for (const first of [Infinity, 3_600_000, 1]) {
    const source = memorySource({ kind: "ConfigMap" });
    const heard = [];
    void (async () => {
      for await (const frame of source.watch({ resourceVersion: "100" }, never)) heard.push(JSON.parse(frame).object.metadata.name);
    })();
    await until(() => source.streams === 1);
    source.delay = first;
    source.put(map("slow"));
    source.delay = 0;
    source.put(map("quick"));
    await until(() => heard.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    source.put(map("last"));
    await until(() => heard.length >= 3);
    assert.deepEqual(heard, ["slow", "quick", "last"]);
    source.drop();
  }
});

test("the refusal of a watch is late, too", async () => {
  const clock = virtualClock();
  const source = memorySource({ clock, delay: 100 });
  source.fail({ code: 403 });
  let refused;
  said(source, { resourceVersion: "100" }).catch((error) => (refused = error));
  const [watch] = [source.watch({ resourceVersion: "100" }, never)];
  watch.next().catch((error) => (refused = error));
  await clock.advance(99);
  assert.equal(refused, undefined);
  await clock.advance(1);
  assert.equal(refused.code, 403);
});

test("one that waits for many frames hangs one listener on its signal", async () => {
  const source = memorySource({ delay: 3_600_000 });
  const controller = new AbortController();
  const reads = (async () => {
    for await (const frame of source.watch({ resourceVersion: "100", timeoutSeconds: 300 }, controller.signal)) assert.fail(frame);
  })();
  await until(() => source.streams === 1);
  for (let i = 0; i < 20; i++) source.put(map(`m-${i}`));
  assert.equal(getEventListeners(controller.signal, "abort").length, 1);
  controller.abort();
  assert.equal(source.streams, 0, "at once");
  await reads;
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

/** What a cache over a source goes through when its watch is cut after `cut`, once it has brought something. */
async function cutting(source, cut) {
  const cache = createWatchCache({ flush: "microtask", retry: { initialMs: 1, capMs: 5 } });
  try {
    const resource = cache.resource({ source, id: "configmaps" });
    await resource.synced();
    const told = [];
    const informer = resource.informer({ onWatchError: ({ error }) => void told.push(`${error.code}: ${error.message}`) });
    await informer.synced;
    source.delay = 0;
    source.put(map("new"));
    await until(() => resource.size === 2);
    cut();
    await until(() => source.asked("watch").length === 2 && resource.status.phase === "live");
    source.delay = 0;
    source.put(map("newer"));
    await until(() => resource.size === 3);
    return [told, source.requests.map(({ verb }) => verb)];
  } finally {
    await cache.close();
    assert.equal(source.streams, 0, "closed");
  }
}

test("a cut in the midst of a frame is what it is over HTTP: a resume without a list, and the error that broke it", async () => {
  for (const delay of [0, 20]) {
    const source = memorySource({ objects: [map("a")] });
    const [told, verbs] = await cutting(source, () => {
      source.delay = delay;
      if (delay > 0) source.put(map("new", { n: "2" }));
      source.drop({ midFrame: true, error: new TypeError("socket hang up") });
    });
    assert.deepEqual(verbs, ["list", "watch", "watch"]);
    assert.equal(told.length, 1);
    assert.match(told[0], /^network: .*socket hang up/);
  }
});

test("an end in good order after something new is a resume, and no error", async () => {
  const source = memorySource({ objects: [map("a")] });
  assert.deepEqual(await cutting(source, () => source.drop()), [[], ["list", "watch", "watch"]]);
});

// ---------------------------------------------------------------------------------------------- options

test("what is mistaken is refused where it is given, by its name, and changes nothing", async () => {
  const source = memorySource({ objects: [map("a")] });
  const before = JSON.stringify([source.objects, source.resourceVersion]);
  const invalid = (call, message) => assert.throws(call, { name: "WatchCacheError", code: "invalid", message }, String(message));
  const wrong = {
    objects: [
      ...[5, null, "ab", map("a"), [null], [{}], [{ metadata: null }], [{ metadata: { name: 5 } }], [{ metadata: { name: "" } }]],
      [map("a"), map("b"), map("a", { n: "2" })],
    ],
    kind: [5, null, ""],
    apiVersion: [5, null],
    resourceVersion: [5, "abc", "", "-1", "1.5", "0", "007", null, {}],
    pageSize: [0, -1, Number.NaN, "2", 1.5, null],
    watchList: ["yes", null],
    readOnly: ["no", 1, null],
    delay: [Number.NaN, -1, "5", null, {}],
    clock: [5, {}, null, { now() {} }],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) invalid(() => memorySource({ [name]: value }), RegExp(`^${name}`));
  invalid(() => memorySource({ page: 2 }), "page is no option of memorySource: did you mean pageSize?");
  for (const value of [null, 5, "x", []]) invalid(() => memorySource(value), /memorySource/);
  for (const name of ["resourceVersion", "pageSize", "delay"]) {
    for (const value of wrong[name]) invalid(() => (source[name] = value), RegExp(`^${name} is`));
  }
  for (const name of ["before", "outgoing"]) invalid(() => (source[name] = 5), `${name} is a function, not 5`);

  const cycle = map("cycle");
  cycle.self = cycle;
  const nameless = [
    undefined,
    null,
    5,
    "x",
    [],
    {},
    { metadata: {} },
    { metadata: null },
    { metadata: { name: 5 } },
    { metadata: { name: "a/b" } },
  ];
  for (const object of [...nameless, cycle, { ...map("big"), n: 1n }]) invalid(() => source.put(object), /^object/);
  for (const key of [undefined, null, 5, {}]) invalid(() => source.remove(key), /^key is text/);
  for (const failure of [undefined, null, 5, "x", [], {}, { code: "403" }, { code: 200 }, { reason: "x" }, { kind: "Status" }]) {
    invalid(() => source.fail(failure), /fail|code/);
  }
  invalid(() => source.fail({ cod: 403 }), "cod is no option of fail: did you mean code?");
  for (const times of [0, -1, Number.NaN, "2", null]) invalid(() => source.fail({ code: 403 }, { times }), /^times is/);
  for (const verbs of ["list", ["connect"], [], null]) invalid(() => source.fail({ code: 403 }, { verbs }), /^verbs/);
  invalid(() => source.fail({ code: 403 }, { verb: "list" }), "verb is no option of fail: did you mean verbs?");
  for (const options of [null, 5, { error: "x" }, { error: null }, { midFrame: "x" }, { eror: new Error() }])
    invalid(() => source.drop(options), /./);
  for (const frame of [undefined, () => {}, 1n, Symbol()]) invalid(() => source.send(frame), /^frame/);
  for (const verb of [undefined, "connect", 5]) invalid(() => source.asked(verb), /^verb is one of/);
  for (const now of [Number.NaN, "5", null]) invalid(() => virtualClock(now), /^now is/);
  const clock = virtualClock(7);
  for (const ms of [undefined, Number.NaN, -5, "5", Infinity, null]) await assert.rejects(clock.advance(ms), { code: "invalid" });
  assert.equal(clock.now(), 7);
  assert.equal(JSON.stringify([source.objects, source.resourceVersion]), before);
  assert.equal((await page(source)).items.length, 1, "nothing fails");
  // What is undefined was not given.
  const none = Object.fromEntries(Object.keys(wrong).map((name) => [name, undefined]));
  assert.equal(memorySource(none).resourceVersion, "100");
});

test("a put that throws, in a script's own function too, changes nothing, and one within another comes before it", async () => {
  const source = memorySource({ kind: "ConfigMap", objects: [map("a", { n: "1" })] });
  source.outgoing = () => {
    throw new RangeError("mine");
  };
  for (const write of [() => source.put(map("a", { n: "2" })), () => source.put(map("b")), () => source.remove("default/a")]) {
    assert.throws(write, { name: "RangeError", message: "mine" });
  }
  source.outgoing = undefined;
  assert.deepEqual([source.objects.length, source.objects[0].data.n, source.resourceVersion], [1, "1", "101"]);
  assert.deepEqual(await said(source, { resourceVersion: "101" }), []);
  source.outgoing = (object) => {
    source.outgoing = undefined;
    source.put(map("inner"));
    return object;
  };
  source.put(map("outer"));
  const events = await said(source, { resourceVersion: "101" });
  assert.deepEqual(
    events.map(({ object: { metadata } }) => `${metadata.name}@${metadata.resourceVersion}`),
    ["inner@102", "outer@103"],
  );
});

test("versions grow beyond what a number holds", async () => {
  for (const start of ["9007199254740993", "99999999999999999999999"]) {
    const source = memorySource({ objects: ["a", "b", "c"].map((name) => map(name)), resourceVersion: start });
    const last = String(BigInt(start) + 3n);
    const first = await page(source, { limit: 2 });
    assert.deepEqual([source.resourceVersion, first.metadata.resourceVersion], [last, last]);
    source.put(map("d"));
    const rest = await page(source, { continue: first.metadata.continue });
    assert.deepEqual([rest.metadata.resourceVersion, rest.items.map(({ metadata }) => metadata.name)], [last, ["c"]]);
    const [event] = await said(source, { resourceVersion: last });
    assert.equal(event.object.metadata.resourceVersion, String(BigInt(start) + 4n));
  }
});

test("failures of so many requests come in their order, before the one that lasts", async () => {
  const source = memorySource({ objects: [map("a")] });
  const codes = async (count, ask = () => page(source)) => {
    const seen = [];
    for (let i = 0; i < count; i++)
      seen.push(
        await ask().then(
          () => "ok",
          (error) => (error.status ?? error).code,
        ),
      );
    return seen;
  };
  const watch = () => said(source, { resourceVersion: "101" });
  source.fail({ code: 500 }, { times: 2, verbs: ["list"] });
  source.fail({ code: 403 }, { times: 1, verbs: ["watch"] });
  source.fail({ code: 429 }, { times: 1 });
  assert.deepEqual(await codes(2, watch), [403, 429]);
  assert.deepEqual(await codes(3), [500, 500, "ok"]);
  source.fail({ code: 500 });
  source.fail({ code: 403 }, { verbs: ["watch"] });
  assert.deepEqual([await codes(1), await codes(1, watch)], [[500], [403]]);
  source.fail({ code: 503 });
  assert.deepEqual([await codes(1), await codes(1, watch)], [[503], [503]], "the newest holds");
  source.fail({ code: 429 }, { times: 1 });
  assert.deepEqual(await codes(2), [429, 503], "one that is numbered comes first, though it was said last");
  source.recover();
  assert.deepEqual([await codes(1), await codes(1, watch)], [["ok"], ["ok"]]);
});

test("bytes are sent as they stand, of whatever realm, and as they were", async () => {
  const source = memorySource();
  const text = JSON.stringify({ type: "ADDED", object: map("a") });
  const foreign = runInNewContext("Uint8Array.from(bytes)", { bytes: [...Buffer.from(text)] });
  const mine = new TextEncoder().encode(`xx${text}`);
  const watch = source.watch({ resourceVersion: "100" }, never);
  const first = watch.next();
  await until(() => source.streams === 1);
  for (const bytes of [foreign, foreign.buffer, mine.subarray(2), new DataView(mine.buffer, 2)]) source.send(bytes);
  mine.fill(0);
  for (let i = 0; i < 4; i++) {
    const { value } = await (i === 0 ? first : watch.next());
    assert.ok(value instanceof Uint8Array);
    assert.equal(new TextDecoder().decode(value), text);
  }
  const error = runInNewContext("new TypeError('fetch failed')");
  source.fail(error);
  await assert.rejects(page(source), { message: "fetch failed" });
  source.drop({ error });
  await assert.rejects(watch.next(), { message: "fetch failed" });
});

// -------------------------------------------------------------------------------------------- the objects

test("what is given out is frozen, and is the same until it changes", () => {
  const source = memorySource({ objects: [map("a", { n: "1" })] });
  const { objects } = source;
  assert.equal(source.objects, objects);
  for (const object of [...objects, source.put(map("b", { n: "1" })), source.remove("default/b")]) {
    assert.throws(() => (object.data.n = "2"), TypeError);
    assert.throws(() => (object.metadata.name = "2"), TypeError);
  }
  assert.throws(() => objects.push(map("c")), TypeError);
  assert.notEqual(source.objects, objects);
});

test("an object has a uid of its own and the time when it came, and keeps them", async () => {
  const clock = virtualClock(Date.UTC(2020, 0, 1));
  const [one, other] = [1, 2].map(() => memorySource({ objects: [map("a"), map("b")], clock }));
  const uids = [...one.objects, ...other.objects].map(({ metadata }) => metadata.uid);
  assert.equal(new Set(uids).size, 4);
  await clock.advance(60_000);
  const { metadata } = one.put(map("a", { n: "2" }));
  assert.deepEqual([metadata.uid, metadata.creationTimestamp], [uids[0], "2020-01-01T00:00:00Z"]);
  one.remove("default/a");
  const again = one.put(map("a")).metadata;
  assert.ok(!uids.includes(again.uid));
  assert.equal(again.creationTimestamp, "2020-01-01T00:01:00Z");
  const own = one.put({ metadata: { name: "c", uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z" } }).metadata;
  assert.deepEqual([own.uid, own.creationTimestamp], ["mine", "2001-01-01T00:00:00Z"]);
});

test("writes are refused as a server refuses them, and what identifies an object stays", async () => {
  const source = memorySource({ kind: "ConfigMap", objects: [map("a", { n: "1" }), map("b")] });
  const [{ metadata }] = source.objects;
  const target = { namespace: "default", name: "a" };
  const update = async (object) => JSON.parse((await source.update({ ...target, body: JSON.stringify(object) }, never)).body);
  const refused = (write, code) => assert.rejects(write, ({ status }) => status.code === code);
  await refused(update(map("b")), 400);
  await refused(update(map("a", {}, "other")), 400);
  await refused(update({ ...map("a"), metadata: { ...metadata, uid: "another" } }), 409);
  for (const body of ["5", "null", "[]", "{"]) await refused(source.update({ ...target, body }, never), 400);
  for (const body of [{}, { metadata: {} }, { metadata: { name: "" } }, { metadata: { name: 5 } }]) {
    await refused(source.create({ namespace: "default", body: JSON.stringify(body) }, never), 422);
  }
  await refused(source.create({ namespace: "default", body: JSON.stringify(map("c", {}, "other")) }, never), 400);
  const version = source.resourceVersion;
  assert.equal((await update({ data: { n: "1" }, ...map("a", { n: "1" }) })).metadata.resourceVersion, metadata.resourceVersion);
  assert.equal(source.resourceVersion, version, "nothing has changed");
  const changed = await update({ apiVersion: "v1", kind: "ConfigMap", data: { n: "2" } });
  assert.deepEqual({ ...changed.metadata, resourceVersion: "" }, { ...metadata, resourceVersion: "" });
  assert.equal(changed.data.n, "2");
  const make = async () =>
    JSON.parse((await source.create({ body: JSON.stringify({ metadata: { namespace: "default", generateName: "made-" } }) }, never)).body);
  const { name: first } = (await make()).metadata;
  // This object is the next that is made, so the name of the one after it is taken.
  const taken = `made-${String(Number(first.slice("made-".length)) + 2).padStart(5, "0")}`;
  source.put({ metadata: { namespace: "default", name: taken } });
  const { name: second } = (await make()).metadata;
  assert.equal(new Set([first, taken, second]).size, 3);
});

for (const [kind, apiVersion, resource] of [
  ["Pod", "v1", "pods"],
  ["NetworkPolicy", "networking.k8s.io/v1", "networkpolicies.networking.k8s.io"],
  ["Ingress", undefined, "ingresses"],
  ["Endpoints", undefined, "endpoints"],
]) {
  test(`messages name ${resource}`, async () => {
    const source = memorySource({ kind, apiVersion });
    await assert.rejects(source.get({ name: "a" }, never), ({ status }) => status.message === `${resource} "a" not found`);
  });
}

// ------------------------------------------------------------------------------------------- as a handle

test("all members work detached and through a Proxy, methods may be replaced, and it prints as what it holds", async () => {
  const source = memorySource({ objects: [map("a")], delay: 5 });
  const { put, asked } = source;
  put(map("b"));
  const proxy = new Proxy(source, {});
  proxy.delay = 0;
  proxy.pageSize = 1;
  assert.deepEqual([source.delay, source.pageSize, proxy.objects.length], [0, 1, 2]);
  proxy.outgoing = (object) => ({ ...object, kind: "Mine" });
  assert.equal((await page(proxy)).items[0].kind, "Mine");
  assert.equal(asked("list").length, 1);
  const clock = virtualClock(5);
  const { advance, now } = new Proxy(clock, {});
  await advance(5);
  assert.equal(now(), 10);
  const shown = { objects: 2, resourceVersion: "102", streams: 0, requests: 1 };
  assert.deepEqual([JSON.parse(JSON.stringify(source)), inspect(source)], [shown, `MemorySource ${inspect(shown)}`]);
  assert.equal(inspect(clock), "VirtualClock { now: 10 }");
  source.list = async () => ({ body: "{}" });
  assert.deepEqual(await page(proxy), {}, "one that was used");
  const unused = memorySource();
  unused.list = async () => ({ body: "{}" });
  assert.deepEqual(await page(unused), {}, "one that was not");
  const cache = createWatchCache({ flush: "microtask" });
  const other = memorySource({ objects: [map("a")] });
  await cache.resource({ source: new Proxy(other, {}), id: "configmaps" }).synced();
  await cache.close();
});

// ------------------------------------------------------------------------------------------------ time

test("a virtual clock loses no time: calls of advance add up, within a timer and side by side", async () => {
  const clock = virtualClock();
  const seen = [];
  const at = (ms) => clock.setTimeout(() => seen.push(clock.now()), ms);
  at(150);
  await Promise.all([clock.advance(100), clock.advance(100)]);
  assert.deepEqual([clock.now(), seen.splice(0)], [200, [150]]);
  let inner;
  clock.setTimeout(() => (inner = clock.advance(1_000)), 10);
  for (const ms of [500, 300, 500, 1_200]) at(ms);
  await clock.advance(100);
  await inner;
  assert.deepEqual([clock.now(), seen.splice(0)], [1_300, [500, 700, 700]]);
  const cleared = at(1_000);
  clock.clearTimeout(cleared);
  clock.setTimeout(() => {
    throw new RangeError("mine");
  }, 10);
  at(20);
  await assert.rejects(clock.advance(200), { message: "mine" });
  assert.deepEqual([clock.now(), seen], [1_500, [1_320, 1_400].slice(0, seen.length)]);
  assert.equal(seen[0], 1_320);
});

test("a list in small pages does no work twice", async () => {
  const count = 20_000;
  const source = memorySource({ objects: Array.from({ length: count }, (_, i) => ({ metadata: { name: `m-${i}` } })), pageSize: 50 });
  const started = performance.now();
  const { items } = await whole(source);
  const took = performance.now() - started;
  assert.equal(items.length, count);
  // Sorted for each page it took a hundred times as long as one page of all.
  const one = performance.now();
  source.put({ metadata: { name: "another" } });
  source.pageSize = Infinity;
  await page(source);
  assert.ok(took < 30 * (performance.now() - one), `${took} ms`);
});
