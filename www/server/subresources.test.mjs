import assert from "node:assert/strict";
import { test } from "node:test";
import { serverFor } from "./testing.mjs";

const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const PODS = "/api/v1/namespaces/default/pods";

/** @param {import("node:test").TestContext} t */
async function deployed(t) {
  const server = await serverFor(t);
  const labels = { app: "web" };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } };
  const { body } = await server.api(DEPLOYMENTS, { method: "POST", json: { metadata: { name: "web" }, spec } });
  return { ...server, deployment: body };
}

test("a_scale_is_read_replaced_and_patched", async (t) => {
  const { api, deployment } = await deployed(t);
  const scale = (await api(`${DEPLOYMENTS}/web/scale`)).body;
  const { uid, resourceVersion } = deployment.metadata;
  assert.deepEqual(
    [scale.kind, scale.apiVersion, scale.metadata.uid, scale.metadata.resourceVersion],
    ["Scale", "autoscaling/v1", uid, resourceVersion],
  );
  assert.deepEqual([scale.spec, scale.status], [{ replicas: 2 }, { replicas: 0, selector: "app=web" }]);

  const larger = await api(`${DEPLOYMENTS}/web/scale`, { method: "PUT", json: { ...scale, spec: { replicas: 5 } } });
  assert.deepEqual([larger.body.kind, larger.body.spec.replicas], ["Scale", 5]);
  assert.equal((await api(`${DEPLOYMENTS}/web/scale`, { method: "PUT", json: scale })).body.reason, "Conflict");

  const headers = { "content-type": "application/merge-patch+json" };
  const patched = await api(`${DEPLOYMENTS}/web/scale`, { method: "PATCH", headers, body: '{"spec":{"replicas":3}}' });
  assert.equal(patched.body.spec.replicas, 3);
  const { spec, metadata } = (await api(`${DEPLOYMENTS}/web`)).body;
  assert.deepEqual(
    [spec.replicas, spec.selector, metadata.resourceVersion],
    [3, deployment.spec.selector, patched.body.metadata.resourceVersion],
  );
});

test("a_scale_that_cannot_be_meant_is_refused", async (t) => {
  const { api } = await deployed(t);
  const scale = (await api(`${DEPLOYMENTS}/web/scale`)).body;
  const refused = await api(`${DEPLOYMENTS}/web/scale`, { method: "PUT", json: { ...scale, spec: { replicas: -1 } } });
  assert.deepEqual([refused.code, refused.body.details.causes[0].field], [422, "spec.replicas"]);
  assert.equal((await api(`${PODS}/web/scale`)).code, 404);
  for (const json of [{}, null, 5, [], { ...scale, kind: "Pod" }, { ...scale, metadata: { name: "other" } }])
    assert.equal((await api(`${DEPLOYMENTS}/web/scale`, { method: "PUT", json })).code, 400, JSON.stringify(json));
  const headers = { "content-type": "application/json-patch+json" };
  const body = '[{"op":"replace","path":"","value":null}]';
  assert.equal((await api(`${DEPLOYMENTS}/web/scale`, { method: "PATCH", headers, body })).code, 422);
  assert.equal((await api(`${DEPLOYMENTS}/web`)).body.spec.replicas, 2);
});

test("an_eviction_deletes_its_pod", async (t) => {
  const { api, createPod } = await serverFor(t);
  await createPod("default", "p");
  const evict = (/** @type {string} */ name, query = "") =>
    api(`${PODS}/p/eviction${query}`, { method: "POST", json: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } } });
  assert.deepEqual([(await evict("other")).code, (await api(`${PODS}/p/eviction`)).code], [400, 405]);
  assert.equal((await evict("p", "?dryRun=All")).code, 201);
  assert.equal((await api(`${PODS}/p`)).code, 200);
  assert.deepEqual((await evict("p")).body, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 });
  assert.deepEqual([(await api(`${PODS}/p`)).code, (await evict("p")).code], [404, 404]);
});
