/**
 * Lists: pages, versions, selectors, and the words of a refusal.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Place } from "../target.mjs";
import { compareVersions, concurrently } from "../wire.mjs";
import { assertStatus, names, numbered } from "./assertions.mjs";

/** @param {() => import("../target.mjs").Target} getTarget @param {{ pretty: boolean }} has */
export function listScenarios(getTarget, { pretty }) {
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
      assert.deepEqual(
        [answer.body.items[0].kind, answer.body.items[0].apiVersion],
        [undefined, undefined],
        "items carry no kind of their own",
      );
      assert.ok(compareVersions(answer.body.items[0].metadata.resourceVersion, answer.body.metadata.resourceVersion) <= 0);
      const empty = await place.api.list(place.pods, { labelSelector: "none=such" });
      assert.deepEqual(empty.items, []);
    });

    if (pretty)
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
      const select = async (/** @type {import("../wire.mjs").Query} */ query) => names(await place.api.list(place.pods, query));
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
      assert.deepEqual(names(await place.api.list(place.pods, { labelSelector: "app", limit: 2, continue: page.metadata.continue })), [
        "c",
      ]);
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
      const bad = async (/** @type {import("../wire.mjs").Query} */ query) => place.api.get(place.pods, query);
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
      assertStatus(
        await bad({ fieldSelector: "spec.nodeName" }),
        400,
        "BadRequest",
        /^invalid selector: 'spec\.nodeName'; can't understand 'spec\.nodeName'$/,
      );
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
      await concurrently(2, (i) => place.create(numbered(i)));
      const bad = async (/** @type {import("../wire.mjs").Query} */ query) => place.api.get(place.pods, query);
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
      const { metadata } = await place.api.list(place.pods, { limit: 1 });
      assert.ok(metadata.continue);
      assertStatus(
        await bad({ limit: 1, continue: metadata.continue, resourceVersion: metadata.resourceVersion }),
        400,
        "BadRequest",
        "specifying resource version is not allowed when using continue",
      );
      assertStatus(
        await bad({ resourceVersion: 1, resourceVersionMatch: "Newest" }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
      );
      assertStatus(
        await bad({ sendInitialEvents: true }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
      );
      assertStatus(
        await bad({ watch: 1, sendInitialEvents: true }),
        422,
        "Invalid",
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      );
    });
  });
}
