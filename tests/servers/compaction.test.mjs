/**
 * Compaction as such: a kube-apiserver without its watch cache answers from etcd, so history is gone the moment etcd
 * compacts, with no restart between.
 */
import { after, before, describe } from "node:test";
import { historyScenarios } from "../e2e/cache/history.mjs";
import { troubleScenarios } from "../e2e/wire/trouble.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

describe("kube-apiserver without its watch cache", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  before(async () => {
    target = await kubeApiServerTarget({ watchCache: false });
  });
  after(() => target?.stop());
  troubleScenarios(() => target);
  historyScenarios(() => target);
});
