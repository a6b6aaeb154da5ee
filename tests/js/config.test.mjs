// Mistakes of configuration: told where they are made, once. Over the real core, before and after it is loaded.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { createInformerFactory, createWatchCache, init, initSync, waitForSync, WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { readOptions } from "../../dist/cache/settings.js";
import { HANDLER, INFORMER } from "../../dist/informer/options.js";
import { runtimeOf } from "../../dist/load/instance.js";
import { read } from "../../dist/options/read.js";
import { DELETE, DELETE_COLLECTION, GET, LIST, PATCH, WRITE } from "../../dist/request/options.js";
import { checkSubscription, checkWindow, VIEW } from "../../dist/view/options.js";
import { WATCH } from "../../dist/watch/options.js";
import { newCache, openShared, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

await init();
const { loaded } = runtimeOf({});

const { cache: shared, pods, informer } = await openShared();
const [event, notification] = await Promise.all([
  pods.watch().next(),
  new Promise((resolve) => void informer.addEventHandler((told) => void resolve(told))),
]);
const view = pods.view();

/** Each value is wrong for the kind. */
const WRONG = {
  filled: ["", 5, null, true, {}, []],
  text: [5, null, true, {}, [], () => {}, { length: 1e9 }, new Uint8Array(5)],
  flag: [0, 1, "true", null, {}],
  callback: ["x", 5, null, {}],
  number: ["5", -1, Number.NaN, null, true, {}],
  integer: ["5", 0.5, Number.NaN, Infinity, null],
  whole: ["5", -1, 0.5, Number.NaN, Infinity, null],
  signal: [null, 5, {}, new AbortController()],
  texts: ["x", null, [5], [null], new Array(1), {}, new Set(["x"])],
  bag: [null, 5, "x", []],
  named: [null, 5, "x", [], new Map([["a", "b"]]), new Set(), new Date(), new (class {})()],
  word: ["x", "", null, 5],
  search: [
    5,
    true,
    [],
    ["x"],
    () => {},
    {},
    { text: 5 },
    { text: null },
    { text: "x", paths: "a" },
    { text: "x", paths: [5] },
    { txt: "x" },
  ],
};
const selectors = { labelSelector: "text", fieldSelector: "text" };
const scope = { namespace: "text", ...selectors };
const period = "number";
const reading = { resourceVersion: "text", signal: "signal" };
const paged = { ...scope, ...reading, shardSelector: "text", resourceVersionMatch: "text", wait: "flag" };

const writing = { signal: "signal", dryRun: "flag", fieldManager: "text", fieldValidation: "word", subresource: "filled" };
const deletion = { signal: "signal", dryRun: "flag", gracePeriodSeconds: "whole", propagationPolicy: "word" };

/** What takes options, and of what kind each is. */
const BAGS = {
  createWatchCache: [
    (options) => createWatchCache(options),
    {
      transport: "word",
      auth: "callback",
      fetch: "callback",
      WebSocket: "callback",
      credentials: "word",
      strip: "texts",
      trigger: "text",
      indexes: "named",
      history: "bag",
      memory: "bag",
      pageSize: "whole",
      watchList: "flag",
      linger: period,
      idleTimeout: period,
      retry: "bag",
      flush: "word",
      mode: "word",
      identity: "text",
      persist: "bag",
      debug: "flag",
      checkConsistency: "flag",
      logger: "bag",
      signal: "signal",
    },
  ],
  watch: [
    (options) => pods.watch(options),
    {
      ...paged,
      changesOf: "texts",
      name: "text",
      sendInitialEvents: "flag",
      allowWatchBookmarks: "flag",
      timeoutSeconds: "whole",
      bufferSize: "whole",
      onOverflow: "word",
    },
  ],
  list: [(options) => pods.list(options), { ...paged, limit: "integer", continue: "text" }, "rejects"],
  get: [(options) => pods.get("a/x", options), { ...reading, subresource: "filled" }, "rejects"],
  synced: [(options) => pods.synced(options), { signal: "signal" }, "rejects"],
  create: [(options) => pods.create(pod("a/y"), options), writing, "rejects"],
  update: [(options) => pods.update("a/x", (object) => object, options), writing, "rejects"],
  patch: [(options) => pods.patch("a/x", {}, options), { ...writing, type: "word", force: "flag" }, "rejects"],
  delete: [(options) => pods.delete("a/none", options), { ...deletion, preconditions: "bag" }, "rejects"],
  deleteCollection: [(options) => pods.deleteCollection(options), { ...scope, ...deletion }, "rejects"],
  refresh: [(options) => pods.refresh(options), { reset: "flag" }, "rejects"],
  view: [
    (options) => pods.view(options),
    {
      namespaces: "texts",
      ...selectors,
      search: "search",
      where: "callback",
      orderBy: "texts",
      window: "bag",
      groupBy: "text",
      derive: "named",
    },
  ],
  informer: [
    (options) => pods.informer(options),
    {
      resyncPeriod: period,
      transform: "callback",
      indexers: "named",
      relistUpdates: "flag",
      readYourWrites: "flag",
      onWatchError: "callback",
      start: "flag",
    },
  ],
  addEventHandler: [
    (options) => informer.addEventHandler(() => {}, options),
    { ...scope, changesOf: "texts", resyncPeriod: period, coalesce: "flag", bufferSize: period, timeSlice: period, filter: "callback" },
  ],
  createInformerFactory: [
    (options) => createInformerFactory(shared, options),
    { ...scope, resyncPeriod: period, transform: "callback", onWatchError: "callback" },
  ],
  waitForSync: [(options) => waitForSync({}, options), { timeoutMs: period, signal: "signal" }, "rejects"],
  resource: [
    (options) => shared.resource({ version: "v1", resource: "pods", ...options }),
    { ...scope, group: "text", version: "text", resource: "text" },
  ],
};

/** Thrown before the call returns, or the promise's rejection, and never both. */
async function refused(call, how, named) {
  const right = (error) => {
    assert.ok(error instanceof WatchCacheError, `${named}: ${error}`);
    assert.equal(error.code, "invalid", `${named}: ${error.message}`);
    assert.ok(error.message.includes(named), `${named} is named: ${error.message}`);
    return true;
  };
  if (how === "rejects") await assert.rejects(call(), right, named);
  else assert.throws(call, right, named);
}

/** What may not be missing. */
const NEEDED = { patch: { type: "merge" } };
/** What may not be there and undefined: a slip of it would delete too much. */
const SAID = { deleteCollection: Object.keys(scope) };

test("what narrows a deletion of many is said or left out, and never undefined", async () => {
  for (const name of SAID.deleteCollection)
    await refused(() => pods.deleteCollection({ [name]: undefined }), "rejects", `${name} is undefined: leave it out`);
});

for (const [method, [call, options, how]] of Object.entries(BAGS)) {
  const needed = NEEDED[method];
  test(`${method}: what is of the wrong type, or no option, is refused by its name`, async () => {
    for (const [name, kind] of Object.entries(options)) {
      for (const value of WRONG[kind]) await refused(() => call({ ...needed, [name]: value }), how, name);
    }
    await refused(() => call({ ...needed, colour: "x" }), how, `colour is no option of ${method}: there are `);
    if (method !== "resource") for (const given of [null, 5, "x", [], () => {}]) await refused(() => call(given), how, method);
  });

  test(`${method}: what is undefined was not given`, async () => {
    const names = Object.keys(options).filter((name) => !SAID[method]?.includes(name));
    const empty = { ...Object.fromEntries([...names, "colour"].map((name) => [name, undefined])), ...needed };
    if (method === "resource") Object.assign(empty, { version: "v1", resource: "pods" });
    // The upstream cannot write, and has no such object.
    const outcome = await Promise.resolve(call(empty)).catch((error) => error);
    if (outcome instanceof Error) assert.match(outcome.message, /has no method/);
    outcome?.stop?.();
    await outcome?.close?.();
  });
}

test("names that every object has are no options", async () => {
  for (const name of ["constructor", "toString", "valueOf", "hasOwnProperty"]) {
    for (const [method, [call, , how]] of Object.entries(BAGS)) {
      await refused(() => call({ ...NEEDED[method], [name]: 1 }), how, `${name} is no option of ${method}`);
    }
    assert.throws(() => createWatchCache({ retry: { [name]: 1 } }), { code: "invalid" });
  }
});

test("what is no source of the WebAssembly is refused at once, and changes nothing", async () => {
  const wrong = [5, true, null, {}, [], () => {}, Symbol("x")];
  for (const value of [...wrong, "", "/x.wasm", "http://["]) await refused(() => init(value), "rejects", "module");
  for (const value of wrong) await refused(() => init(Promise.resolve(value)), "rejects", "module");
  for (const value of [...wrong, "", "http://a/x.wasm", new URL("http://a/x.wasm"), undefined])
    await refused(() => initSync(value), "throws", "module");
  assert.equal(runtimeOf({}).loading.phase, "loaded");
});

test("a window is checked wherever it is given", async () => {
  const wrong = [undefined, null, 5, "x", [], {}, { offset: 0 }, { limit: 1 }, { offset: 0, limit: 1, size: 5 }];
  for (const value of WRONG.whole) wrong.push({ offset: value, limit: 1 }, { offset: 0, limit: value });
  for (const value of wrong) await refused(() => view.setWindow(value), "throws", "window");
});

test("an option with a typo is answered with the nearest one", () => {
  for (const [call, message] of [
    [() => pods.watch({ labelSelctor: "a" }), "labelSelctor is no option of watch: did you mean labelSelector?"],
    [() => pods.watch({ timeout: 5 }), "timeout is no option of watch: did you mean timeoutSeconds?"],
    [() => pods.view({ namespace: "a" }), "namespace is no option of view: did you mean namespaces?"],
    [() => pods.view({ orderBy: [{ path: "a", desc: true }] }), "orderBy[0].desc is no option of orderBy[0]: did you mean descending?"],
    [() => createWatchCache({ trasport: "fetch" }), "trasport is no option of createWatchCache: did you mean transport?"],
    [() => createWatchCache({ retry: { initial: 5 } }), "retry.initial is no option of retry: did you mean initialMs?"],
  ]) {
    assert.throws(call, { code: "invalid", message });
  }
});

test("nested options, numbers and words are refused by their whole name", async () => {
  for (const [options, message] of [
    [{ retry: { capMs: "5" } }, "retry.capMs is a number from 1 to 86400000, not text"],
    [{ retry: { capMs: Infinity } }, "retry.capMs is a number from 1 to 86400000, not Infinity"],
    [{ retry: { initialMs: 0 } }, "retry.initialMs is a number from 1 to 86400000, not 0"],
    [{ retry: { initialMs: 1e-9 } }, "retry.initialMs is a number from 1 to 86400000, not 1e-9"],
    [{ retry: { factor: 0 } }, "retry.factor is a number from 1 to 100, not 0"],
    [{ retry: { jitter: Infinity } }, "retry.jitter is a number from 0 to 100, not Infinity"],
    [{ history: { minMs: 1 } }, "history.minMs is a number from 75000 up, not 1"],
    // In the words of src/store/bounds.rs.
    [{ history: { minEvents: 9, maxEvents: 8 } }, "history.maxEvents, 8, is below minEvents, 9"],
    [{ history: { maxEvents: 99 } }, "history.maxEvents, 99, is below minEvents, 100"],
    [{ memory: { maxBytes: null } }, "memory.maxBytes is a number from 0 up, not null"],
    [{ strip: ["a", 5] }, "strip[1] is text, not 5"],
    [{ indexes: { node: 5 } }, "indexes.node is a path or a function, not 5"],
    [{ pageSize: 0.5 }, "pageSize is a whole number from 1 up, not 0.5"],
    [{ linger: Number.NaN }, "linger is a number from 0 up, not NaN"],
    [{ transport: "sse" }, 'transport is one of auto, websocket, fetch, not "sse"'],
    [{ auth: "a-secret" }, "auth is a function, not text"],
  ]) {
    assert.throws(() => createWatchCache(options), { code: "invalid", message });
  }
  for (const [spec, message] of [
    [{ orderBy: [{ as: "text" }] }, "orderBy[0].path is missing"],
    [{ orderBy: [{ path: "a", as: "size" }] }, 'orderBy[0].as is one of text, natural, number, quantity, time, not "size"'],
    [{ window: { offset: 0 } }, "window.limit is missing"],
    [{ window: { offset: -1, limit: 1 } }, "window.offset is a whole number from 0 up, not -1"],
  ]) {
    assert.throws(() => pods.view(spec), { code: "invalid", message });
  }
  await assert.rejects(pods.delete("a/x", { preconditions: { uid: 5 } }), { code: "invalid", message: "preconditions.uid is text, not 5" });
});

test("text is text wherever it crosses to the core", async () => {
  const calls = {
    key: [(key) => pods.peek(key), (key) => informer.get(key)],
    index: [
      (index) => pods.byIndex(index, "a"),
      (index) => pods.indexValues(index),
      (index) => informer.byIndex(index, "a"),
      (index) => informer.indexKeys(index, "a"),
      (index) => informer.indexValues(index),
    ],
    value: [
      (value) => pods.byIndex("namespace", value),
      (value) => informer.byIndex("namespace", value),
      (value) => informer.indexKeys("namespace", value),
    ],
    path: [(path) => event.value.get(path), (path) => notification.get(path), (path) => event.value.get(path)],
  };
  for (const value of [undefined, ...WRONG.text]) {
    for (const [name, all] of Object.entries(calls)) for (const call of all) await refused(() => call(value), "throws", name);
    for (const call of [() => pods.get(value), () => pods.update(value, (object) => object), () => pods.delete(value)]) {
      await refused(call, "rejects", "key");
    }
  }
  for (const value of WRONG.text) {
    await refused(() => informer.list(value), "throws", "labelSelector");
    await refused(() => informer.list("", value), "throws", "namespace");
  }
  assert.equal(pods.peek("a/x").metadata.name, "x");
});

test("functions are functions", async () => {
  for (const value of [undefined, null, 5, "x", {}]) {
    await refused(() => pods.update("a/x", value), "rejects", "change");
    await refused(() => pods.watch().forEach(value), "rejects", "handler");
  }
  for (const value of [undefined, null, 5, "x", []]) await refused(() => informer.addEventHandler(value), "throws", "handler");
  await refused(() => informer.addEventHandler({ onAdd: "x" }), "throws", "onAdd");
  for (const what of [undefined, null, { pods: 5 }, { pods: {} }]) await refused(() => waitForSync(what), "rejects", "is an informer");
  for (const cache of [undefined, null, {}, "x"]) await refused(() => createInformerFactory(cache), "throws", "cache");
  await refused(() => createInformerFactory(shared).forResource(null), "throws", "version");
  await refused(() => informer.addIndexers({ x: 5 }), "throws", "indexers.x");
  await refused(() => informer.addIndexers(null), "throws", "indexers");
});

test("a source without its methods is refused where it is named", async () => {
  const source = { list() {}, watch() {} };
  for (const wrong of [null, 5, {}, { list() {} }, { ...source, create: 5 }, { ...source, requestProgress: null }]) {
    await refused(() => shared.resource({ source: wrong, id: "x" }), "throws", "source");
  }
  for (const id of [undefined, null, 5, ""]) await refused(() => shared.resource({ source, id }), "throws", "id");
  await refused(() => shared.resource({ source, id: "x", labelSelector: "a" }), "throws", "labelSelector is no option");
  await refused(() => shared.resource({ source: { ...source, collection: { namespace: 5 } }, id: "x" }), "throws", "namespace");
});

test("a server that is no address is refused when the cache is made, unless only the page can tell", async (t) => {
  const wrong = [5, null, "", {}, "ftp://host", "ws://host", "http://", "https://u:p@host", "https://host?x=1", "https://host#x"];
  for (const server of wrong) await refused(() => createWatchCache({ server }), "throws", "server");
  // Where a server renders.
  for (const server of [undefined, "/clusters/x", "https://host/"]) await createWatchCache({ server }).close();
  t.after(() => delete globalThis.location);
  globalThis.location = new URL("https://page/app");
  await createWatchCache({ server: "/clusters/x" }).close();
  for (const server of ["/clusters/x?y=1", "//u@host"]) await refused(() => createWatchCache({ server }), "throws", "server");
});

// -------------------------------------------------------------------------------- the table and the core

/** What the facade keeps for itself, or turns into what the core reads. */
const OWN = new Set(
  "signal where window filter timeSlice transform indexers onWatchError start derive childrenOf selectedBy eventsOf".split(" "),
);
/** What the core reads beside the options, or within one. */
const WITHIN = new Set("predicate after name path text paths descending as offset limit window uid resourceVersion judged".split(" "));

test("the table names what the core reads, and nothing else", async () => {
  const text = await readFile(new URL("../../src/web/handle/options.rs", import.meta.url), "utf8");
  // Readers that share a part are named with it.
  const readBy = (readers) =>
    new Set(
      readers.split(" ").flatMap((reader) => {
        const [, body] = text.split(new RegExp(`\\bfn ${reader}\\(`));
        assert.ok(body, `${reader} is still there`);
        const [until] = body.split(/\n( {4})?\}\n/);
        const found = until.matchAll(/\b(?:get|required|bag|list)(?:::<[^>]*>)?\("(\w+)"\)/g);
        return Array.from(found, ([, name]) => name);
      }),
    );
  // What is got of an object goes its own way.
  const { subresource: _, ...got } = GET;
  for (const [reader, ...bags] of [
    ["watch_options", WATCH],
    ["list_options", LIST, got],
    ["parameters", WRITE],
    ["patch_of parameters", PATCH],
    ["deletion", DELETE],
    ["deleting deletion", { ...DELETE_COLLECTION, preconditions: DELETE.preconditions }],
    ["view_options", VIEW],
    ["handler_options", HANDLER],
    ["informer_options", INFORMER],
  ]) {
    const inCore = readBy(reader);
    assert.ok(inCore.size > 2, `${reader} reads options`);
    for (const name of inCore)
      assert.ok(WITHIN.has(name) || bags.some((bag) => name in bag), `${reader} reads ${name}, which nobody can give`);
    for (const bag of bags) for (const name in bag) assert.ok(OWN.has(name) || inCore.has(name), `${reader} does not read ${name}`);
  }
});

