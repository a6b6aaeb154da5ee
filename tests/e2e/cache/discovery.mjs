/**
 * What the server has, by its own discovery; what one may; and custom resources that come and go while they are watched.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../cache.mjs";
import { withCache } from "./setup.mjs";

/** A host's fetch that asks for the classic form, as an older client would. @type {typeof fetch} */
const classic = (address, init) => {
  const headers = new Headers(init?.headers);
  headers.set("accept", "application/json");
  return fetch(address, { ...init, headers });
};

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GROUP = "e2e.example.com";

/** @param {string} plural @param {string[]} versions the first is the one that is stored */
function definition(plural, versions) {
  const kind = plural[0].toUpperCase() + plural.slice(1, -1);
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, singular: plural.slice(0, -1), kind, shortNames: [plural.slice(0, 2)] },
      versions: versions.map((name, i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      })),
    },
  };
}

/** Asks the server until `condition` holds. @param {() => Promise<boolean>} condition @param {string} what for the message */
async function repeatedly(condition, what) {
  for (const deadline = Date.now() + 30_000; !(await condition()); await sleep(100))
    assert.ok(Date.now() < deadline, `Waited in vain for ${what}`);
}

/**
 * @param {() => import("../target.mjs").Target} getTarget called when a scenario runs
 * @param {{ authorization: boolean, customResources?: boolean }} has what the server has beside the API
 */
