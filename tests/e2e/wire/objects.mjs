/**
 * Objects and who may touch them: writes, conflicts, tokens, paths.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Place } from "../target.mjs";
import { Api, bearerProtocols } from "../wire.mjs";
import { assertStatus, assertGrowing } from "./assertions.mjs";

/** @param {() => import("../target.mjs").Target} getTarget */
export function objectScenarios(getTarget) {
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
      const { uid } = now.metadata;
      const wrong = /** @type {const} */ ([
        [
          { resourceVersion: old.metadata.resourceVersion },
          `the ResourceVersion in the precondition (${old.metadata.resourceVersion}) does not match the ResourceVersion in record (${now.metadata.resourceVersion}). The object might have been modified`,
        ],
        [
          { uid: "another" },
          `the UID in the precondition (another) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
        ],
      ]);
      for (const [preconditions, message] of wrong) {
        assertStatus(
          await place.api.request("DELETE", `${place.pods}/a`, {
            body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions },
          }),
          409,
          "Conflict",
          `Operation cannot be fulfilled on Pod "a": ${message}`,
        );
      }
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

    it("an unknown resource is 404 for requests and upgrades", async () => {
      const place = await Place.create(getTarget());
      for (const path of [
        `/api/v1/namespaces/${place.namespace}/nonesuch`,
        "/api/v1/nonesuch",
        "/apis/apps/v1/nonesuch",
        "/apis/apps/v9/deployments",
      ]) {
        const list = await place.api.get(path);
        assertStatus(list, 404, "NotFound", "the server could not find the requested resource");
        assert.deepEqual(list.body.details, {});
        assertStatus(await place.api.watch(path, {}).refusal(), 404, "NotFound", "the server could not find the requested resource");
      }
      for (const path of ["/nonesuch", "/apis/nonesuch.example/v1/things"]) {
        for (const answer of [await place.api.get(path), await place.api.watch(path, {}).refusal()]) {
          assert.deepEqual([answer.status, answer.text.trim()], [404, "404 page not found"], "no group, no Status");
        }
      }
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
}

/** Only for a server that knows rights. @param {() => import("../target.mjs").Target} getTarget */
export function authorizationScenarios(getTarget) {
  describe("who has the right", () => {
    it("a user without the right is 403 for requests and upgrades", async () => {
      const place = await Place.create(getTarget());
      const powerless = new Api(place.target.url, place.target.powerless);
      const text = (/** @type {string} */ verb) =>
        new RegExp(`^pods is forbidden: User "[^"]+" cannot ${verb} resource "pods" in API group "" in the namespace "${place.namespace}"`);
      assertStatus(await powerless.get(place.pods), 403, "Forbidden", text("list"));
      assertStatus(await powerless.watch(place.pods, {}).refusal(), 403, "Forbidden", text("watch"));
    });
  });
}