test("what the table lets through is of a type that the core can read", async () => {
  const module = loaded();
  const options = { name: "pods" };
  const hooks = { flush() {}, event() {}, notify() {}, indexValues: () => [] };
  const raw = module.openSource(options, memorySource(), hooks, new module.RawMemory(1e6));
  const over = Promise.resolve();
  const values = ["x", "", 5, 0, 0.5, -1, 1e10, Number.NaN, Infinity, true, null, [], ["x"], [5], {}, () => {}, 5n, Symbol("x")];
  const orders = [[{ path: "a" }], [{ path: "a", descending: true, as: "time" }]];
  for (const [bag, call] of [
    [WATCH, (given) => raw.forget(raw.watch(given))],
    [LIST, (given) => void raw.list(given, over).catch(() => {})],
    [GET, (given) => void raw.get("a", given, over).catch(() => {})],
    [WRITE, (given) => void raw.create("{}", given, over).catch(() => {})],
    [PATCH, (given) => void raw.writePatch("a", "{}", { type: "merge", ...given }, over).catch(() => {})],
    [DELETE, (given) => void raw.delete("a", given, over).catch(() => {})],
    [DELETE_COLLECTION, (given) => void raw.deleteCollection(given, over).catch(() => {})],
    [VIEW, (given) => raw.viewClose(raw.view({ predicate: false, ...given }))],
  ]) {
    let taken = 0;
    for (const name of Object.keys(bag).filter((name) => !OWN.has(name))) {
      for (const value of [...values, ...orders]) {
        let given;
        try {
          given = read(bag, "it", { [name]: value }, { loaded });
        } catch (error) {
          assert.equal(error.code, "invalid", `${name}: ${error}`);
          continue;
        }
        assert.doesNotThrow(() => call(given), `${name}: ${String(value)}`);
        taken++;
      }
    }
    assert.ok(taken > 0);
  }
  raw.close();
});

