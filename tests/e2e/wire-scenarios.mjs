/**
 * What a server says on the wire. kube-apiserver passes these, which makes them the truth; the embedded server passes
 * the same ones, which makes it a fair stand-in. Texts are compared to the letter, because clients show them.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Place } from "./target.mjs";
import { Api, bearerProtocols, compareVersions, concurrently } from "./wire.mjs";

/** @typedef {import("./target.mjs").Target} Target */
/** @typedef {import("./wire.mjs").Answer} Answer */

/**
 * Asserts a Status answer: HTTP status, code, reason and message.
 * @param {Answer} answer @param {number} code @param {string | undefined} reason @param {string | RegExp} message
 */
function assertStatus(answer, code, reason, message) {
  assert.equal(answer.status, code, answer.text);
  assert.ok(answer.body, `not JSON: ${answer.text}`);
  const { kind, apiVersion, status } = answer.body;
  assert.deepEqual({ kind, apiVersion, status }, { kind: "Status", apiVersion: "v1", status: "Failure" });
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.reason, reason);
  if (typeof message === "string") assert.equal(answer.body.message, message);
  else assert.match(answer.body.message, message);
}

/** @param {{ items: import("./wire.mjs").KubeObject[] }} list */
const names = (list) => list.items.map((o) => o.metadata.name);

/** @param {number} i */
const numbered = (i) => `pod-${String(i).padStart(3, "0")}`;

/**
 * Asserts that versions of changes grow strictly.
 * @param {import("./wire.mjs").WireEvent[]} events
 */
function assertGrowing(events) {
  for (let i = 1; i < events.length; i++) {
    const [a, b] = [events[i - 1], events[i]].map((e) => String(e.object.metadata.resourceVersion));
    assert.ok(compareVersions(a, b) < 0, `version ${b} after ${a}`);
  }
}

/**
 * Declares the wire-level scenarios.
 * @param {() => Target} getTarget called when a scenario runs
 */
