/**
 * Watch frames that no sound server sends, over a WebSocket and over fetch. Each is told with its code, and none changes anything.
 * The cache comes back to the server's exact state by itself.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../www/server/index.mjs";
import { pod } from "../js/lib/pod.mjs";
import { RawServer, Witness, assertHolds, hasSaidSomething, keyIn, keyOf, live, open, podsOf } from "./bad-input.mjs";
import { assertIntegrity, eventually } from "./cache.mjs";
import { Api } from "./wire.mjs";

const TRANSPORTS = /** @type {const} */ (["websocket", "fetch"]);
const POD_PATH = (/** @type {string} */ key) => `/api/v1/namespaces/${key.replace("/", "/pods/")}`;

/** A frame. @param {string} type @param {unknown} object */
const frame = (type, object) => JSON.stringify({ type, object });
const meta = (/** @type {object} */ metadata) => ({ kind: "Pod", apiVersion: "v1", metadata: { namespace: "default", ...metadata } });

/** Inside a name stand bytes that are no UTF-8. */
const NO_UTF8 = Buffer.concat([
  Buffer.from('{"type":"ADDED","object":{"metadata":{"namespace":"default","resourceVersion":"900","name":"br'),
  Buffer.from([0xff, 0xc3, 0x28]),
  Buffer.from('"}}}'),
]);

/** What each strange frame is answered with: its bytes, the code, and the words that tell a person what is wrong. */
const STRANGE = /** @type {const} */ ({
  "JSON that breaks off": [
    '{"type":"ADDED","object":{"metadata":{"name":"a"',
    "decode",
    /decode an event .*unexpected end of the document at byte 48/,
  ],
  "a comma too many": ['{"type":"ADDED","object":{"metadata":{"name":"a",}}}', "decode", /decode an event .* at byte 49/],
  "a page of a proxy": ["<html><body>502 Bad Gateway</body></html>", "decode", /decode an event .* at byte 0/],
  "nothing but null": ["null", "decode", /expected an object at byte 0/],
  "a list": ["[]", "decode", /expected an object at byte 0/],
  "a text": ['"ADDED"', "decode", /expected an object at byte 0/],
  "an empty object": ["{}", "decode", /without a type/],
  "no object": ['{"type":"ADDED"}', "decode", /without an object/],
  "null for an object": [frame("ADDED", null), "decode", /expected an object/],
  "two frames in one": [`${frame("ADDED", meta({ name: "a", resourceVersion: "900" }))} {}`, "decode", /behind the document/],
  "an escape that is half a character": [frame("ADDED", meta({ name: "a" })).replace('"a"', '"\\ud800"'), "decode", /surrogate/],
  "brackets without end": ["[".repeat(100_000), "decode", /expected an object/],
  "an object nested too deep": [
    `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"900"},"spec":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`,
    "decode",
    /nested too deep/,
  ],
  "a type that Kubernetes does not have": [
    frame("MERGED", meta({ name: "a", resourceVersion: "900" })),
    "protocol",
    /decode an event .*unknown type "MERGED"/,
  ],
  "an object without a version": [
    frame("MODIFIED", meta({ name: "pod-03" })),
    "protocol",
    /"default\/pod-03" has no metadata.resourceVersion/,
  ],
  "a version that is no number": [frame("ADDED", meta({ name: "a", resourceVersion: "x9" })), "protocol", /x9/],
  "an object without a name": [frame("ADDED", meta({ resourceVersion: "900" })), "protocol", /metadata.name: .*may not be empty/],
  "a name that is a path": [frame("ADDED", meta({ name: "../x", resourceVersion: "900" })), "protocol", /metadata.name: .*may not contain/],
  "an older version of something known": [
    frame("MODIFIED", meta({ name: "pod-03", resourceVersion: "2" })),
    "protocol",
    /sent default\/pod-03 at version 2 behind version \d+/,
  ],
  "a deletion from the past": [
    frame("DELETED", meta({ name: "pod-03", resourceVersion: "3" })),
    "protocol",
    /sent default\/pod-03 at version 3 behind version \d+/,
  ],
  "a bookmark without a version": [frame("BOOKMARK", { kind: "Pod", metadata: {} }), "protocol", /bookmark without a usable version/],
  "an error that says nothing": [frame("ERROR", { kind: "Pod" }), "protocol", /ERROR event without a Status/],
  "a server that has lost its way": [
    frame("ERROR", { kind: "Status", code: 503, reason: "ServiceUnavailable", message: "etcdserver: no leader" }),
    "unavailable",
    /etcdserver: no leader/,
  ],
});