/** From nothing to without end, and beyond what is counted exactly. */
const NUMBERS = [0, 1e-9, 0.5, 1, 99, 100, 101, 75_000, 86_400_000, 86_400_001, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 64, 1e300, Infinity];

test("the core takes the durations and numbers that the table lets through, and refuses the waits that the table refuses", () => {
  const module = loaded();
  const hooks = { flush() {}, event() {}, notify() {}, indexValues: () => [] };
  const memory = new module.RawMemory(1e6);
  const core = (given) => {
    module.openSource({ name: "pods", ...given }, memorySource(), hooks, memory).close();
  };
  const takes = (call) => {
    try {
      call();
      return true;
    } catch (error) {
      assert.equal(error.code, "invalid");
      return false;
    }
  };
  const both = ["initialMs", "factor", "capMs", "jitter", "resetAfterMs"].map((name) => (value) => ({ retry: { [name]: value } }));
  both.push(
    (idleTimeout) => ({ idleTimeout }),
    (minMs) => ({ history: { minMs } }),
    (minEvents) => ({ history: { minEvents } }),
    (maxEvents) => ({ history: { maxEvents } }),
    (maxEvents) => ({ history: { minEvents: 10, maxEvents } }),
    (minEvents) => ({ history: { minEvents, maxEvents: 10 } }),
  );
  for (const given of both) {
    for (const value of NUMBERS) {
      const [table, inCore] = [takes(() => readOptions(given(value))), takes(() => core(given(value)))];
      assert.equal(inCore, table, `${Object.keys(given(value))} ${JSON.stringify(given(String(value)))}`);
    }
  }
  for (const value of NUMBERS) core({ history: { maxBytes: value } });
});

