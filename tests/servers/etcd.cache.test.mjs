/** The end-to-end suite of the package against real etcd, by `watchcache/etcd`: the scenarios that have a meaning there. */
import { after, before, describe } from "node:test";
import { init } from "watchcache";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { declarePlaced } from "../e2e/cache/declare.mjs";
import { PLACES } from "./etcd-places.mjs";
import { etcdTarget } from "./etcd-target.mjs";

describe("etcd", () => {
  /** @type {import("../e2e/target.mjs").Target} */
  let target;
  before(async () => {
    await init();
    target = await etcdTarget();
  });
  after(() => target?.stop());
  declarePlaced(PLACES, () => cacheScenarios(() => target, { authorization: true, customResources: true }));
});