/**
 * A server of so many pods, and a cache that watches it.
 * @param {import("node:test").TestContext} t @param {(typeof TRANSPORTS)[number]} transport @param {number} count
 */
async function listening(t, transport, count) {
  const server = await RawServer.start(podsOf(count));
  t.after(() => server.stop());
  const pods = open(t, server.url, { transport });
  await pods.synced();
  await live(pods);
  return { server, pods };
}

for (const transport of TRANSPORTS) {
  describe(`strange frames over ${transport}`, () => {
    test("are told with a code and harm nothing; a list cures each", async (t) => {
      const { server, pods } = await listening(t, transport, 12);
      const { upstream } = server;
      const witness = new Witness(pods, [keyOf(11)]);
      for (const [name, [bytes, code, words]] of Object.entries(STRANGE)) {
        const seen = witness.watch();
        const before = server.lists;
        // Written behind the strange frame on the same stream: it must come by another way.
        await witness.suffers(
          () => {
            server.say(bytes);
            upstream.put(pod(keyOf(11), { labels: { after: name.replaceAll(" ", "-") } }));
            upstream.put(pod(`default/after-${before}`));
          },
          { code, words },
        );
        await live(pods);
        await assertHolds(pods, server);
        assert.ok(server.lists > before, `${name}: only a list tells what the stream was to say`);
        assert.deepEqual(seen.events, [], `${name}: no watch has seen anything of it`);
        await eventually(() => seen.ended, "the end of the watch");
        assert.equal((await seen.watcher.ended).reason, "relist");
        witness.look();
        witness.assertUnharmed();
      }
    });

    test("invalid UTF-8 enters nowhere", async (t) => {
      const { server, pods } = await listening(t, transport, 6);
      const witness = new Witness(pods);
      await witness.suffers(() => server.say(NO_UTF8, { binary: true }), { code: "decode", words: /invalid UTF-8 at byte 94/ });
      await live(pods);
      await assertHolds(pods, server);
      if (transport === "websocket") {
        // As a text message the socket itself refuses it.
        await hasSaidSomething(pods, () => server.upstream.put(pod("default/first")));
        await witness.suffers(() => server.say(NO_UTF8), { code: "protocol", words: /no message: .*UTF-8/ });
        await live(pods);
      }
      await assertHolds(pods, server);
      witness.assertUnharmed();
    });

    test("a server that greets every watch with rubbish is left alone for longer and longer, and forgiven", async (t) => {
      const { server, pods } = await listening(t, transport, 6);
      const witness = new Witness(pods);
      await hasSaidSomething(pods, () => server.upstream.put(pod("default/first")));
      server.greeting = "rubbish";
      await witness.suffers(() => server.hangUp(), { code: "decode", words: /decode an event/ });
      await eventually(
        () => pods.status.attempt >= 4,
        () => `the fourth try; told were ${witness.phases()}`,
      );
      server.upstream.put(pod("default/meanwhile"));
      const told = witness.statuses.filter(({ retryAt }) => retryAt !== undefined);
      assert.deepEqual([...new Set(told.map(({ error }) => error.code))], ["decode"]);
      server.greeting = undefined;
      await live(pods);
      await assertHolds(pods, server);
      witness.assertUnharmed();
    });

    test("an empty frame says nothing, and a frame said twice is taken once", async (t) => {
      const { server, pods } = await listening(t, transport, 6);
      const { upstream } = server;
      const witness = new Witness(pods, [keyOf(2)]);
      const seen = witness.watch();
      server.say("");
      const written = upstream.put(pod(keyOf(2), { phase: "Failed" }));
      server.say(frame("MODIFIED", written));
      upstream.put(pod("default/last"));
      await seen.count(2);
      assert.deepEqual(
        seen.events.map(({ type, key }) => `${type} ${key}`),
        [`MODIFIED ${keyOf(2)}`, "ADDED default/last"],
      );
      assert.equal(server.watches, 1, "the same stream all the time");
      assert.equal(pods.status.error, undefined);
      await assertHolds(pods, server);
      await seen.stop();
      witness.assertUnharmed();
    });
  });

  describe(`the embedded server's faults over ${transport}`, () => {
    const FAULTS = /** @type {const} */ ([
      ["badFrame", { how: "json" }, "decode", /decode an event .* at byte \d+/],
      ["unknownType", {}, "protocol", /unknown type "RENAMED"/],
      ["noVersion", {}, "protocol", /has no metadata.resourceVersion/],
      ["outOfOrder", {}, "protocol", /at version \d+ behind version \d+/],
    ]);

    test("one after the other, with real pods", async (t) => {
      const server = await startServer({ port: 0, pods: 40, rate: 0 });
      t.after(() => server.close());
      const api = new Api(server.url, undefined);
      const all = (await api.list("/api/v1/pods")).items.map(keyIn);
      const [first, second, third] = all;
      const pods = open(t, server.url, { transport, pageSize: 15 });
      await api.patch(POD_PATH(first), { metadata: { labels: { before: "the-list" } } });
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods, [first, second, third]);
      for (const [fault, options, code, words] of FAULTS) {
        const seen = witness.watch();
        const selected = witness.watch({ labelSelector: "written" });
        await witness.suffers(
          async () => {
            assert.equal(server.control.fault(fault, options).affected, 1);
            await api.patch(POD_PATH(second), { metadata: { labels: { written: fault } } });
          },
          { code, words },
        );
        await live(pods);
        await assertIntegrity(pods, api, "/api/v1/pods");
        for (const watched of [seen, selected]) {
          await eventually(() => watched.ended, "the end of the watch");
          assert.equal((await watched.watcher.ended).reason, "relist");
          assert.deepEqual(watched.events, [], fault);
        }
      }
      await api.delete(POD_PATH(third));
      await eventually(() => pods.peek(third) === undefined, "a deletion");
      const { resourceVersion, items } = server.control.digest("pods", pods.resourceVersion);
      assert.equal(resourceVersion, pods.resourceVersion);
      assert.deepEqual(
        (await pods.list({ resourceVersion: "0" })).items.map((/** @type {any} */ o) => [keyIn(o), o.metadata.resourceVersion]),
        items,
      );
      witness.assertUnharmed();
    });

    test("a frame that is cut off counts for nothing, and the watch is resumed", async (t) => {
      const server = await startServer({ port: 0, pods: 10, rate: 0 });
      t.after(() => server.close());
      const api = new Api(server.url, undefined);
      const pods = open(t, server.url, { transport });
      await pods.synced();
      await live(pods);
      const [first] = (await api.list("/api/v1/pods")).items.map(keyIn);
      const witness = new Witness(pods, [first]);
      await hasSaidSomething(pods, () => api.patch(POD_PATH(first), { metadata: { labels: { written: "before" } } }));
      const seen = witness.watch();
      const { lists } = server.control.status().counts;
      assert.equal(server.control.fault("drop", { midFrame: true }).affected, 1);
      const written = await api.patch(POD_PATH(first), { metadata: { labels: { written: "meanwhile" } } });
      await seen.count(1);
      assert.deepEqual(
        seen.events.map(({ type, key, resourceVersion }) => [type, key, resourceVersion]),
        [["MODIFIED", first, written.metadata.resourceVersion]],
      );
      await live(pods);
      assert.equal(server.control.status().counts.lists, lists, "nothing was listed");
      await assertIntegrity(pods, api, "/api/v1/pods");
      await seen.stop();
      witness.assertUnharmed();
    });

    test("an object of 10 MB is an object like any other", async (t) => {
      const server = await startServer({ port: 0, pods: 10, rate: 0 });
      t.after(() => server.close());
      const api = new Api(server.url, undefined);
      const pods = open(t, server.url, { transport });
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods);
      const seen = witness.watch();
      server.control.fault("bigObject");
      await seen.count(1);
      const [{ type, key, object }] = seen.events;
      assert.equal(type, "ADDED");
      assert.equal(object.metadata.annotations.padding.length, 10 * 1024 * 1024);
      assert.equal(pods.peek(key), object);
      assert.equal(pods.size, 11);
      assert.equal(pods.status.error, undefined);
      // It also comes in a list.
      await pods.refresh();
      await live(pods);
      assert.equal(pods.peek(key), object, "a list at the same version changes nothing");
      await assertIntegrity(pods, api, "/api/v1/pods");
      witness.touched.add(key);
      server.control.fault("clear");
      await eventually(() => pods.size === 10, "its deletion");
      await assertIntegrity(pods, api, "/api/v1/pods");
      witness.assertUnharmed();
    });
  });
}
