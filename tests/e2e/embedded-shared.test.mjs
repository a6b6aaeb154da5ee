/** The end-to-end suite over the embedded server, where a worker holds the streams of the caches. */
import { after, before, describe } from "node:test";
import { cacheScenarios } from "./cache-scenarios.mjs";
import { embeddedTarget } from "./embedded-target.mjs";
import { openerOf } from "./shared.mjs";
import { MODES_DUE, notEmbeddedTurn } from "./turn.mjs";

for (const mode of MODES_DUE) {
  describe(`the embedded server, behind a worker of the mode ${mode}`, { skip: notEmbeddedTurn("its objects, behind a worker") }, () => {
    /** @type {import("./target.mjs").Target} */
    let target;
    before(async () => {
      target = { ...(await embeddedTarget()), open: openerOf(mode) };
    });
    after(() => target?.stop());
    cacheScenarios(() => target, { authorization: false });
  });
}
