/**
 * What users of list+watch clients in JavaScript have reported. Each report is played to the original from npm and to this package, against
 * the same server. Where the original has the fault, its half of the test asserts the fault. That half fails once a version without the
 * fault is installed, and can then be deleted.
 */
import { CHANGE, CONNECT, ERROR, KubeConfig, makeInformer } from "@kubernetes/client-node";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createWatchCache } from "watchcache";
import * as lookAlike from "watchcache/compat/client-node";
import { Recorder, eventually } from "./cache.mjs";
import { ScriptedServer, pod } from "./scripted.mjs";

const PATH = "/api/v1/namespaces/default/pods";

/**
 * Both clients at one server, in the same state.
 * @param {(it: { server: ScriptedServer, theirs: ReturnType<typeof original>, ours: ReturnType<typeof cache> }) => Promise<void>} body
 */
async function both(body) {
  const server = await ScriptedServer.start();
  server.items = [pod("a", 90), pod("b", 91)];
  const [theirs, ours] = [original(server), cache(server)];
  try {
    await body({ server, theirs, ours });
  } finally {
    await theirs.informer.stop();
    await ours.cache.close();
    await server.close();
  }
}

/** @param {ScriptedServer} server */
function original(server) {
  const config = new KubeConfig();
  config.loadFromOptions({
    // It refuses plain HTTP otherwise.
    clusters: [{ name: "c", server: server.url, skipTLSVerify: true }],
    users: [{ name: "u" }],
    contexts: [{ name: "x", cluster: "c", user: "u" }],
    currentContext: "x",
  });
  const list = async () => (await fetch(`${server.url}${PATH}`)).json();
  const informer = /** @type {any} */ (makeInformer(config, PATH, list));
  /** @type {any[]} */
  const errors = [];
  informer.on(ERROR, (/** @type {any} */ error) => errors.push(error));
  return {
    informer,
    errors,
    names: () =>
      informer
        .list()
        .map((/** @type {any} */ { metadata }) => metadata.name)
        .sort()
        .join(),
  };
}

/** @param {ScriptedServer} server @param {object} [options] */
function cache(server, options) {
  const cache = createWatchCache({
    server: server.url,
    transport: "fetch",
    flush: "microtask",
    retry: { initialMs: 20, capMs: 50 },
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...options,
  });
  const pods = cache.resource({ version: "v1", resource: "pods", namespace: "default" });
  const view = pods.view();
  const informer = pods.informer({ start: false });
  return {
    cache,
    pods,
    view,
    informer,
    async start() {
      view.subscribe(() => {});
      informer.start();
      await informer.synced;
      await eventually(() => pods.status.phase === "live", "live");
    },
    names: () =>
      view.rows
        .map((/** @type {any} */ { metadata }) => metadata.name)
        .sort()
        .join(),
  };
}

/** Longer than a watch's first second, in which a loss is another matter. */
const settle = () => sleep(1_200);

/** What was reported as an error. @param {any[]} errors */
const messages = (errors) => errors.map((error) => error?.message ?? String(error)).join();

