/**
 * The end-to-end suite against the embedded server while it serves from the package's own cache. It asks of this cache what
 * kube-apiserver's clients expect of theirs. Caches that watch the server are then caches behind a cache.
 */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "./cache-scenarios.mjs";
import { embeddedTarget } from "./embedded-target.mjs";
import { notEmbeddedTurn } from "./turn.mjs";
import { wireScenarios } from "./wire-scenarios.mjs";

describe("the embedded server, from its cache", { skip: notEmbeddedTurn("its cache") }, () => {
  /** @type {import("./target.mjs").Target} */
  let target;
  before(async () => {
    target = await embeddedTarget({ cache: true });
  });
  after(() => target?.stop());
  wireScenarios(() => target, { authorization: false });
  cacheScenarios(() => target, { authorization: false });
});
