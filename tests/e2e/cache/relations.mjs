/**
 * What belongs to an object: what it owns, what it selects, the events about it. The uids, owners and selectors are the server's own.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { eventually } from "../cache.mjs";
import { withCache } from "./setup.mjs";

/** @param {() => import("../target.mjs").Target} getTarget called when a scenario runs */
export function relationScenarios(getTarget) {
  describe("relations", () => {
    it("pods follow their owner and their service, live", () =>
      withCache(getTarget(), async ({ place, cache, pods }) => {
        const { namespace, api } = place;
        const services = cache.resource({ version: "v1", resource: "services", namespace });
        const sets = cache.resource({ group: "apps", version: "v1", resource: "replicasets", namespace });
        const template = {
          metadata: { labels: { app: "web" } },
          spec: { containers: [{ name: "main", image: "registry.invalid/app:1" }] },
        };
        const set = await sets.create({
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          metadata: { name: "web", namespace },
          spec: { replicas: 0, selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web", "api"] }] }, template },
        });
        const service = await services.create({
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "web", namespace },
          spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
        });
        const unselecting = await services.create({
          apiVersion: "v1",
          kind: "Service",
          metadata: { name: "outside", namespace },
          spec: { ports: [{ port: 80 }] },
        });
        const owner = (/** @type {any} */ of) => ({
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: of.metadata.name,
          uid: of.metadata.uid,
        });
        const owned = place.pod("owned", { labels: { app: "web" } });
        await api.create(place.pods, { ...owned, metadata: { ...owned.metadata, ownerReferences: [owner(set)] } });
        await place.create("loose", { labels: { app: "web" } });
        await place.create("other", { labels: { app: "db" } });
        await pods.synced();
        await eventually(() => pods.size === 3, "the pods");

        const names = (/** @type {any} */ view) => view.rows.map((/** @type {any} */ row) => row.metadata.name).join();
        const children = pods.childrenOf(set);
        const selected = pods.selectedBy(service);
        for (const view of [children, selected]) view.subscribe(() => {});
        assert.equal(names(children), "owned");
        assert.equal(names(selected), "loose,owned");
        assert.equal(names(pods.selectedBy(set)), "loose,owned");
        assert.equal(names(pods.selectedBy(unselecting)), "");
        assert.equal(names(pods.childrenOf(service)), "");
        // As lists hold them, without a kind.
        await services.refresh();
        assert.equal(names(pods.selectedBy(services.peek(`${namespace}/web`))), "loose,owned");
        assert.equal(names(pods.selectedBy(services.peek(`${namespace}/outside`))), "");

        await place.patch("loose", { metadata: { labels: { app: "api" }, ownerReferences: [owner(set)] } });
        await eventually(() => names(children) === "loose,owned" && names(selected) === "owned", "an owner and a label that change");
        assert.equal(names(pods.selectedBy(set)), "loose,owned");
        await place.patch("owned", { metadata: { ownerReferences: null } });
        await eventually(() => names(children) === "loose", "an owner that is gone");
        await place.delete("loose");
        await eventually(() => names(children) === "", "a pod that is gone");
      }));

    for (const [group, version, about] of [
      ["", "v1", "involvedObject"],
      ["events.k8s.io", "v1", "regarding"],
    ])
      it(`events of ${group || "the core group"} are found by the object that they are about`, (t) =>
        withCache(getTarget(), async ({ place, cache, pods }) => {
          const { namespace, api } = place;
          if (group !== "" && (await api.get(`/apis/${group}/${version}`)).status === 404) return t.skip("the server has none");
          const pod = await pods.create(place.pod("a"));
          const path = `/api/v1/namespaces/${namespace}/events`;
          const { name, uid } = pod.metadata;
          const event = (/** @type {string} */ called, /** @type {string} */ of) => ({
            apiVersion: "v1",
            kind: "Event",
            metadata: { name: called, namespace },
            involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name, uid: of },
            reason: "Tested",
            type: "Normal",
          });
          await api.create(path, event("one", uid));
          await api.create(path, event("earlier", "another-uid"));
          const events = cache.resource({ group, version, resource: "events", namespace });
          await events.synced();
          assert.equal(events.size, 2);
          assert.ok(events.peek(`${namespace}/one`)[/** @type {string} */ (about)], "the member of this group");
          const view = events.eventsOf(pod);
          view.subscribe(() => {});
          assert.deepEqual(view.getSnapshot().keys, [`${namespace}/one`]);
          await api.create(path, event("two", uid));
          await eventually(() => view.total === 2, "a new event");
          assert.deepEqual(events.eventsOf("another-uid").getSnapshot().keys, [`${namespace}/earlier`]);
        }));
  });
}