test("a duration without end never comes, and one beyond all clocks neither", async () => {
  const resource = newCache().resource({ source: memorySource({ objects: [pod("a/x")] }), id: "pods" });
  for (const resyncPeriod of [Infinity, 1e300, Number.MAX_VALUE, 2 ** 63, 2 ** 53]) {
    const endless = resource.informer({ resyncPeriod });
    let resyncs = 0;
    endless.addEventHandler({ onUpdate: () => void resyncs++ }, { timeSlice: resyncPeriod, bufferSize: resyncPeriod });
    await endless.synced;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(resyncs, 0, String(resyncPeriod));
    endless.stop();
  }
  await assert.rejects(waitForSync({ never: { hasSynced: false, synced: new Promise(() => {}) } }, { timeoutMs: 0 }), { code: "timeout" });
  for (const timeoutMs of [Infinity, 1e300]) await waitForSync({ soon: resource.informer() }, { timeoutMs });
});

test("an idle timeout and a linger without end are none", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const cache = newCache({ idleTimeout: Infinity, linger: Infinity, retry: { resetAfterMs: Infinity } });
  const resource = cache.resource({ source: upstream, id: "pods" });
  await resource.synced();
  await until(() => resource.status.phase === "live");
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual([resource.status.phase, upstream.asked("list").length, upstream.asked("watch").length], ["live", 1, 1]);
});