export function wireScenarios(getTarget) {
  describe("list on the wire", () => {
    it("pages show one version, whatever is written between them", async () => {
      const place = await Place.create(getTarget());
      await concurrently(25, (i) => place.create(numbered(i)));
      const first = await place.api.list(place.pods, { limit: 10 });
      assert.equal(first.items.length, 10);
      assert.equal(first.metadata.remainingItemCount, 15);
      assert.ok(first.metadata.continue);

      await place.create("pod-000-late");
      await place.delete(numbered(20));
      await place.label(numbered(21), { late: "yes" });

      const second = await place.api.list(place.pods, { limit: 10, continue: first.metadata.continue });
      assert.equal(second.metadata.resourceVersion, first.metadata.resourceVersion);
      assert.equal(second.metadata.remainingItemCount, 5);
      const third = await place.api.list(place.pods, { limit: 10, continue: second.metadata.continue });
      assert.equal(third.metadata.continue, undefined);
      assert.equal(third.metadata.remainingItemCount, undefined);
      const all = [...first.items, ...second.items, ...third.items];
      assert.deepEqual(
        all.map((o) => o.metadata.name),
        Array.from({ length: 25 }, (_, i) => numbered(i)),
      );
      assert.equal(all[21].metadata.labels?.late, undefined);
    });

    it("has the shape that a typed list has", async () => {
      const place = await Place.create(getTarget());
      await place.create("a");
      const answer = await place.api.get(place.pods);
      assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
      assert.equal(answer.body.kind, "PodList");
      assert.equal(answer.body.apiVersion, "v1");
      assert.match(answer.body.metadata.resourceVersion, /^[1-9]\d*$/);
      assert.deepEqual([answer.body.items[0].kind, answer.body.items[0].apiVersion], [undefined, undefined], "items carry no kind of their own");
      assert.ok(compareVersions(answer.body.items[0].metadata.resourceVersion, answer.body.metadata.resourceVersion) <= 0);
      const empty = await place.api.list(place.pods, { labelSelector: "none=such" });
      assert.deepEqual(empty.items, []);
    });

    it("is pretty for a browser unless told otherwise", async () => {
      const place = await Place.create(getTarget());
      const headers = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64)" };
      const asked = await place.api.request("GET", place.pods, { headers, query: { pretty: false } });
      assert.ok(!asked.text.includes("\n  "), asked.text);
      const unasked = await place.api.request("GET", place.pods, { headers, query: { pretty: undefined } });
      assert.ok(unasked.text.includes("\n  "), unasked.text);
    });

    it("ignores the limit at version 0, takes -1 for none", async () => {
      const place = await Place.create(getTarget());
      await concurrently(12, (i) => place.create(numbered(i)));
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      // Version 0 means "whatever the server has": wait until that includes what was just written.
      await place.api.list(place.pods, { resourceVersion, resourceVersionMatch: "NotOlderThan" });
      const any = await place.api.list(place.pods, { resourceVersion: 0, limit: 5 });
      assert.deepEqual([any.items.length, any.metadata.continue, any.metadata.remainingItemCount], [12, undefined, undefined]);
      const negative = await place.api.list(place.pods, { limit: -1 });
      assert.deepEqual([negative.items.length, negative.metadata.continue], [12, undefined]);
    });

    it("at an exact version shows the state of that version", async () => {
      const place = await Place.create(getTarget());
      await place.create("a");
      const b = await place.create("b");
      await place.create("c");
      await place.delete("a");
      const then = await place.api.list(place.pods, { resourceVersion: b.metadata.resourceVersion, resourceVersionMatch: "Exact" });
      assert.deepEqual(names(then), ["a", "b"]);
      assert.equal(then.metadata.resourceVersion, b.metadata.resourceVersion);
      const since = await place.api.list(place.pods, { resourceVersion: b.metadata.resourceVersion, resourceVersionMatch: "NotOlderThan" });
      assert.deepEqual(names(since), ["b", "c"]);
    });

    it("selects by label and by field", async () => {
      const place = await Place.create(getTarget());
      await place.create("a", { labels: { app: "web", tier: "front" }, node: "node-1" });
      await place.create("b", { labels: { app: "web", tier: "back" }, node: "node-2" });
      await place.create("c", { labels: { app: "db" } });
      await place.setPhase("b", "Running");
      const select = async (/** @type {import("./wire.mjs").Query} */ query) => names(await place.api.list(place.pods, query));
      assert.deepEqual(await select({ labelSelector: "app=web" }), ["a", "b"]);
      assert.deepEqual(await select({ labelSelector: "app in (web, db),tier!=back" }), ["a", "c"]);
      assert.deepEqual(await select({ labelSelector: "!tier" }), ["c"]);
      assert.deepEqual(await select({ fieldSelector: "spec.nodeName=node-2" }), ["b"]);
      assert.deepEqual(await select({ fieldSelector: "spec.nodeName=" }), ["c"]);
      assert.deepEqual(await select({ fieldSelector: "status.phase=Running" }), ["b"]);
      assert.deepEqual(await select({ fieldSelector: "metadata.name!=a,status.phase!=Running" }), ["c"]);
      assert.deepEqual(await select({ labelSelector: "app=web", fieldSelector: "metadata.name=a" }), ["a"]);
      const page = await place.api.list(place.pods, { labelSelector: "app", limit: 2 });
      assert.deepEqual(names(page), ["a", "b"]);
      assert.equal(page.metadata.remainingItemCount, undefined, "unknown when a selector filters");
      assert.deepEqual(names(await place.api.list(place.pods, { labelSelector: "app", limit: 2, continue: page.metadata.continue })), ["c"]);
    });

    it("answers a version from the future with 504 after a while", async () => {
      const place = await Place.create(getTarget());
      const answer = await place.api.get(place.pods, { resourceVersion: "99999999", resourceVersionMatch: "NotOlderThan" });
      assertStatus(answer, 504, "Timeout", /^Timeout: Too large resource version: 99999999, current: [1-9]\d*$/);
      assert.equal(answer.headers.get("retry-after"), "1");
      assert.deepEqual(answer.body.details, {
        causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
        retryAfterSeconds: 1,
      });
    });

    it("refuses what it cannot read, in the apiserver's words", async () => {
      const place = await Place.create(getTarget());
      await place.create("a");
      const bad = async (/** @type {import("./wire.mjs").Query} */ query) => place.api.get(place.pods, query);
      assertStatus(
        await bad({ resourceVersion: "abc" }),
        400,
        "BadRequest",
        'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      );
      assertStatus(await bad({ limit: "abc" }), 400, "BadRequest", 'strconv.ParseInt: parsing "abc": invalid syntax');
      assertStatus(
        await bad({ limit: 1, continue: "??" }),
        400,
        "BadRequest",
        "invalid continue token: continue key is not valid: illegal base64 data at input byte 0",
      );
      assertStatus(await bad({ fieldSelector: "spec.foo=1" }), 400, "BadRequest", "field label not supported: spec.foo");
      assertStatus(await bad({ fieldSelector: "spec.nodeName" }), 400, "BadRequest", /^invalid selector: 'spec\.nodeName'; can't understand 'spec\.nodeName'$/);
      const labels = {
        "a==b==c": "found '==', expected: ',' or 'end of string'",
        "a in b": "unable to parse requirement: found 'b' expected: '('",
        "a in (x": "unable to parse requirement: found '', expected: ',' or ')'",
        "a b": "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
        "=x": "found '=', expected: !, identifier, or 'end of string'",
        "a>x": `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
      };
      for (const [labelSelector, message] of Object.entries(labels)) assertStatus(await bad({ labelSelector }), 400, "BadRequest", message);
    });

    it("has its own words for a type that names no fields", async () => {
      const place = await Place.create(getTarget());
      const path = `/api/v1/namespaces/${place.namespace}/configmaps`;
      assertStatus(
        await place.api.get(path, { fieldSelector: "spec.foo=1" }),
        400,
        "BadRequest",
        '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"',
      );
      await place.api.create(path, { metadata: { name: "a" }, data: { key: "value" } });
      await place.api.create(path, { metadata: { name: "b" } });
      assert.deepEqual(names(await place.api.list(path, { fieldSelector: "metadata.name=a" })), ["a"]);
    });

    it("refuses options that contradict each other", async () => {
      const place = await Place.create(getTarget());
      const bad = async (/** @type {import("./wire.mjs").Query} */ query) => place.api.get(place.pods, query);
      assertStatus(
        await bad({ resourceVersionMatch: "Exact" }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
      );
      assertStatus(
        await bad({ resourceVersion: 0, resourceVersionMatch: "Exact" }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      );
      assertStatus(
        await bad({ watch: 1, sendInitialEvents: true }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    });
  });

  describe("objects on the wire", () => {
    it("are created, read, updated, patched and deleted, with growing versions", async () => {
      const place = await Place.create(getTarget());
      const created = await place.create("a", { labels: { app: "web" } });
      assert.ok(created.metadata.uid);
      assert.ok(created.metadata.creationTimestamp);
      const read = await place.api.must("GET", `${place.pods}/a`);
      assert.deepEqual(read, created);
      const updated = await place.api.update(`${place.pods}/a`, { ...read, metadata: { ...read.metadata, labels: { app: "api" } } });
      assert.equal(updated.metadata.uid, created.metadata.uid);
      const patched = await place.label("a", { app: null, tier: "front" });
      assert.deepEqual(patched.metadata.labels, { tier: "front" });
      assertGrowing([created, updated, patched].map((object) => ({ type: "MODIFIED", object })));
      await place.delete("a");
      assertStatus(await place.api.get(`${place.pods}/a`), 404, "NotFound", 'pods "a" not found');
    });

    it("a write that changes nothing keeps its version", async () => {
      const place = await Place.create(getTarget());
      await place.create("a");
      const one = await place.label("a", { app: "web" });
      const two = await place.label("a", { app: "web" });
      assert.equal(two.metadata.resourceVersion, one.metadata.resourceVersion);
    });

    it("conflicts are said, and change nothing", async () => {
      const place = await Place.create(getTarget());
      const old = await place.create("a");
      const now = await place.label("a", { app: "web" });
      assertStatus(await place.api.request("POST", place.pods, { body: place.pod("a") }), 409, "AlreadyExists", 'pods "a" already exists');
      assertStatus(
        await place.api.request("PUT", `${place.pods}/a`, { body: { ...old, metadata: { ...old.metadata, labels: { lost: "update" } } } }),
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "a": the object has been modified; please apply your changes to the latest version and try again',
      );
      assertStatus(
        await place.api.request("DELETE", `${place.pods}/a`, {
          body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { resourceVersion: old.metadata.resourceVersion } },
        }),
        409,
        "Conflict",
        new RegExp(`the ResourceVersion in the precondition \\(${old.metadata.resourceVersion}\\) does not match the ResourceVersion in record \\(${now.metadata.resourceVersion}\\)`),
      );
      assert.deepEqual(await place.api.must("GET", `${place.pods}/a`), now);
    });
  });

  describe("who may and what is there", () => {
    it("a wrong token is 401 for requests and upgrades", async () => {
      const place = await Place.create(getTarget());
      const stranger = new Api(place.target.url, "not-a-token");
      assertStatus(await stranger.get(place.pods), 401, "Unauthorized", "Unauthorized");
      assertStatus(await stranger.watch(place.pods, {}).refusal(), 401, "Unauthorized", "Unauthorized");
    });

    it("a user without the right is 403 for requests and upgrades", async () => {
      const place = await Place.create(getTarget());
      const powerless = new Api(place.target.url, place.target.powerless);
      const text = (/** @type {string} */ verb) =>
        new RegExp(`^pods is forbidden: User "[^"]+" cannot ${verb} resource "pods" in API group "" in the namespace "${place.namespace}"`);
      assertStatus(await powerless.get(place.pods), 403, "Forbidden", text("list"));
      assertStatus(await powerless.watch(place.pods, {}).refusal(), 403, "Forbidden", text("watch"));
    });

    it("an unknown resource is 404 for requests and upgrades", async () => {
      const place = await Place.create(getTarget());
      const path = `/api/v1/namespaces/${place.namespace}/nonesuch`;
      assertStatus(await place.api.get(path), 404, "NotFound", "the server could not find the requested resource");
      assertStatus(await place.api.watch(path, {}).refusal(), 404, "NotFound", "the server could not find the requested resource");
      const group = await place.api.watch("/apis/nonesuch.example/v1/things", {}).refusal();
      assert.equal(group.status, 404);
    });

    it("a watch needs one more subprotocol than its token, and not two", async () => {
      const place = await Place.create(getTarget());
      const [bearer, binary] = bearerProtocols(place.target.token);
      assert.equal((await place.api.watch(place.pods, {}, { protocols: [bearer] }).refusal()).status, 401);
      assert.equal((await place.api.watch(place.pods, {}, { protocols: [bearer, binary, "second.example"] }).refusal()).status, 400);
      const broken = "base64url.bearer.authorization.k8s.io.A"; // no base64 is one letter long
      assert.equal((await place.api.watch(place.pods, {}, { protocols: [broken, binary] }).refusal()).status, 401);
    });
  });

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
      assert.ok(compareVersions(String(deleted.object.metadata.resourceVersion), modified.metadata.resourceVersion) > 0, "a deletion has a version of its own");
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
      const expect = async (/** @type {import("./wire.mjs").Query} */ query, /** @type {string[]} */ initial) => {
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
      const said = async (/** @type {import("./wire.mjs").WireWatch} */ watch, /** @type {string[]} */ expected) => {
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
      assertGrowing(watch.events.slice(30));
      watch.stop();

      const silent = await place.api.watch(place.pods, { ...query, allowWatchBookmarks: undefined }).opened();
      await silent.count(30);
      await place.label(numbered(3), { app: "api" });
      await silent.count(31);
      assert.ok(silent.events.every((e) => e.type !== "BOOKMARK"), silent.summary());
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
        .watch(place.pods, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true, resourceVersion: "99999999" })
        .opened();
      const error = await watch.event((e) => e.type === "ERROR", "the error");
      assert.equal(error.object.code, 504);
      assert.equal(error.object.reason, "Timeout");
      assert.match(String(error.object.message), /^Timeout: Too large resource version: 99999999, current: [1-9]\d*$/);
      await watch.closed();
      assert.equal(watch.events.length, 1);
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
      assert.deepEqual(plain.events.map((e) => e.type), ["MODIFIED"]);
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

  describe("trouble on the wire", () => {
    it("after a drop, a watch from the last version seen misses nothing and repeats nothing", async () => {
      const place = await Place.create(getTarget());
      const { resourceVersion } = (await place.api.list(place.pods)).metadata;
      const first = await place.api.watch(place.pods, { resourceVersion }).opened();
      const writer = place.aside();
      const written = (async () => {
        const versions = [];
        for (let i = 0; i < 60; i++) versions.push(`ADDED ${numbered(i)}@${(await writer.create(numbered(i))).metadata.resourceVersion}`);
        return versions;
      })();
      await first.count(10);
      await place.target.drop();
      assert.notEqual((await first.closed()).code, 1000);
      const second = await place.api.watch(place.pods, { resourceVersion: String(first.events.at(-1)?.object.metadata.resourceVersion) }).opened();
      const expected = await written;
      await second.count(60 - first.events.length);
      assert.equal(`${first.summary()}, ${second.summary()}`, expected.join(", "));
      second.stop();
    });

    it("a server that is refused answers so, and comes back", async () => {
      const place = await Place.create(getTarget());
      await place.target.refuse({ status: 503, headers: { "retry-after": "1", "content-type": "text/plain" }, body: "unavailable" });
      const list = await place.api.get(place.pods);
      assert.deepEqual([list.status, list.headers.get("retry-after")], [503, "1"]);
      assert.equal((await place.api.watch(place.pods, {}).refusal()).status, 503);
      await place.target.refuse(undefined);
      assert.equal((await place.api.get(place.pods)).status, 200);
    });

    it("after a crash the objects are there, with their versions", async () => {
      const place = await Place.create(getTarget());
      await concurrently(20, (i) => place.create(numbered(i), { labels: { app: "web" } }));
      const before = await place.api.list(place.pods);
      const watch = await place.api.watch(place.pods, { resourceVersion: before.metadata.resourceVersion }).opened();
      await place.target.crash();
      assert.equal((await watch.closed()).code, 1006);
      const after = await place.api.list(place.pods);
      assert.deepEqual(after.items, before.items);
      assert.ok(compareVersions(after.metadata.resourceVersion, before.metadata.resourceVersion) >= 0);
      const pod = await place.create("later");
      assert.ok(compareVersions(pod.metadata.resourceVersion, after.metadata.resourceVersion) > 0, "versions never go back");
    });

    it("history that is gone is 410 everywhere", async () => {
      const place = await Place.create(getTarget());
      await concurrently(8, (i) => place.create(numbered(i)));
      const page = await place.api.list(place.pods, { limit: 3 });
      const old = page.metadata.resourceVersion;
      await place.label(numbered(0), { app: "web" });
      await place.target.expire();
      await place.label(numbered(0), { app: "api" });

      const watch = await place.api.watch(place.pods, { resourceVersion: old }).opened();
      const error = await watch.event((e) => e.type === "ERROR", "the error");
      await watch.closed();
      assert.deepEqual(
        { ...error.object, message: undefined },
        { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: undefined, reason: "Expired", code: 410 },
      );
      const [, asked, oldest] = /^too old resource version: (\d+) \((\d+)\)$/.exec(String(error.object.message)) ?? [];
      assert.equal(asked, old, error.object.message);
      assert.ok(compareVersions(oldest, old) > 0);
      assert.equal(watch.events.length, 1, "nothing before and nothing after the error");

      assertStatus(
        await place.api.get(place.pods, { resourceVersion: old, resourceVersionMatch: "Exact" }),
        410,
        "Expired",
        "The resourceVersion for the provided list is too old.",
      );
      const next = await place.api.get(place.pods, { limit: 3, continue: page.metadata.continue });
      assertStatus(next, 410, "Expired", /^The provided continue parameter is too old to display a consistent list result\./);
      // The answer brings a token that goes on from the same place, at the version of now.
      const rest = await place.api.list(place.pods, { continue: next.body.metadata.continue });
      assert.deepEqual(names(rest), [3, 4, 5, 6, 7].map(numbered));

      const list = await place.api.list(place.pods);
      const again = await place.api.watch(place.pods, { resourceVersion: list.metadata.resourceVersion }).opened();
      await place.create("later");
      await again.count(1);
      assert.equal(again.events[0].type, "ADDED");
      again.stop();
    });
  });
}
