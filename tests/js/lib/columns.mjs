// Views with derived columns, over an upstream in memory.
import assert from "node:assert/strict";

import { createWatchCache } from "../../../dist/node.js";
import { memorySource } from "../../../dist/memory/index.js";

/** A pod of so many ready containers. What beats is in no column. */
export const pod = (name, ready, total = 2, more = {}) => ({
  metadata: { namespace: "a", name },
  status: { phase: "Running", beat: 0, containers: Array.from({ length: total }, (_, i) => ({ ready: i < ready })), ...more },
});

/** A resource over an upstream in memory, with a view that derives. What is reported is kept. */
export async function opened(t, objects, spec, options = {}) {
  const source = memorySource({ objects, kind: "Pod" });
  const cache = createWatchCache({ flush: "microtask", ...options });
  const errors = [];
  const report = globalThis.reportError;
  globalThis.reportError = (error) => errors.push(error);
  t.after(() => {
    globalThis.reportError = report;
    return cache.close();
  });
  const resource = cache.resource({ source, id: "pods" });
  const view = resource.view(spec);
  let told = 0;
  view.subscribe(() => told++);
  await resource.synced();
  await settled();
  return { source, cache, resource, view, errors, told: () => told };
}

export const settled = () => new Promise((resolve) => setTimeout(resolve, 25));

export async function until(holds) {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 200, `never: ${holds}`);
    await settled();
  }
}
