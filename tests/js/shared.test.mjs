// What sharing refuses, and who is refused: the streams themselves are those of tests/e2e/embedded-shared.test.mjs and tests/browser/shared.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";
import { createWatchCache as createInline } from "watchcache/inline";
import { memorySource } from "watchcache/memory";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";
import { hub, portTo } from "../e2e/shared.mjs";
import { addressOf } from "./behind/handed.mjs";
import { pod } from "./lib/pod.mjs";
import { instead, isSynced, keyOf, opened, shared } from "./lib/tabs.mjs";

async function serving(t) {
  const server = await startServer({ port: 0, pods: 3, rate: 0 });
  t.after(() => server.close());
  return server;
}

test("what cannot be shared is invalid at once, with what to do", () => {
  for (const [options, message] of [
    [{ mode: "shared" }, /^identity is missing: with mode "shared"/],
    [{ mode: "worker" }, /^identity is missing: with mode "worker"/],
    [{ ...shared, identity: "" }, /identity is text that is not empty/],
    [{ ...shared, fetch }, /^fetch cannot be handed to a worker/],
    [{ ...shared, WebSocket: class {} }, /^WebSocket cannot be handed to a worker/],
    [{ ...shared, worker: 5 }, /worker is a URL, its text, or a function/],
  ])
    assert.throws(() => createWatchCache(options), { code: "invalid", message });
  const cache = createWatchCache({ ...shared, server: "http://127.0.0.1:1" });
  assert.throws(() => cache.resource({ source: memorySource(), id: "mine" }), {
    code: "invalid",
    message: /name the module that exports mine/,
  });
  for (const source of ["./source.js", ""])
    assert.throws(() => cache.resource({ source, id: "mine" }), {
      code: "invalid",
      message: /^source is no URL of a module: give its whole address/,
    });
});

test("a host without such a worker holds its streams itself, and says so once", async (t) => {
  const server = await serving(t);
  // In Node there are threads, for the entry that knows them.
  for (const [mode, create] of /** @type {const} */ ([
    ["shared", createWatchCache],
    ["worker", createInline],
  ])) {
    const { cache, warned, pods } = opened(t, { ...shared, mode, server: server.url }, create);
    assert.equal(cache.stats().mode, undefined, "nothing is known before it is used");
    await Promise.all([pods.synced(), cache.resource("nodes").synced()]);
    assert.deepEqual([pods.size, cache.stats().mode], [3, "inline"]);
    assert.equal(warned.length, 1);
    assert.match(
      warned[0],
      /no worker for the mode ".+: (this host has no SharedWorker|this entry of the package has no script beside it)/,
    );
  }
});

test("two caches of one worker cost one list and one watch, and each is closed by itself", async (t) => {
  const server = await serving(t);
  const worker = hub();
  const open = () => opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  const [one, other] = [open(), open()];
  await Promise.all([one.pods.synced(), other.pods.synced()]);
  assert.deepEqual([one.cache.stats().mode, one.warned, other.warned], ["shared", [], []]);
  assert.equal(server.control.status().counts.lists, 1);
  await one.cache.close();
  const live = () => other.pods.status.phase === "live";
  if (!live()) await new Promise((resolve) => other.pods.addEventListener("status", () => live() && resolve()));

  assert.equal(other.pods.size, 3);
  assert.equal(server.control.status().counts.watches, 1);
});

test("a tab knows how the worker stood before it asked, when its first rows come", async (t) => {
  const server = await serving(t);
  const worker = hub();
  const stood = [];
  for (let tab = 0; tab < 2; tab++) {
    const { cache, pods } = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
    const view = pods.view();
    const phase = () => cache.stats().worker?.resources.find(({ name }) => name === "pods")?.phase ?? "unknown";
    t.after(view.subscribe(() => void (view.rows.length > 0 && (stood[tab] ??= phase()))));
    await isSynced(pods);
    await eventually(() => stood[tab] !== undefined && pods.status.phase === "live", "it shows rows");
  }
  assert.notEqual(stood[0], "live", "its rows come from the network");
  assert.equal(stood[1], "live");
});

