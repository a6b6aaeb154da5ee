/** The package against kube-apiserver, where a worker holds the streams of the caches. */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { openerOf } from "../e2e/shared.mjs";
import { MODES_DUE, notItsTurn } from "../e2e/turn.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

for (const mode of MODES_DUE) {
  describe(`kube-apiserver, behind a worker of the mode ${mode}`, { skip: notItsTurn("worker, real") }, () => {
    /** @type {import("../e2e/target.mjs").Target} */
    let target;
    before(async () => {
      target = { ...(await kubeApiServerTarget()), open: openerOf(mode) };
    });
    after(() => target?.stop());
    cacheScenarios(() => target, { authorization: true, customResources: true });
  });
}