export function discoveryScenarios(getTarget, has) {
  describe("discovery", () => {
    it("tells the same in the aggregated and in the classic form", () =>
      withCache(getTarget(), async ({ cache, traffic, open }) => {
        const discovery = await cache.discover();
        assert.deepEqual(discovery.failed, []);
        // Behind a worker the page itself asks, by a fetch that nobody counts.
        if (!getTarget().open) assert.deepEqual(traffic.fetches.map(({ url }) => url.pathname).sort(), ["/api", "/apis"]);
        const old = open({ fetch: classic });
        /** @param {any} told */
        const sorted = ({ resources }) =>
          resources
            .map((/** @type {any} */ one) => ({ ...one, subresources: [...one.subresources].sort((a, b) => (a.name < b.name ? -1 : 1)) }))
            .sort((/** @type {any} */ a, /** @type {any} */ b) => (a.name < b.name ? -1 : 1));
        try {
          assert.deepEqual(sorted(await old.discover()), sorted(discovery));
        } finally {
          await old.close();
        }
        const deployments = discovery.find("deploy");
        assert.equal(deployments.name, "apps/v1/deployments");
        assert.equal(deployments.namespaced, true);
        assert.ok(["list", "watch", "patch"].every((verb) => deployments.verbs.includes(verb)));
        assert.ok(deployments.subresources.some(({ name, kind }) => name === "scale" && kind === "Scale"));
        assert.equal(discovery.find("no").namespaced, false);
      }));

    it("names and kinds open what they mean", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        await cache.discover();
        assert.equal(cache.resource("deploy"), cache.resource("apps/v1/deployments"));
        const pods = cache.resource({ kind: "Pod", namespace: place.namespace });
        await pods.synced();
        await place.create("a");
        await eventually(() => pods.peek(`${place.namespace}/a`), "the pod");
      }));

    it("says what one may, and what one may not", () =>
      withCache(getTarget(), async ({ cache, open }) => {
        assert.equal((await cache.can({ verb: "list", resource: "pods" })).allowed, true);
        if (!has.authorization) return;
        const powerless = open({ auth: () => ({ token: getTarget().powerless }) });
        try {
          for (const namespace of [undefined, "default"])
            assert.equal((await powerless.can({ verb: "list", resource: "pods", namespace })).allowed, false);
          assert.equal((await powerless.can({ verb: "get", path: "/version" })).allowed, true);
          assert.equal((await powerless.can({ verb: "get", path: "/metrics" })).allowed, false);
          assert.equal((await powerless.discover()).find("deploy").name, "apps/v1/deployments");
        } finally {
          await powerless.close();
        }
      }));
  });

  describe("a group whose server is away", { skip: has.customResources ? false : "the server has none" }, () => {
    it("is named, in either form, and all others are there", () =>
      withCache(getTarget(), async ({ place, cache, open }) => {
        const services = "/apis/apiregistration.k8s.io/v1/apiservices";
        await place.api.create(services, {
          apiVersion: "apiregistration.k8s.io/v1",
          kind: "APIService",
          metadata: { name: "v1beta1.away.example.com" },
          spec: {
            group: "away.example.com",
            version: "v1beta1",
            service: { namespace: place.namespace, name: "away" },
            insecureSkipTLSVerify: true,
            groupPriorityMinimum: 100,
            versionPriority: 100,
          },
        });
        const old = open({ fetch: classic });
        try {
          for (const one of [cache, old]) {
            /** @type {any} */
            let discovery;
            await repeatedly(async () => {
              discovery = await one.discover({ refresh: true });
              return discovery.failed.length > 0;
            }, "the group");
            assert.deepEqual(
              discovery.failed.map((/** @type {any} */ { group, version, error }) => [group, version, error.code]),
              [["away.example.com", "v1beta1", "unavailable"]],
            );
            assert.equal(discovery.find("deploy").name, "apps/v1/deployments");
            assert.throws(
              () => one.resource({ kind: "Thing", group: "away.example.com" }),
              (/** @type {any} */ error) => error.code === "unavailable" && error.retryable,
            );
          }
        } finally {
          await old.close();
          await place.api.must("DELETE", `${services}/v1beta1.away.example.com`);
        }
      }));
  });

  describe("a custom resource", { skip: has.customResources ? false : "the server has none" }, () => {
    it("is failed while it does not exist, lives when it appears, loses its rows with its definition, and lives again", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const plural = "gadgets";
        const gadgets = cache.resource({ group: GROUP, version: "v1", resource: plural, namespace: place.namespace });
        const path = `/apis/${GROUP}/v1/namespaces/${place.namespace}/${plural}`;
        const named = (/** @type {string} */ name) => ({
          apiVersion: `${GROUP}/v1`,
          kind: "Gadget",
          metadata: { name },
          spec: { size: 1 },
        });
        const remove = async () => {
          await place.api.must("DELETE", `${CRDS}/${plural}.${GROUP}`);
        };
        const create = async () => {
          await place.api.create(CRDS, definition(plural, ["v1"]));
          await eventually(
            () => gadgets.status.phase === "live",
            () => `life; phase ${gadgets.status.phase}, ${gadgets.status.error}`,
          );
        };
        /** @type {string[]} */
        const told = [];
        const view = gadgets.view();
        const stop = view.subscribe(() => told.push(view.rows.map((/** @type {any} */ row) => row.metadata.name).join()));

        await assert.rejects(gadgets.synced(), (/** @type {any} */ error) => error.code === "not-found");
        assert.equal(gadgets.status.phase, "failed");
        assert.equal(gadgets.status.error.code, "not-found");
        assert.ok(gadgets.status.retryAt > 0, "it is tried again");

        await create();
        await place.api.create(path, named("a"));
        await eventually(() => view.rows.length === 1, "the first gadget");

        await remove();
        await eventually(() => view.rows.length === 0, "the end of its rows");
        await eventually(
          () => gadgets.status.phase === "failed" && gadgets.status.error.code === "not-found",
          () => `failure; phase ${gadgets.status.phase}, ${gadgets.status.error}`,
        );

        await create();
        await place.api.create(path, named("b"));
        await eventually(() => view.rows.length === 1 && view.rows[0].metadata.name === "b", "the gadget of the second life");
        await remove();
        stop();
        assert.deepEqual(
          told.filter((names, i) => names !== told[i - 1]),
          ["", "a", "", "b"],
        );
      }));

    it("that gets another version goes on in the one that is watched, and discovery finds both", () =>
      withCache(getTarget(), async ({ place, cache }) => {
        const plural = "gizmos";
        await cache.discover();
        assert.throws(
          () => cache.resource({ kind: "Gizmo" }),
          (/** @type {any} */ error) => error.code === "not-found",
        );
        await place.api.create(CRDS, definition(plural, ["v1alpha1"]));
        try {
          const gizmos = cache.resource({ group: GROUP, version: "v1alpha1", resource: plural, namespace: place.namespace });
          const view = gizmos.view();
          view.subscribe(() => {});
          await eventually(() => gizmos.status.phase === "live", "life");
          const { spec } = definition(plural, ["v1alpha1", "v1"]);
          await place.api.patch(`${CRDS}/${plural}.${GROUP}`, { spec: { versions: spec.versions } });
          const path = `/apis/${GROUP}/v1/namespaces/${place.namespace}/${plural}`;
          await repeatedly(async () => (await place.api.get(path)).status === 200, "the new version");
          await place.api.create(path, { apiVersion: `${GROUP}/v1`, kind: "Gizmo", metadata: { name: "a" } });
          await eventually(() => view.rows.length === 1, "the object, in the version that is watched");
          assert.equal(view.rows[0].apiVersion, `${GROUP}/v1alpha1`);
          await repeatedly(async () => {
            const { resources } = await cache.discover({ refresh: true });
            return resources.filter(({ kind }) => kind === "Gizmo").length === 2;
          }, "both versions");
          const preferred = cache.resource({ kind: "Gizmo", namespace: place.namespace });
          assert.notEqual(preferred, gizmos, "the stable version is preferred");
          assert.equal(cache.resource("gi"), cache.resource(`${GROUP}/v1/${plural}`));
          assert.equal(cache.resource({ kind: "Gizmo", version: "v1alpha1", namespace: place.namespace }), gizmos);
          await preferred.synced();
          assert.equal(preferred.peek(`${place.namespace}/a`).apiVersion, `${GROUP}/v1`);
        } finally {
          await place.api.must("DELETE", `${CRDS}/${plural}.${GROUP}`);
        }
      }));
  });
}