test("equal options meet, in whatever order their members are written", async (t) => {
  const server = await serving(t);
  const worker = hub({});
  const start = (retry) => opened(t, { ...shared, server: server.url, retry, worker: () => portTo(worker) });
  const tabs = [start({ initialMs: 10, capMs: 20 }), start({ capMs: 20, initialMs: 10 })];
  for (const { cache, pods, warned } of tabs) {
    await pods.synced();
    assert.deepEqual([cache.stats().mode, warned], ["shared", []]);
  }
  assert.equal(server.control.status().counts.lists, 1);
});

test("a worker is asked by those alone who know its name, and a stranger's words change nothing", async (t) => {
  const server = await serving(t);
  const worker = hub();
  const first = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await first.pods.synced();
  // Another user, and the same port.
  const second = opened(t, { ...shared, identity: "joe", server: server.url, worker: () => portTo(worker) });
  await second.pods.synced();
  assert.equal(second.cache.stats().mode, "inline");
  assert.match(second.warned[0], /another server, identity, version or options/);
  const stranger = portTo(worker);
  t.after(() => stranger.close());
  for (const said of [null, 5, "hello", {}, { hello: 5 }, { line: 1, head: "x" }, { credentials: 1 }, { bye: true }])
    stranger.postMessage(said);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual([first.pods.status.phase, first.pods.size], ["live", 3]);
});

test("a resource that the worker cannot make says so to each call, and what is no call ends no worker", async (t) => {
  const worker = hub();
  t.after(() => worker.close());
  let hello;
  const listening = () => {
    const { port1, port2 } = new MessageChannel();
    port2.once("message", (said) => (hello = said));
    t.after(() => port2.close());
    return port1;
  };
  const { pods } = opened(t, { ...shared, server: "http://127.0.0.1:1", worker: listening });
  t.after(pods.view().subscribe(() => {}));
  await eventually(() => hello !== undefined, "the page says who it is");
  const page = portTo(worker);
  t.after(() => page.close());
  const heard = [];
  page.on("message", (message) => "line" in message && heard.push(message));
  page.postMessage(hello);
  page.postMessage({ line: 1, open: { version: "v1", resource: "pods", labelSelector: "app in (" } });
  for (const head of ["no JSON", 7, null, undefined, "null", "[]", '{"begin":1,"call":{}}']) page.postMessage({ line: 1, head });
  await eventually(() => heard.length > 0, "the worker answers");
  const [{ line, head }, ...more] = heard;
  const { end, code, message } = JSON.parse(head);
  assert.deepEqual([line, end, code, more], [1, 1, "invalid", []]);
  assert.match(message, /unable to parse requirement/);
});

test("what is no packet breaks the line that it came by, and nothing is lost", async (t) => {
  const server = await serving(t);
  const worker = hub();
  t.after(() => worker.close());
  let say;
  const between = () => {
    const { port1, port2 } = new MessageChannel();
    const behind = portTo(worker);
    behind.addEventListener("message", ({ data }) => port2.postMessage(data));
    port2.addEventListener("message", ({ data }) => behind.postMessage(data));
    for (const port of [behind, port2]) port.start();
    t.after(() => [behind, port2].forEach((port) => port.close()));
    say = (message) => port2.postMessage(message);
    return port1;
  };
  const { cache, pods } = opened(t, { ...shared, server: server.url, worker: between });
  t.after(pods.view().subscribe(() => {}));
  await pods.synced();
  const { lists } = server.control.status().counts;
  for (const head of ['{"of":"another version"}', "no JSON", 7, null]) say({ line: 1, head });
  say({ line: 1, head: "{}", body: "no bytes" });
  say({ line: 1, broken: 7 });
  server.control.step(5);
  await eventually(
    () => pods.status.phase === "live" && pods.resourceVersion === server.control.digest("pods", "").resourceVersion,
    "it has what came behind that",
  );
  assert.equal(cache.stats().mode, "shared");
  assert.equal(server.control.status().counts.lists, lists, "nobody has listed anew upstream");
});

