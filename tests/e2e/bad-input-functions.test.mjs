/** Functions and sources of the user that fail: each is told with its code, and ends when its cause ends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { memorySource } from "watchcache/memory";
import { createWatchCache } from "../../dist/node.js";
import { pod } from "../js/lib/pod.mjs";
import { RETRY, RawServer, Witness, assertHolds, keyOf, live, open, plain, podsOf, rejection, socketOf } from "./bad-input.mjs";
import { Recorder, eventually } from "./cache.mjs";

const TRANSPORTS = /** @type {const} */ (["websocket", "fetch"]);

describe("functions of the user that fail", () => {
  /** What goes wrong, the code and the words; `works` says when it does no more. @type {Record<string, [(works: () => boolean) => any, string, RegExp]>} */
  const FAILING = {
    "auth that throws": [
      (works) => ({
        auth() {
          if (!works()) throw new Error("the session is over");
          return {};
        },
      }),
      "network",
      /the session is over/,
    ],
    "auth that rejects": [
      (works) => ({ auth: async () => (works() ? {} : Promise.reject(new Error("the session is over"))) }),
      "network",
      /the session is over/,
    ],
    "auth that rejects with nothing": [(works) => ({ auth: async () => (works() ? {} : Promise.reject()) }), "network", /without a reason/],
    "auth that gives a bare token": [
      (works) => ({ auth: () => (works() ? {} : "secret") }),
      "invalid",
      /auth gives an object such as \{ token \}, .*, not a value of type string/,
    ],
    "auth that gives headers that are none": [
      (works) => ({ auth: () => (works() ? {} : { headers: { "no header": "secret" } }) }),
      "invalid",
      /auth: the headers cannot be read/,
    ],
    "auth that gives a token that no header can hold": [
      (works) => ({ auth: () => (works() ? {} : { token: "secret\n" + "€" }) }),
      "invalid",
      /auth: the headers cannot be read/,
    ],
    "fetch that throws": [
      (works) => ({
        fetch(/** @type {any} */ ...call) {
          if (!works()) throw new TypeError("Failed to parse URL");
          return fetch(...call);
        },
      }),
      "network",
      /Failed to parse URL/,
    ],
    "fetch that rejects": [
      (works) => ({ fetch: (/** @type {any} */ ...call) => (works() ? fetch(...call) : Promise.reject(new TypeError("Failed to fetch"))) }),
      "network",
      /the request to http:\/\/127\.0\.0\.1:\d+\/api\/v1\/\w+ got no answer: Failed to fetch/,
    ],
    "fetch that gives nothing": [
      (works) => ({ fetch: async (/** @type {any} */ ...call) => (works() ? fetch(...call) : undefined) }),
      "protocol",
      /fetch gave something that is no Response/,
    ],
    "fetch that gives an answer that was read already": [
      (works) => ({
        async fetch(/** @type {any} */ ...call) {
          const response = await fetch(...call);
          if (!works()) response.body?.getReader();
          return response;
        },
      }),
      "protocol",
      /the body cannot be read/,
    ],
  };

  for (const [name, [fail, code, words]] of Object.entries(FAILING)) {
    test(`${name}, before and after the first list`, async (t) => {
      for (const transport of TRANSPORTS) {
        const server = await RawServer.start(podsOf(4));
        t.after(() => server.stop());
        let works = false;
        const pods = open(t, server.url, { transport, ...fail(() => works) });
        const early = pods.synced().catch((/** @type {any} */ error) => error);
        // A mistake on this side is told once, and not tried again before a user says so.
        const mistaken = code === "invalid";
        const status = await eventually(() => (mistaken || pods.status.retryAt) && pods.status.error && pods.status, `an error of ${name}`);
        if (mistaken) assert.deepEqual([status.phase, status.retryAt], ["failed", undefined]);
        assert.equal(status.error.code, code, status.error.message);
        assert.match(status.error.message, words);
        assert.ok(!status.error.message.includes("secret"));
        works = true;
        // An error that only a change of configuration cures rejects. A network that fails does not.
        if (mistaken) pods.resume();
        assert.equal((await early)?.code, mistaken ? code : undefined);
        await live(pods);
        await assertHolds(pods, server);
        const witness = new Witness(pods);
        const { statuses } = witness;
        works = false;
        pods.refresh().catch(() => {});
        const told = await eventually(() => statuses.find(({ error }) => error && words.test(error.message)), `an error of ${name}`);
        assert.equal(told.error.code, code);
        assert.equal(typeof told.retryAt, mistaken ? "undefined" : "number");
        assert.equal(told.stale, true);
        server.upstream.put(pod("default/meanwhile"));
        witness.look();
        works = true;
        if (mistaken) pods.resume();
        await live(pods);
        await assertHolds(pods, server);
        witness.assertUnharmed();
        pods.close();
        await server.stop();
      }
    });
  }

  test("a WebSocket that throws when it is made", async (t) => {
    const server = await plain(t);
    let works = false;
    const Real = socketOf(server.url);
    class Refused extends Real {
      /** @param {string} url @param {string[]} protocols */
      constructor(url, protocols) {
        if (!works)
          throw new DOMException("An insecure WebSocket connection may not be initiated from a page over HTTPS.", "SecurityError");
        super(url, protocols);
      }
    }
    const pods = open(t, server.url, { WebSocket: Refused, transport: "websocket" });
    await pods.synced();
    const witness = new Witness(pods);
    const { error, retryAt, phase } = await eventually(() => pods.status.retryAt && pods.status, "an error");
    assert.equal(error.code, "network");
    assert.match(error.message, /insecure WebSocket connection/);
    assert.equal(typeof retryAt, "number");
    assert.equal(phase, "reconnecting");
    witness.look();
    server.upstream.put(pod("default/meanwhile"));
    works = true;
    await live(pods);
    await assertHolds(pods, server);
    witness.assertUnharmed();
    assert.equal(server.lists, 1, "the list was good, and is not asked for again");
  });

  test("no WebSocket at all", async (t) => {
    const { WebSocket: global } = globalThis;
    // @ts-expect-error Node before version 22 has none, and this is to be such a host
    globalThis.WebSocket = undefined;
    t.after(() => {
      globalThis.WebSocket = global;
    });
    const cache = createWatchCache({ server: "http://127.0.0.1:1", transport: "websocket", retry: RETRY });
    t.after(() => cache.close());
    await rejection(
      cache.resource("pods").synced(),
      "invalid",
      /no WebSocket: pass one as the option WebSocket, or choose transport "fetch"/,
    );
  });
});