test("the shortest waits that can be asked for make no loop of a failure", async () => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  upstream.fail({ code: 503, message: "down" });
  const cache = newCache({ retry: { initialMs: 1, capMs: 1, factor: 1, jitter: 0 } });
  cache
    .resource({ source: upstream, id: "pods" })
    .view()
    .subscribe(() => {});
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  // Some while the waits grow, then one in 50 ms.
  assert.ok(upstream.asked("list").length > 5 && upstream.asked("list").length < 30, String(upstream.asked("list").length));
});

test("an index may have any name", async () => {
  const names = ["__proto__", "constructor", "toString"];
  const indexes = JSON.parse(`{${names.map((name) => `"${name}":"metadata.name"`)}}`);
  const resource = newCache({ indexes }).resource({ source: memorySource({ objects: [pod("a/x")] }), id: "pods" });
  await resource.synced();
  const informer = pods.informer({ indexers: indexes });
  await informer.synced;
  for (const name of names) {
    assert.deepEqual([resource.indexValues(name), informer.indexValues(name)], [["x"], ["x"]], name);
    assert.deepEqual([resource.byIndex(name, "x").length, informer.byIndex(name, "x").length], [1, 1], name);
  }
});

test("a view's own calls", async () => {
  for (const window of [undefined, null, 5, {}, { offset: 0 }, { offset: 0.5, limit: 1 }, { offset: 0, limit: "1" }]) {
    assert.throws(() => checkWindow(window), { code: "invalid" });
  }
  assert.deepEqual(checkWindow({ offset: 1, limit: 2 }), { offset: 1, limit: 2 });
  for (const onChange of [undefined, null, 5, {}]) await refused(() => checkSubscription(onChange), "throws", "onChange");
  await refused(() => checkSubscription(() => {}, { signal: 5 }), "throws", "signal");
  for (const given of WRONG.search) await refused(() => view.setSearch(given), "throws", "search");
  for (const path of ["a[", ""]) await refused(() => view.setSearch({ text: "x", paths: [path] }), "throws", "search.paths[0]");
  for (const signal of WRONG.signal) await refused(() => view.changes({ signal }), "throws", "signal");
  for (const given of WRONG.bag) await refused(() => view.changes(given), "throws", "changes");
  await refused(() => view.changes({ singal: 5 }), "throws", "there are signal");
  for (const key of [undefined, ...WRONG.text]) assert.throws(() => view.indexOf(key), { code: "invalid" });
});
