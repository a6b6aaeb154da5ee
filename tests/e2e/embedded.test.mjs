/** The end-to-end suite against the embedded server. `npm run test:servers` runs the same against kube-apiserver. */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "./cache-scenarios.mjs";
import { embeddedTarget } from "./embedded-target.mjs";
import { notEmbeddedTurn } from "./turn.mjs";
import { wireScenarios } from "./wire-scenarios.mjs";

describe("the embedded server", { skip: notEmbeddedTurn("its objects") }, () => {
  /** @type {import("./target.mjs").Target} */
  let target;
  before(async () => {
    target = await embeddedTarget();
  });
  after(() => target?.stop());
  wireScenarios(() => target, { authorization: false });
  cacheScenarios(() => target, { authorization: false });
});