test("a user who closes the last cache ends its stream at once", async (t) => {
  const server = await serving(t);
  const streams = () => server.control.status().streams.length;
  const real = globalThis.setTimeout;
  // The five seconds for whoever comes soon never pass here, and neither does the time that a stream is kept for nobody.
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) =>
    ms === 5_000 && /hub.hub|usage/.test(new Error().stack) ? real(() => {}, 0) : real(call, ms, ...rest),
  );
  const worker = hub();
  const start = () => opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  const [one, two] = [start(), start()];
  for (const { pods } of [one, two]) {
    t.after(pods.view().subscribe(() => {}));
    await pods.synced();
  }
  await eventually(() => streams() === 1, "there is one");
  await one.cache.close();
  await two.pods.get(await keyOf(two.pods));
  assert.equal(streams(), 1, "somebody uses it");
  await two.cache.close();
  await eventually(() => streams() === 0, "it has ended");
});

test("a worker that says what no worker says is left, and the page goes on", async (t) => {
  const server = await serving(t);
  const { port1, port2 } = new MessageChannel();
  t.after(() => port2.close());
  port2.addEventListener("message", () => port2.postMessage({ refused: "not today" }));
  port2.start();
  const { cache, warned, pods } = opened(t, { ...shared, server: server.url, worker: () => port1 });
  await pods.synced();
  assert.deepEqual([cache.stats().mode, pods.size], ["inline", 3]);
  assert.match(warned[0], /not today/);
});

test("what the worker cannot open for good fails in the tab with what it is", async (t) => {
  const hidden = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
  delete globalThis.WebSocket;
  t.after(() => hidden && Object.defineProperty(globalThis, "WebSocket", hidden));
  const worker = hub();
  const { pods } = opened(t, { ...shared, server: "http://127.0.0.1:1", transport: "websocket", worker: () => portTo(worker) });
  await assert.rejects(pods.synced(), { code: "invalid", message: /this host has no WebSocket/ });
  await assert.rejects(pods.list(), { code: "invalid", message: /this host has no WebSocket/ });
  assert.deepEqual([pods.status.phase, pods.status.error.code], ["failed", "invalid"]);
});

test("a storage that never answers keeps no tab from a worker that others have left", async (t) => {
  instead(t, "indexedDB", { open: () => ({}) });
  const server = await serving(t);
  const worker = hub();
  const open = () => opened(t, { ...shared, persist: {}, server: server.url, worker: () => portTo(worker) });
  const first = open();
  await isSynced(first.pods);
  await first.cache.close();
  const reloaded = open();
  const begun = Date.now();
  await isSynced(reloaded.pods);
  assert.ok(Date.now() - begun < 15_000, "it waits no longer than for what is kept");
  assert.deepEqual([reloaded.cache.stats().mode, reloaded.warned], ["shared", []]);
});

test("a tab that goes before it is welcomed is not there, also where no lock tells that", async (t) => {
  instead(t, "navigator", undefined);
  const server = await serving(t);
  const worker = hub();
  for (let number = 0; number < 3; number++) {
    const port = portTo(worker);
    const says = port.postMessage.bind(port);
    const greeted = new Promise((resolve) => {
      port.postMessage = (message, moved) => (says(message, moved), "hello" in message && resolve());
    });
    const { cache, pods } = opened(t, { ...shared, server: server.url, worker: () => port });
    pods.synced().catch(() => {});
    await greeted;
    await cache.close();
  }
  const { cache, pods } = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await isSynced(pods);
  await eventually(
    () => cache.stats().worker?.tabs === 1,
    () => `one tab: ${cache.stats().worker?.tabs}`,
  );
});

