/** The package against kube-apiserver, where a worker holds the streams of the caches. */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { openShared } from "../e2e/shared.mjs";
import { notItsTurn } from "../e2e/turn.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

describe("kube-apiserver, behind a worker", { skip: notItsTurn("worker, real") }, () => {
  /** @type {import("../e2e/target.mjs").Target} */
  let target;
  before(async () => {
    target = { ...(await kubeApiServerTarget()), open: openShared };
  });
  after(() => target?.stop());
  cacheScenarios(() => target, { authorization: true, customResources: true });
});
