/**
 * Resources of parts: only the metadata of objects, or rows as `kubectl get` shows them.
 * @module
 */
import assert from "node:assert/strict";
import { describe, it } from "./declare.mjs";
import { WatchCacheError } from "watchcache";
import { eventually } from "../cache.mjs";
import { withCache } from "./setup.mjs";

const seed = async (/** @type {import("../target.mjs").Place} */ place) => {
  await place.create("a", { labels: { app: "web" } });
  await place.create("b", { labels: { app: "db" } });
};

/** A host's fetch without the header that asks for a part, as a proxy that drops it. @type {typeof fetch} */
const deaf = (address, init) => {
  const headers = new Headers(init?.headers);
  headers.set("accept", "application/json");
  return fetch(address, { ...init, headers });
};

/** @param {() => import("../target.mjs").Target} getTarget called when a scenario runs */
export function partScenarios(getTarget) {
  describe("a part of each object", () => {
    for (const as of /** @type {const} */ (["PartialObjectMetadata", "Table"])) {
      it(`as ${as}: it comes, changes, is written and goes`, () =>
        withCache(
          getTarget(),
          async ({ place, pods }) => {
            await pods.synced();
            const key = (/** @type {string} */ name) => `${place.namespace}/${name}`;
            assert.deepEqual(
              pods.byIndex("namespace", place.namespace).map((/** @type {any} */ pod) => [pod.metadata.name, pod.kind, pod.spec]),
              [
                ["a", "PartialObjectMetadata", undefined],
                ["b", "PartialObjectMetadata", undefined],
              ],
            );
            assert.deepEqual(
              pods.view({ labelSelector: "app=web" }).rows.map((/** @type {any} */ pod) => pod.metadata.name),
              ["a"],
            );
            /** @type {string[]} */
            const told = [];
            const watch = pods.watch({ resourceVersion: pods.resourceVersion });
            const listening = (async () => {
              for await (const { type, object } of watch) told.push(`${type} ${object.metadata.name} ${object.kind} ${object.spec}`);
            })();

            await place.create("c");
            await eventually(() => pods.peek(key("c")), "the pod that somebody else created");
            const created = await pods.create(place.pod("d"));
            assert.equal(created, pods.peek(key("d")), "the very part that is held");
            const patched = await pods.patch(key("d"), { metadata: { labels: { app: "web" } } }, { type: "merge" });
            assert.equal(patched, pods.peek(key("d")));
            assert.deepEqual(patched.metadata.labels, { app: "web" });
            assert.equal(await pods.get(key("d")), patched);
            await pods.delete(key("d"), { gracePeriodSeconds: 0 });
            assert.equal(pods.peek(key("d")), undefined);
            const part = "PartialObjectMetadata undefined";
            await eventually(() => told.at(-1) === `DELETED d ${part}`, "the deletion");
            // A server may change a pod once more while it deletes it.
            assert.deepEqual([...new Set(told)], [`ADDED c ${part}`, `ADDED d ${part}`, `MODIFIED d ${part}`, `DELETED d ${part}`]);
            watch.stop();
            await listening;

            await pods.refresh();
            assert.equal(pods.size, 3);
          },
          { seed, spec: { as } },
        ));

      it(`as ${as}: what is a part is not written whole`, () =>
        withCache(
          getTarget(),
          async ({ place, pods }) => {
            await pods.synced();
            await assert.rejects(
              pods.update(`${place.namespace}/a`, (/** @type {any} */ pod) => pod),
              (error) => error instanceof WatchCacheError && error.code === "invalid" && /without `as`/.test(error.message),
            );
            assert.equal((await place.api.must("GET", `${place.pods}/a`)).spec.containers.length, 1);
          },
          { seed, spec: { as } },
        ));

      it(`as ${as}: a server that answers with whole objects is told from one that makes parts`, () =>
        withCache(
          getTarget(),
          async ({ pods }) => {
            void pods.synced().catch(() => {});
            await eventually(() => pods.status.error !== undefined, "an error");
            assert.equal(pods.status.error.code, "protocol");
            assert.match(
              pods.status.error.message,
              as === "Table" ? /answered with a PodList/ : /a Pod where objects are of the kind Partial/,
            );
            assert.equal(pods.size, 0);
          },
          { seed, spec: { as }, options: { fetch: deaf } },
        ));
    }

    it("as Table: cells stand under their columns, and views select and order by them", () =>
      withCache(
        getTarget(),
        async ({ place, cache, pods, spec }) => {
          assert.equal(pods.columns, undefined, "not known yet");
          await pods.synced();
          const names = pods.columns.map((/** @type {any} */ column) => column.name);
          assert.deepEqual(names.slice(0, 5), ["Name", "Ready", "Status", "Restarts", "Age"]);
          assert.equal(pods.columns, pods.columns, "the same array");
          assert.ok(Object.isFrozen(pods.columns));
          const row = pods.peek(`${place.namespace}/a`);
          assert.equal(row.cells.length, names.length);
          assert.deepEqual(row.cells.slice(0, 2), ["a", "0/1"]);
          const view = pods.view({ orderBy: [{ path: "cells[0]", descending: true }], select: { name: "cells[0]", ready: "cells[1]" } });
          assert.deepEqual(
            view.rows.map((/** @type {any} */ shown) => [shown.name, shown.ready]),
            [
              ["b", "0/1"],
              ["a", "0/1"],
            ],
          );
          view.close();
          const whole = cache.resource({ ...spec, as: undefined });
          assert.notEqual(whole, pods, "another resource");
          await whole.synced();
          assert.equal(whole.columns, undefined);
          assert.equal(whole.peek(`${place.namespace}/a`).spec.containers.length, 1);
        },
        { seed, spec: { as: "Table" } },
      ));
  });
}
