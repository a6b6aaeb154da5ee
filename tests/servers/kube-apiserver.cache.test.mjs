/** The package against kube-apiserver: the scenarios of the suite, and the trouble that only real servers make. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { createWatchCache } from "watchcache";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { Traffic, assertIntegrity, eventually } from "../e2e/cache.mjs";
import { Place } from "../e2e/target.mjs";
import { concurrently } from "../e2e/wire.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

describe("kube-apiserver", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  before(async () => {
    target = await kubeApiServerTarget();
  });
  after(() => target?.stop());

  cacheScenarios(() => target, { authorization: true, customResources: true });

  it("while etcd is away the rows stay; when it is back, so are the events", async () => {
    const place = await Place.create(target);
    await concurrently(10, (i) => place.create(`pod-${i}`));
    const traffic = new Traffic(target.url);
    const cache = createWatchCache({
      server: target.url,
      auth: () => ({ token: target.token }),
      fetch: traffic.fetch,
      WebSocket: /** @type {any} */ (traffic.WebSocket),
      retry: { initialMs: 50, capMs: 500 },
    });
    try {
      const pods = cache.resource({ version: "v1", resource: "pods", namespace: place.namespace });
      await pods.synced();
      await target.cluster.etcd.kill();
      const refused = await place.api.request("POST", place.pods, { body: place.pod("refused"), query: { timeout: "1s" } });
      assert.ok(refused.status >= 500, refused.text);
      assert.equal(pods.size, 10);
      await target.cluster.etcd.start();
      await eventuallyCreated(place, "late");
      await eventually(() => pods.peek(`${place.namespace}/late`), "the pod that was written afterwards");
      await assertIntegrity(pods, place.api, place.pods);
    } finally {
      await cache.close();
    }
  });
});

/** Creates a pod, however often it takes: an apiserver needs a moment to find its etcd again. @param {Place} place @param {string} name */
async function eventuallyCreated(place, name) {
  for (let attempt = 0; ; attempt++) {
    const answer = await place.api.request("POST", place.pods, { body: place.pod(name) });
    if (answer.status === 201 || answer.status === 409) return;
    assert.ok(attempt < 100, answer.text);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
