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

  it("while the store is full, or an object too large for it, a write says so and the stream goes on", async () => {
    const place = await Place.create(target);
    const auth = () => ({ token: target.token });
    const cache = createWatchCache({ server: target.url, auth, WebSocket: /** @type {any} */ (new Traffic(target.url).WebSocket) });
    const post = (/** @type {object} */ body) => alarm(target.cluster.etcdUrl, body);
    try {
      const pods = cache.resource({ version: "v1", resource: "pods", namespace: place.namespace });
      await pods.synced();
      const sized = (/** @type {string} */ name, /** @type {number} */ bytes) => {
        const { metadata, spec } = /** @type {any} */ (place.pod(name));
        const containers = [{ ...spec.containers[0], env: [{ name: "ALL", value: "x".repeat(bytes) }] }];
        return { metadata: { ...metadata, namespace: place.namespace }, spec: { ...spec, containers } };
      };
      const refused = (/** @type {string} */ name, /** @type {number} */ bytes) =>
        pods.create(sized(name, bytes)).then(
          () => assert.fail("it was written"),
          (/** @type {any} */ error) => [error.code, error.message],
        );
      await post({ action: "ACTIVATE", alarm: "NOSPACE", memberID: 0 });
      const [full, why] = await refused("no-space", 10);
      assert.equal(full, "unavailable", why);
      assert.match(why, /database space exceeded/);
      assert.equal(pods.status.phase, "live");
      await post({ action: "DEACTIVATE", alarm: "NOSPACE", memberID: 0 });
      await pods.create(sized("fits", 10));
      assert.ok(pods.peek(`${place.namespace}/fits`));
      // Within the apiserver's bound, and beyond that of etcd.
      const [inner, told] = await refused("too-large-for-etcd", 1_800_000);
      assert.equal(inner, "unavailable", told);
      assert.match(told, /request is too large/);
      // The last one: such a connection is closed amid the upload, also for whoever comes behind.
      const [code, words] = await refused("too-large", 4 << 20);
      assert.equal(code, "invalid");
      assert.match(words, /entity too large/);
    } finally {
      await post({ action: "DEACTIVATE", alarm: "NOSPACE", memberID: 0 });
      await cache.close();
    }
  });
});

/** Sets or clears an alarm of etcd. @param {string} etcdUrl @param {object} body */
async function alarm(etcdUrl, body) {
  const answer = await fetch(`${etcdUrl}/v3/maintenance/alarm`, { method: "POST", body: JSON.stringify(body) });
  assert.ok(answer.ok, await answer.text());
}

/** Creates a pod, however often it takes: an apiserver needs a moment to find its etcd again. @param {Place} place @param {string} name */
async function eventuallyCreated(place, name) {
  for (let attempt = 0; ; attempt++) {
    const answer = await place.api.request("POST", place.pods, { body: place.pod(name) });
    if (answer.status === 201 || answer.status === 409) return;
    assert.ok(attempt < 100, answer.text);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