describe("sources of the user that fail", () => {
  /** What a source does in place of its duty, the code and the words. @type {Record<string, [object, string, RegExp]>} */
  const FAILING = {
    "a list that throws": [{ list: () => thrown(new Error("no list today")) }, "network", /no list today/],
    "a list that refuses": [
      { list: async () => thrown({ code: 403, reason: "Forbidden", message: "not yours" }) },
      "forbidden",
      /not yours/,
    ],
    "a list that gives nothing": [{ list: async () => undefined }, "protocol", /list gave no body/],
    "a body that is no text": [{ list: async () => ({ body: { items: [] } }) }, "protocol", /neither text nor bytes/],
    "a stream of something else than bytes": [
      {
        list: async () => ({ body: new ReadableStream({ start: (controller) => (controller.enqueue(5), controller.close()) }) }),
      },
      "protocol",
      /neither text nor bytes/,
    ],
    "a stream that somebody reads already": [
      {
        async list() {
          const body = new ReadableStream();
          body.getReader();
          return { body };
        },
      },
      "protocol",
      /the body cannot be read/,
    ],
    "a stream that breaks": [
      { list: async () => ({ body: new ReadableStream({ start: (controller) => controller.error(new Error("torn")) }) }) },
      "network",
      /torn/,
    ],
    "a watch that throws": [{ watch: () => thrown(new Error("no watch today")) }, "network", /no watch today/],
    "a watch that gives nothing": [{ watch: () => undefined }, "protocol", /no async iterable/],
    "a watch of objects": [
      {
        async *watch() {
          yield { type: "BOOKMARK", object: { metadata: { resourceVersion: "900" } } };
        },
      },
      "protocol",
      /neither text nor bytes/,
    ],
    "a watch that rejects with a refusal": [
      {
        // eslint-disable-next-line require-yield
        async *watch() {
          thrown({ code: 503, reason: "ServiceUnavailable", message: "come back later", retryAfterSeconds: 1 });
        },
      },
      "unavailable",
      /come back later/,
    ],
  };

  for (const [name, [duty, code, words]] of Object.entries(FAILING)) {
    test(name, async (t) => {
      const upstream = memorySource({ objects: podsOf(5) });
      const fault = /** @type {{ now: any }} */ ({ now: {} });
      const source = {
        list: (/** @type {any} */ request) => (fault.now.list ?? upstream.list.bind(upstream))(request),
        watch: (/** @type {any} */ request, /** @type {AbortSignal} */ signal) =>
          (fault.now.watch ?? upstream.watch.bind(upstream))(request, signal),
      };
      const pods = open(t, undefined, {}, { source, id: "things" });
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods);
      const seen = new Recorder(pods.watch({ resourceVersion: "0", sendInitialEvents: false, resourceVersionMatch: "NotOlderThan" }));
      upstream.put(pod("default/before"));
      await seen.count(1);
      fault.now = duty;
      if ("list" in duty) pods.refresh().catch(() => {});
      else upstream.drop();
      const told = await eventually(
        () => witness.statuses.find(({ error }) => error && words.test(error.message)),
        () => `an error; told were ${witness.phases()}`,
      );
      assert.equal(told.error.code, code);
      assert.equal(typeof told.retryAt, "number");
      assert.equal(told.stale, true);
      assert.equal(told.error.resource, "things");
      upstream.put(pod("default/meanwhile"));
      witness.look();
      fault.now = {};
      await live(pods);
      await eventually(() => pods.peek("default/meanwhile"), "what was written meanwhile");
      assert.equal(pods.size, 7);
      assert.equal(pods.peek(keyOf(4)).metadata.name, "pod-04");
      assert.ok(
        seen.events.every(({ type, key }) => type === "ADDED" && ["default/before", "default/meanwhile"].includes(key)),
        seen.summary(),
      );
      if (seen.ended) assert.equal((await seen.watcher.ended).reason, "relist");
      await seen.stop();
      witness.assertUnharmed();
    });
  }
});

/** @param {unknown} what @returns {never} */
function thrown(what) {
  throw what;
}