describe("what users of such clients reported", () => {
  it("a connection that is reset ends the original for good", () =>
    both(async ({ server, theirs, ours }) => {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await settle();
      server.drop();
      await eventually(() => theirs.errors.length > 0, "its error");
      server.change("ADDED", "c");
      await eventually(() => ours.names() === "a,b,c", "the change");
      await sleep(2_000);
      assert.equal(theirs.names(), "a,b", "it reports an error and watches no more");
      assert.equal(ours.pods.status.phase, "live");
      assert.equal(server.lists.length, 2, "one each: a lost connection needs no list");
    }));

  for (const code of [429, 503]) {
    it(`a watch that is answered ${code} once ends the original for good`, () =>
      both(async ({ server, theirs, ours }) => {
        let refusals = 0;
        server.answer = (watch, response) => {
          if (!watch || refusals++ > 0) return false;
          response.writeHead(code, { "content-type": "text/plain" }).end("later\n");
          return true;
        };
        await theirs.informer.start();
        assert.deepEqual([refusals, theirs.errors.length], [1, 1]);
        refusals = 0;
        await ours.start();
        assert.equal(refusals, 2);
        server.change("ADDED", "c");
        await eventually(() => ours.names() === "a,b,c", "the change");
        await sleep(1_000);
        assert.deepEqual([theirs.names(), server.watches.length, server.lists.length], ["a,b", 3, 2]);
      }));
  }

  it("a stop is an error to the original, after which its documented restart brings it back to life", () =>
    both(async ({ server, theirs, ours }) => {
      theirs.informer.on(ERROR, () => theirs.informer.start());
      /** @type {any[]} */
      const told = [];
      ours.pods.addEventListener("error", (/** @type {any} */ event) => told.push(event.detail.error));
      await Promise.all([theirs.informer.start(), ours.start()]);
      const open = server.watches.length;
      await theirs.informer.stop();
      await sleep(500);
      assert.match(messages(theirs.errors), /abort/i);
      assert.equal(server.watches.length, open + 1, "it watches again");
      theirs.informer.callbackCache[ERROR] = [];

      ours.pods.pause();
      await eventually(() => ours.pods.status.phase === "paused", "the pause");
      server.change("ADDED", "c");
      await sleep(500);
      assert.deepEqual([told, ours.names(), server.watches.length], [[], "a,b", open + 1]);
      ours.pods.resume();
      await eventually(() => ours.names() === "a,b,c", "the change");
      assert.equal(server.watches.length, open + 2, "exactly one watch");
    }));

  it("a stop during the list is not heard by the original: it watches afterwards", () =>
    both(async ({ server, theirs, ours }) => {
      server.answer = async (watch) => {
        if (!watch) await sleep(300);
        return false;
      };
      const started = theirs.informer.start();
      await sleep(100);
      await theirs.informer.stop();
      await started;
      await eventually(() => server.watches.length === 1, "the watch after the stop");

      void ours.pods.synced().catch(() => {});
      await eventually(() => server.lists.length === 2, "our list");
      await ours.cache.close();
      await sleep(600);
      assert.equal(server.watches.length, 1);
    }));

  it("a frame that is no JSON hides its change from the original for ever", () =>
    both(async ({ server, theirs, ours }) => {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await settle();
      server.spoil("hidden", '{"type":"ADDED","object":{"metadata":{"name":"hidden","namespace":"default",\n');
      server.change("ADDED", "later");
      await eventually(() => theirs.names().includes("later"), "the next change");
      await eventually(() => ours.names() === "a,b,hidden,later", "all of them");
      await sleep(500);
      assert.equal(theirs.names(), "a,b,later", "and no error tells of it");
      assert.equal(theirs.errors.length, 0);
    }));

  it("an answer without items wipes what the original holds", () =>
    both(async ({ server, theirs, ours }) => {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await settle();
      /** @type {string[]} */
      const gone = [];
      theirs.informer.on("delete", (/** @type {any} */ { metadata }) => gone.push(metadata.name));
      let fewest = Infinity;
      ours.view.subscribe(() => (fewest = Math.min(fewest, ours.view.rows.length)));
      ours.informer.addEventHandler({ onDelete: ({ key }) => void assert.fail(`${key} is not gone`) });
      const expired = { type: "ERROR", object: { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old" } };
      let empty = 0;
      server.answer = (watch, response) => {
        if (watch || empty++ >= 2) return false;
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: {} }));
        return true;
      };
      for (const stream of server.streams) stream.end(`${JSON.stringify(expired)}\n`);
      await eventually(() => gone.length === 2, "its deletions");
      await eventually(() => server.lists.length >= 5 && ours.pods.status.phase === "live", "ours is live again");
      assert.deepEqual([fewest === Infinity || fewest === 2, ours.names()], [true, "a,b"]);
    }));

  it("a reader in a callback of the original sees a state that never was", () =>
    both(async ({ server, theirs, ours }) => {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await settle();
      // At the server c and d came and a and b went, all while nobody watched.
      /** @type {Set<string>} */
      const [seenByTheirs, seenByOurs] = [new Set(), new Set()];
      theirs.informer.on(CHANGE, () => seenByTheirs.add(theirs.names()));
      ours.view.subscribe(() => seenByOurs.add(ours.names()));
      const names = () => ours.informer.list().map((/** @type {any} */ { metadata }) => metadata.name);
      await ours.informer.addEventHandler(() => void seenByOurs.add(names().sort().join())).synced;
      seenByOurs.clear();
      server.items = [pod("c", 110), pod("d", 111)];
      server.version = 112;
      const expired = { type: "ERROR", object: { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old" } };
      for (const stream of server.streams) stream.end(`${JSON.stringify(expired)}\n`);
      await eventually(() => theirs.names() === "c,d" && ours.names() === "c,d", "the new state");
      assert.ok(seenByTheirs.has("b") && seenByTheirs.has("c"), [...seenByTheirs].join(" | "));
      // Its view also tells that it is stale, of the rows that it had.
      seenByOurs.delete("a,b");
      assert.deepEqual([...seenByOurs], ["c,d"]);
    }));

  it("a callback that throws costs the original its others, and the process a rejection that nobody handles", (t) =>
    both(async ({ server, theirs, ours }) => {
      /** @type {any[]} */
      const unhandled = [];
      // The runner listens as well, and would take it for a failure of this test.
      const others = process.listeners("unhandledRejection");
      process.removeAllListeners("unhandledRejection");
      process.on("unhandledRejection", (reason) => unhandled.push(reason));
      t.after(() => {
        process.removeAllListeners("unhandledRejection");
        for (const other of others) process.on("unhandledRejection", other);
      });
      const heard = { theirs: 0, ours: 0 };
      const broken = () => {
        throw new Error("a callback that throws");
      };
      await Promise.all([theirs.informer.start(), ours.start()]);
      theirs.informer.on("add", broken);
      theirs.informer.on("add", () => heard.theirs++);
      ours.view.subscribe(broken);
      await ours.informer.addEventHandler({ onAdd: broken }).synced;
      await ours.informer.addEventHandler({ onAdd: (_, isInInitialList) => void (isInInitialList || heard.ours++) }).synced;
      server.change("ADDED", "c");
      await eventually(() => heard.ours === 1, "our other handler");
      await sleep(500);
      assert.deepEqual([heard.theirs, unhandled.length], [0, 1]);
    }));

  it("bookmarks are never asked for by the original, and it connects before it is connected", () =>
    both(async ({ server, theirs, ours }) => {
      let connects = 0;
      theirs.informer.on(CONNECT, () => (connects += server.requests.length === 0 ? 1 : 0));
      await theirs.informer.start();
      assert.equal(connects, 1, "connect is told before any request");
      await ours.start();
      const [first, second] = server.watches;
      assert.deepEqual([first.query.get("allowWatchBookmarks"), second.query.get("allowWatchBookmarks")], [null, "true"]);
      assert.deepEqual([first.query.get("timeoutSeconds"), Number(second.query.get("timeoutSeconds")) >= 300], [null, true]);
    }));

  it("a connection that falls silent is held by the original for ever, and given up here", async () => {
    const server = await ScriptedServer.start();
    server.items = [pod("a", 90)];
    const [theirs, ours] = [original(server), cache(server, { idleTimeout: 1_000 })];
    try {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await eventually(() => server.streams.size === 2, "both watches");
      // Nobody closes these connections, and nothing comes over them any more, as behind a firewall that has forgotten them.
      server.streams.clear();
      server.change("ADDED", "unheard");
      await eventually(() => ours.names() === "a,unheard", "the change, over another connection");
      await sleep(2_000);
      assert.deepEqual([theirs.names(), theirs.errors], ["a", []], "and it says nothing about it");
      assert.equal(server.lists.length, 2, "one each");
    } finally {
      await theirs.informer.stop();
      await ours.cache.close();
      await server.close();
    }
  });

  it("a server that ends each watch at once is asked without a pause by the original, and with waits here", () =>
    both(async ({ server, theirs, ours }) => {
      server.answer = (watch, response) => {
        if (watch) response.writeHead(200, { "content-type": "application/json" }).end();
        return watch;
      };
      await theirs.informer.start();
      await sleep(1_000);
      await theirs.informer.stop();
      const many = server.watches.length;
      assert.ok(many > 50, `${many} watches in a second`);
      await sleep(100);
      const before = server.watches.length;
      void ours.pods.synced();
      ours.view.subscribe(() => {});
      await sleep(1_000);
      // Its first wait is 20 ms in these tests, and the longest 50; both are drawn up to twice as long.
      const few = server.watches.length - before;
      assert.ok(few > 5 && few < 50, `${few} watches in a second`);
    }));

  it("an event with a lower version takes the original back to it; here it is not taken", () =>
    both(async ({ server, theirs, ours }) => {
      await Promise.all([theirs.informer.start(), ours.start()]);
      await settle();
      server.change("ADDED", "c");
      await eventually(() => theirs.names() === "a,b,c" && ours.names() === "a,b,c", "the change");
      const [held] = ours.view.rows;
      for (const stream of server.streams) stream.write(`${JSON.stringify({ type: "MODIFIED", object: pod("a", 50) })}\n`);
      await eventually(() => theirs.informer.get("a", "default").metadata.resourceVersion === "50", "the step back");
      await eventually(() => ours.pods.status.phase === "live" && server.lists.length === 3, "our list");
      assert.equal(ours.view.rows[0], held);
      await settle();
      server.drop();
      await eventually(() => theirs.errors.length > 0, "its error");
      const asked = server.watches.length;
      await theirs.informer.start();
      await eventually(() => server.watches.length >= asked + 1, "its watch");
      const from = server.watches.map(({ query }) => query.get("resourceVersion"));
      assert.ok(from.includes("50"), from.join());
      assert.equal(from.filter((version) => Number(version) < 100).length, 1, "only the original's");
    }));

  it("js_09 two hundred thousand objects of one namespace are a list, and too many arguments for the original", async () => {
    const server = await ScriptedServer.start();
    server.items = Array.from({ length: 200_000 }, (_, i) => pod(`pod-${String(i).padStart(6, "0")}`, 1 + (i % 99)));
    const [theirs, ours] = [original(server), cache(server, { pageSize: 250_000 })];
    try {
      await theirs.informer.start();
      assert.throws(() => theirs.informer.list(), RangeError);
      await ours.pods.synced();
      const { items } = await ours.pods.list({ resourceVersion: "0" });
      assert.deepEqual([items.length, items[199_999].metadata.name], [200_000, "pod-199999"]);
      const alike = lookAlike.makeInformer(ours.cache, PATH);
      await alike.start();
      const listed = alike.list("default");
      assert.deepEqual(
        [listed.length, listed[199_999].metadata?.name, alike.get("pod-000007", "default")?.metadata?.name],
        [200_000, "pod-199999", "pod-000007"],
      );
      await alike.stop();
    } finally {
      await theirs.informer.stop();
      await ours.cache.close();
      await server.close();
    }
  });
});

describe("what such clients are held to", () => {
  it("js_01 what a list no longer shows is deleted exactly once", () =>
    both(async ({ server, ours }) => {
      const put = (/** @type {string} */ namespace, /** @type {string} */ name, /** @type {number} */ version) => {
        const object = pod(name, version);
        object.metadata.namespace = namespace;
        return object;
      };
      server.items = [put("ns1", "name1", 90), put("ns2", "name2", 91)];
      const pods = ours.cache.resource({ version: "v1", resource: "pods" });
      await pods.synced();
      const seen = new Recorder(
        pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", onOverflow: "resync" }),
      );
      /** @type {string[]} */
      const gone = [];
      await pods.informer().addEventHandler({ onDelete: ({ key, finalStateUnknown }) => void gone.push(`${key} ${finalStateUnknown}`) })
        .synced;
      server.items = [put("ns1", "name1", 90), put("ns3", "name3", 110)];
      server.version = 112;
      await pods.refresh();
      await eventually(() => seen.events.some(({ key }) => key === "ns3/name3"), "the new object");
      await pods.refresh();
      await sleep(100);
      const changes = seen.events.filter(({ key }) => key).map(({ type, key }) => `${type} ${key}`);
      assert.deepEqual(changes.sort(), ["ADDED ns3/name3", "DELETED ns2/name2"]);
      assert.deepEqual(gone, ["ns2/name2 true"]);
      await seen.stop();
    }));

  it("js_02 subscribers that come and go within a callback change nothing for the others of that turn", () =>
    both(async ({ server, ours }) => {
      await ours.start();
      /** @type {string[]} */
      const heard = [];
      const late = () => heard.push("late");
      /** @type {(() => void)[]} */
      const offs = [];
      ours.view.subscribe(() => {
        heard.push("first");
        offs.forEach((off) => off());
        ours.view.subscribe(late);
      });
      offs.push(ours.view.subscribe(() => heard.push("leaving")));
      ours.view.subscribe(() => heard.push("last"));
      server.change("ADDED", "c");
      await eventually(() => heard.includes("last"), "the change");
      assert.deepEqual(
        heard.filter((word) => word !== "leaving"),
        ["first", "last"],
      );
      heard.length = 0;
      server.change("ADDED", "d");
      await eventually(() => heard.includes("late"), "the next");
      assert.ok(!heard.includes("leaving") && heard.includes("first") && heard.includes("last"), heard.join());
    }));

  it("js_08 a connection that is lost is told once, and so is the next", () =>
    both(async ({ server, ours }) => {
      await ours.start();
      await settle();
      /** @type {string[]} */
      const phases = [];
      /** @type {any[]} */
      const told = [];
      await ours.pods.informer({ onWatchError: (interruption) => void told.push(interruption) }).synced;
      ours.pods.addEventListener("status", () => {
        if (phases.at(-1) !== ours.pods.status.phase) phases.push(ours.pods.status.phase);
      });
      server.answer = async (watch) => {
        if (watch) await sleep(200);
        return false;
      };
      server.drop();
      await eventually(() => phases.at(-1) === "live", "live again");
      await settle();
      assert.deepEqual(phases, ["reconnecting", "live"]);
      assert.equal(server.watches.length, 2);
      assert.deepEqual(
        told.map(({ phase, error, delayMs, stale }) => [phase, error.code, delayMs, stale]),
        [["reconnecting", "network", 0, true]],
      );
      server.drop();
      await eventually(() => told.length === 2, "the next");
      await settle();
      assert.equal(told.length, 2);
    }));

  it("a frame that comes piece by piece is no silence, and silence is", async () => {
    const server = await ScriptedServer.start();
    const ours = cache(server, { idleTimeout: 1_000 });
    try {
      await ours.start();
      const frame = `${JSON.stringify({ type: "ADDED", object: pod("slow", ++server.version) })}\n`;
      const began = performance.now();
      for (let at = 0; at < frame.length; at += 10) {
        for (const stream of server.streams) stream.write(frame.slice(at, at + 10));
        await sleep(200);
      }
      assert.ok(performance.now() - began > 2_000);
      await eventually(() => ours.names() === "slow", "the frame");
      assert.equal(server.watches.length, 1);
      await eventually(() => server.watches.length === 2, "the next watch");
      assert.deepEqual([server.lists.length, server.watches[1].query.get("resourceVersion")], [1, String(server.version)]);
    } finally {
      await ours.cache.close();
      await server.close();
    }
  });

  it("js_12 a hundred events need one connection", () =>
    both(async ({ server, ours }) => {
      await ours.start();
      for (let i = 0; i < 100; i++) {
        server.change(i === 0 ? "ADDED" : "MODIFIED", "busy");
        if (i % 10 === 0) await sleep(10);
      }
      await eventually(() => ours.pods.peek("default/busy")?.metadata.resourceVersion === "200", "the last");
      assert.deepEqual([server.watches.length, server.lists.length], [1, 1]);
    }));
});
