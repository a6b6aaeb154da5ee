/** The end-to-end suite over the embedded server, where a worker holds the streams of the caches. */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "./cache-scenarios.mjs";
import { embeddedTarget } from "./embedded-target.mjs";
import { openShared } from "./shared.mjs";

describe("the embedded server, behind a worker", () => {
  /** @type {import("./target.mjs").Target} */
  let target;
  before(async () => {
    target = { ...(await embeddedTarget()), open: openShared };
  });
  after(() => target?.stop());
  cacheScenarios(() => target, { authorization: false });
});