test("a worker that has failed welcomes nobody any more", async (t) => {
  const server = await serving(t);
  const worker = hub();
  worker.die("unreachable");
  const { cache, pods, warned } = opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  await pods.synced();
  assert.deepEqual([cache.stats().mode, warned.length], ["inline", 1]);
  assert.match(warned[0], /this page holds its streams itself: unreachable$/);
});

test("a worker that hangs is given up, and one of another name goes on in its place", async (t) => {
  const server = await serving(t);
  t.mock.timers.enable({ apis: ["setInterval"] });
  const names = [];
  /** Welcomes, and says no word more. */
  const hanging = () => {
    const { port1, port2 } = new MessageChannel();
    t.after(() => port2.close());
    port2.addEventListener("message", ({ data }) => data.hello && port2.postMessage({ welcome: data.hello }));
    port2.start();
    return port1;
  };
  const worker = (name) => (names.push(name) === 1 ? hanging() : portTo(hub()));
  const { cache, pods } = opened(t, { ...shared, server: server.url, worker });
  const synced = pods.synced();
  while (cache.stats().mode === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  t.mock.timers.tick(15_000);
  assert.equal(names.length, 1, "it has time to answer");
  t.mock.timers.tick(5_000);
  // What others have begun with real timers they end with real ones.
  t.mock.timers.reset();
  await synced;
  assert.deepEqual([pods.size, cache.stats().mode, names.length], [3, "shared", 2]);
  assert.equal(names[1], `${names[0]} #1`);
});

/** A module of this text. */
const moduleOf = (text) => `data:text/javascript,${encodeURIComponent(text)}`;

/** What `cache` and others like it are opened with: behind one worker, behind none, and without the option. */
function ways(t) {
  const worker = hub();
  const open = (options) => opened(t, { flush: "microtask", retry: { initialMs: 1 }, ...options });
  const behind = () => open({ ...shared, worker: () => portTo(worker) });
  return { behind, each: { shared: behind, alone: () => open(shared), inline: () => open({}) } };
}

test("a source of one's own that a module exports is one stream of all tabs, and is written through it", async (t) => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { behind } = ways(t);
  const tabs = [behind(), behind()].map(({ cache }) => cache.resource({ source: addressOf(upstream), id: "mine" }));
  const [one, other] = tabs;
  await Promise.all(tabs.map((tab) => tab.synced()));
  other.view().subscribe(() => {});
  await one.create(pod("a/y"));
  await one.update("a/y", (object) => ({ ...object, metadata: { ...object.metadata, labels: { app: "web" } } }));
  while (other.peek("a/y")?.metadata.labels?.app !== "web") await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal((await other.get("a/y")).metadata.labels.app, "web");
  assert.deepEqual([upstream.asked("list").filter(({ namespace }) => !namespace).length, upstream.streams], [1, 1]);
  await assert.rejects(other.get("a/none"), { code: "not-found" });
});

test("what names a module is the same code with a worker, where there is none, and without the option", async (t) => {
  for (const [mode, open] of Object.entries(ways(t).each)) {
    const upstream = memorySource({ objects: [pod("a/x")] });
    globalThis.forModules = () => upstream;
    const { cache, warned } = open();
    const direct = cache.resource({ source: addressOf(upstream), id: "mine" });
    const made = cache.resource({ source: moduleOf("export default async (id) => globalThis.forModules(id)"), id: "made" });
    await Promise.all([direct.synced(), made.synced()]);
    assert.deepEqual([direct.size, made.size, cache.stats().mode], [1, 1, mode === "shared" ? mode : "inline"]);
    assert.equal(warned.length, mode === "alone" ? 1 : 0);
    assert.equal(cache.resource({ source: addressOf(upstream).href, id: "mine" }), direct, "an address is one as text, too");
  }
});

