/** The wire-level scenarios against kube-apiserver: what it passes is what Kubernetes says. */
import { after, before, describe } from "node:test";
import { wireScenarios } from "../e2e/wire-scenarios.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

describe("kube-apiserver", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  before(async () => {
    target = await kubeApiServerTarget();
  });
  after(() => target?.stop());
  wireScenarios(() => target, { authorization: true });
});
