/**
 * The end-to-end suite through a relay. It asks of the relay what kube-apiserver's clients expect of that. The caches of its scenarios are
 * caches behind a cache, and the disruptions happen on either side of the relay.
 */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { wireScenarios } from "../e2e/wire-scenarios.mjs";
import { relayTarget } from "./relay-target.mjs";
import { notItsTurn } from "../e2e/turn.mjs";

describe("a relay before the embedded server", { skip: notItsTurn("relay, embedded") }, () => {
  /** @type {import("../e2e/target.mjs").Target} */
  let target;
  before(async () => {
    target = await relayTarget();
  });
  after(() => target?.stop());
  // What is held goes out as it came.
  wireScenarios(() => target, { authorization: false, pretty: false });
  cacheScenarios(() => target, { authorization: false });
});