test("a source behind a worker may only list: an object is then looked for in its lists", async (t) => {
  const upstream = memorySource({ objects: [pod("a/x")] });
  const { list, watch, update } = upstream;
  const asked = () => upstream.asked("get").length;
  for (const open of Object.values(ways(t).each)) {
    const mine = open().cache.resource({ source: addressOf({ list, watch, update }), id: "mine" });
    assert.equal((await mine.get("a/x")).metadata.name, "x");
    await mine.update("a/x", (object) => ({ ...object, metadata: { ...object.metadata, labels: { at: String(Math.random()) } } }));
    await assert.rejects(mine.delete("a/x"), { code: "invalid", message: /the source has no method delete/ });
  }
  assert.equal(asked(), 0);
});

test("a module that gives no source is invalid, is told once, and harms no other resource", async (t) => {
  globalThis.forModules = () => {
    throw new Error("not yet");
  };
  for (const open of Object.values(ways(t).each)) {
    const upstream = memorySource({ objects: [pod("a/x")] });
    const { cache } = open();
    const sound = cache.resource({ source: addressOf(upstream), id: "sound" });
    await sound.synced();
    for (const [source, message] of [
      [new URL("./nowhere.mjs", import.meta.url), /^the module of bad, .+nowhere\.mjs, gives no source: Error/],
      [moduleOf("an error of syntax"), /SyntaxError/],
      [moduleOf("throw new Error('boom')"), /Error: boom/],
      [moduleOf("export const source = 1"), /^the default export of .+ is a Source: .+, not undefined/],
      [moduleOf("export default { list() {} }"), /an object with the methods list and watch, not an object/],
      [moduleOf("export default 'http://h/x.js'"), /not text/],
      [moduleOf("export default globalThis.forModules"), /Error: not yet/],
    ]) {
      const bad = cache.resource({ source, id: "bad" });
      let told = 0;
      bad.addEventListener("error", () => told++);
      await assert.rejects(bad.synced(), { code: "invalid", message });
      await assert.rejects(bad.list(), { code: "invalid", message });
      assert.deepEqual([bad.status.phase, bad.status.error.code, told], ["failed", "invalid", 1]);
    }
    upstream.put(pod("a/y"));
    while (sound.size < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(sound.status.phase, "live");
  }
});

test("what a module could not give it is asked for again by resume", async (t) => {
  for (const open of Object.values(ways(t).each)) {
    globalThis.forModules = () => {
      throw new Error("not yet");
    };
    const mine = open().cache.resource({ source: moduleOf("export default (id) => globalThis.forModules(id)"), id: "mine" });
    await assert.rejects(mine.synced(), { code: "invalid" });
    globalThis.forModules = () => memorySource({ objects: [pod("a/x")] });
    mine.resume();
    while (mine.size < 1) await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test("a polled source of a module need not be watched, in any mode", async (t) => {
  for (const open of Object.values(ways(t).each)) {
    const upstream = memorySource({ objects: [pod("a/x")] });
    const { list } = upstream;
    const mine = open().cache.resource({ source: addressOf({ list }), id: "mine", poll: { everyMs: 20 } });
    mine.view().subscribe(() => {});
    await mine.synced();
    upstream.put(pod("a/y"));
    while (mine.size < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(upstream.streams, 0);
  }
});

test("what one tab alone has used is let go of when it closes, while another lives", async (t) => {
  const server = await serving(t);
  const worker = hub();
  const open = () => opened(t, { ...shared, server: server.url, worker: () => portTo(worker) });
  const [one, other] = [open(), open()];
  await Promise.all([one.pods.synced(), other.pods.synced(), one.cache.resource("nodes").synced()]);
  const release = other.pods.view().subscribe(() => {});
  t.after(release);
  const streams = () => server.control.status().streams.map(({ resource }) => resource);
  const until = async (due) => {
    const deadline = Date.now() + 15_000;
    while (streams().sort().join() !== due && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(streams().sort().join(), due);
  };
  await until("nodes,pods");
  await one.cache.close();
  await until("pods");
});
