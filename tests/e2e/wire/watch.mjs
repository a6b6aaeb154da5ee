/**
 * Watches: frames, selectors, initial events, bookmarks, ends.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Place } from "../target.mjs";
import { compareVersions, concurrently } from "../wire.mjs";
import { assertStatus, assertGrowing, numbered } from "./assertions.mjs";

/** @param {() => import("../target.mjs").Target} getTarget */
export function watchScenarios(getTarget) {
  describe("watch on the wire", () => {
    it("over WebSocket: the subprotocol is echoed, a frame is one event in text and a line feed", async () => {
      const place = await Place.create(getTarget());
      const created = await place.create("a", { labels: { app: "web" } });
      const watch = await place.api.watch(place.pods, { resourceVersion: created.metadata.resourceVersion }).opened();
      assert.equal(watch.socket.protocol, "base64.binary.k8s.io");
      const modified = await place.label("a", { app: "api" });
      await place.delete("a");
      await watch.event((e) => e.type === "DELETED", "the deletion");
      for (const frame of watch.frames) {
        assert.equal(frame.binary, false);
        assert.match(frame.text, /^\{"type":"(MODIFIED|DELETED)","object":\{/);
        assert.ok(frame.text.endsWith("}\n"));
        assert.equal(frame.text.indexOf("\n"), frame.text.length - 1);
      }
      assert.deepEqual(watch.events[0], { type: "MODIFIED", object: modified }, "an event's object is the object, with its kind");
      const deleted = watch.withoutMarks()[1];
      assert.equal(deleted.type, "DELETED");
      assert.deepEqual(deleted.object.metadata.labels, { app: "api" });
      assert.ok(
        compareVersions(String(deleted.object.metadata.resourceVersion), modified.metadata.resourceVersion) > 0,
        "a deletion has a version of its own",
      );
      watch.stop();
    });

    it("over chunked HTTP: the same events as lines", async () => {
      const place = await Place.create(getTarget());
      const created = await place.create("a");
      const stop = new AbortController();
      const answer = await fetch(`${place.target.url}${place.pods}?watch=1&resourceVersion=${created.metadata.resourceVersion}`, {
        headers: { authorization: `Bearer ${place.target.token}` },
        signal: AbortSignal.any([stop.signal, AbortSignal.timeout(30_000)]),
      });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
      const modified = await place.label("a", { app: "api" });
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (answer.body))) {
        text += decoder.decode(chunk, { stream: true });
        if (text.includes("\n")) break;
      }
      stop.abort();
      assert.deepEqual(JSON.parse(text), { type: "MODIFIED", object: modified });
    });

    it("from version 0 and from nothing begins with the state, from a version with what came since", async () => {
      const place = await Place.create(getTarget());
      const a = await place.create("a");
      await place.create("b");
      const c = await place.create("c");
      await place.api.list(place.pods, { resourceVersion: c.metadata.resourceVersion, resourceVersionMatch: "NotOlderThan" });
      const expect = async (/** @type {import("../wire.mjs").Query} */ query, /** @type {string[]} */ initial) => {
        const watch = await place.api.watch(place.pods, query).opened();
        await watch.count(initial.length);
        await place.label("b", { turn: String(Date.now()) });
        await watch.count(initial.length + 1);
        assert.deepEqual(
          watch.events.map((e) => `${e.type} ${e.object.metadata.name}`),
          [...initial, "MODIFIED b"],
        );
        watch.stop();
      };
      await expect({ resourceVersion: a.metadata.resourceVersion }, ["ADDED b", "ADDED c"]);
      await expect({ resourceVersion: 0 }, ["ADDED a", "ADDED b", "ADDED c"]);
      await expect({}, ["ADDED a", "ADDED b", "ADDED c"]);
    });

    it("with a label selector, leaving is DELETED with the former content, entering is ADDED", async () => {
      const place = await Place.create(getTarget());
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      const watch = await place.api.watch(place.pods, { resourceVersion, labelSelector: "app=web" }).opened();
      await place.create("other", { labels: { app: "db" } });
      await place.create("a", { labels: { app: "web" } });
      const left = await place.label("a", { app: "db" });
      await place.label("a", { step: "unseen" });
      const back = await place.label("a", { app: "web" });
      await place.delete("a");
      await watch.until(() => watch.withoutMarks().length === 4, "four events");
      assert.deepEqual(
        watch.withoutMarks().map((e) => `${e.type} ${e.object.metadata.name}`),
        ["ADDED a", "DELETED a", "ADDED a", "DELETED a"],
      );
      assert.deepEqual(watch.events[1].object.metadata.labels, { app: "web" });
      assert.equal(watch.events[1].object.metadata.resourceVersion, left.metadata.resourceVersion);
      assert.deepEqual(watch.events[2].object, back);
      assertGrowing(watch.events);
      watch.stop();
    });

    it("with a field selector likewise", async () => {
      const place = await Place.create(getTarget());
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      const running = await place.api.watch(place.pods, { resourceVersion, fieldSelector: "status.phase=Running" }).opened();
      const onNode = await place.api.watch(place.pods, { resourceVersion, fieldSelector: "spec.nodeName=node-1" }).opened();
      const named = await place.api.watch(place.pods, { resourceVersion, fieldSelector: "metadata.name=b" }).opened();
      await place.create("a", { node: "node-1" });
      await place.create("b", { node: "node-2" });
      await place.setPhase("a", "Running");
      await place.setPhase("b", "Running");
      await place.setPhase("a", "Succeeded");
      const said = async (/** @type {import("../wire.mjs").WireWatch} */ watch, /** @type {string[]} */ expected) => {
        await watch.count(expected.length);
        assert.deepEqual(
          watch.events.map((e) => `${e.type} ${e.object.metadata.name}`),
          expected,
        );
        watch.stop();
      };
      await said(running, ["ADDED a", "ADDED b", "DELETED a"]);
      await said(onNode, ["ADDED a", "MODIFIED a", "MODIFIED a"]);
      await said(named, ["ADDED b", "MODIFIED b"]);
    });

    it("with initial events: the state in the order of keys, then the annotated bookmark, then what follows", async () => {
      const place = await Place.create(getTarget());
      const created = await concurrently(30, (i) => place.create(numbered(29 - i)));
      const query = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true };
      const watch = await place.api.watch(place.pods, query).opened();
      const end = await watch.event((e) => e.type === "BOOKMARK", "the bookmark that ends the initial events");
      assert.deepEqual(
        watch.events.slice(0, -1).map((e) => `${e.type} ${e.object.metadata.name}`),
        Array.from({ length: 30 }, (_, i) => `ADDED ${numbered(i)}`),
      );
      assert.deepEqual(end.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
      assert.equal(end.object.kind, "Pod");
      assert.equal(end.object.apiVersion, "v1");
      for (const pod of created) assert.ok(compareVersions(pod.metadata.resourceVersion, String(end.object.metadata.resourceVersion)) <= 0);
      await place.label(numbered(3), { app: "web" });
      await watch.count(32);
      assert.equal(watch.events[31].type, "MODIFIED");
      // A later bookmark may have the version of the last event.
      assertGrowing(watch.events.slice(30, 32));
      watch.stop();

      const silent = await place.api.watch(place.pods, { ...query, allowWatchBookmarks: undefined }).opened();
      await silent.count(30);
      await place.label(numbered(3), { app: "api" });
      await silent.count(31);
      assert.ok(
        silent.events.every((e) => e.type !== "BOOKMARK"),
        silent.summary(),
      );
      silent.stop();

      const now = await place.api.watch(place.pods, { ...query, sendInitialEvents: false, resourceVersion: 0 }).opened();
      await place.label(numbered(3), { app: "db" });
      await now.count(1);
      assert.deepEqual([now.events[0].type, now.events[0].object.metadata.labels], ["MODIFIED", { app: "db" }]);
      now.stop();
    });

    it("with initial events from the future: opens, then ERROR 504 and the end", async () => {
      const place = await Place.create(getTarget());
      const watch = await place.api
        .watch(place.pods, {
          sendInitialEvents: true,
          resourceVersionMatch: "NotOlderThan",
          allowWatchBookmarks: true,
          resourceVersion: "99999999",
        })
        .opened();
      const error = await watch.event((e) => e.type === "ERROR", "the error");
      assert.equal(error.object.code, 504);
      assert.equal(error.object.reason, "Timeout");
      assert.match(String(error.object.message), /^Timeout: Too large resource version: 99999999, current: [1-9]\d*$/);
      await watch.closed();
      assert.equal(watch.events.length, 1);
    });

    it("from the future: opens and is silent, what is written now is in its past", async () => {
      const place = await Place.create(getTarget());
      const watch = await place.api.watch(place.pods, { resourceVersion: "99999999", timeoutSeconds: 2 }).opened();
      await place.create("a");
      assert.equal((await watch.closed()).code, 1000);
      assert.deepEqual(watch.events, []);
    });

    it("at an unreadable version is refused", async () => {
      const place = await Place.create(getTarget());
      const refused = await place.api.watch(place.pods, { resourceVersion: "abc" }).refusal();
      assertStatus(refused, 500, undefined, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax');
    });

    it("ends after timeoutSeconds with close code 1000, after a bookmark if those are allowed", async () => {
      const place = await Place.create(getTarget());
      const before = await place.create("a");
      const query = { resourceVersion: before.metadata.resourceVersion, timeoutSeconds: 4 };
      const [marked, plain] = await Promise.all([
        place.api.watch(place.pods, { ...query, allowWatchBookmarks: true }).opened(),
        place.api.watch(place.pods, query).opened(),
      ]);
      const after = await place.label("a", { app: "web" });
      assert.equal((await marked.closed()).code, 1000);
      assert.equal((await plain.closed()).code, 1000);
      assert.deepEqual(
        plain.events.map((e) => e.type),
        ["MODIFIED"],
      );
      const bookmarks = marked.events.filter((e) => e.type === "BOOKMARK");
      assert.ok(bookmarks.length >= 1, marked.summary());
      for (const { object } of bookmarks) {
        assert.ok(compareVersions(String(object.metadata.resourceVersion), after.metadata.resourceVersion) >= 0, marked.summary());
        assert.equal(object.metadata.annotations, undefined, "only the end of initial events is annotated");
        assert.equal(object.metadata.name, undefined);
        assert.equal(object.kind, "Pod");
      }
    });

    it("a client may talk and ping: it is answered or ignored, events go on", async () => {
      const place = await Place.create(getTarget());
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      const watch = await place.api.watch(place.pods, { resourceVersion }).opened();
      let pongs = 0;
      watch.socket.on("pong", () => pongs++);
      watch.socket.send("hello");
      watch.socket.send(Buffer.from([1, 2, 3]));
      watch.socket.ping("x");
      await place.create("a");
      await watch.count(1);
      await place.create("b");
      await watch.count(2);
      assert.equal(pongs, 1);
      watch.stop();
    });
  });
}
