import assert from "node:assert/strict";
import { test } from "node:test";
import { serverFor } from "./testing.mjs";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

test("create_sets_what_belongs_to_the_server", async (t) => {
  const { api, control } = await serverFor(t);
  const { code, body } = await api(MAPS, { method: "POST", json: { metadata: { name: "a", uid: "mine" }, data: { k: "<&>" } } });
  assert.equal(code, 201);
  assert.equal(body.kind, "ConfigMap");
  assert.equal(body.metadata.namespace, "default");
  assert.notEqual(body.metadata.uid, "mine");
  assert.match(body.metadata.uid, /^[0-9a-f-]{36}$/);
  assert.match(body.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(body.metadata.resourceVersion, control.status().resourceVersion);
  assert.ok((await api(`${MAPS}/a?pretty=false`)).text.includes('"k":"\\u003c\\u0026\\u003e"'));
});

test("create_makes_a_name", async (t) => {
  const { api } = await serverFor(t);
  const names = new Set();
  for (let round = 0; round < 5; round += 1)
    names.add((await api(MAPS, { method: "POST", json: { metadata: { generateName: "gen-" } } })).body.metadata.name);
  assert.equal(names.size, 5);
  for (const name of names) assert.match(name, /^gen-[a-z0-9]{5}$/);
});

test("create_refuses", async (t) => {
  const { api } = await serverFor(t);
  await api(MAPS, { method: "POST", json: { metadata: { name: "a" } } });
  const refusal = async (/** @type {string} */ path, /** @type {unknown} */ json) => {
    const { code, body } = await api(path, { method: "POST", json });
    return [code, body.reason, body.message];
  };
  assert.deepEqual(await refusal(MAPS, { metadata: { name: "a" } }), [409, "AlreadyExists", 'configmaps "a" already exists']);
  assert.deepEqual(await refusal(MAPS, {}), [
    422,
    "Invalid",
    'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
  ]);
  assert.match(
    (await refusal(MAPS, { metadata: { name: "A_b" } }))[2],
    /^ConfigMap "A_b" is invalid: metadata\.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain/,
  );
  assert.deepEqual(await refusal(MAPS, { metadata: { name: "b", namespace: "other" } }), [
    400,
    "BadRequest",
    "the namespace of the provided object does not match the namespace sent on the request",
  ]);
  assert.deepEqual(await refusal("/api/v1/namespaces/none/configmaps", { metadata: { name: "b" } }), [
    404,
    "NotFound",
    'namespaces "none" not found',
  ]);
  assert.deepEqual(await refusal(MAPS, { metadata: { name: "b", resourceVersion: "3" } }), [
    500,
    undefined,
    "resourceVersion should not be set on objects to be created",
  ]);
  assert.equal((await refusal(MAPS, { kind: "Pod", apiVersion: "v1", metadata: { name: "b" } }))[0], 400);
  assert.equal((await refusal(MAPS, { apiVersion: "v2", metadata: { name: "b" } }))[0], 400);
  const text = await api(MAPS, { method: "POST", body: "metadata: {name: b}", headers: { "content-type": "text/plain" } });
  assert.deepEqual([text.code, text.body.reason], [415, "UnsupportedMediaType"]);
  const broken = await api(MAPS, { method: "POST", body: "{", headers: { "content-type": "application/json" } });
  assert.equal(broken.code, 400);
  const large = await api(MAPS, { method: "POST", json: { metadata: { name: "b" }, data: { k: "x".repeat(3 * 1024 * 1024) } } });
  assert.deepEqual([large.code, large.body.message], [413, "Request entity too large: limit is 3145728"]);
});

test("update_compares_versions", async (t) => {
  const { api } = await serverFor(t);
  const first = (await api(MAPS, { method: "POST", json: { metadata: { name: "a" }, data: { n: "1" } } })).body;
  const second = await api(`${MAPS}/a`, { method: "PUT", json: { ...first, data: { n: "2" } } });
  assert.equal(second.code, 200);
  assert.ok(Number(second.body.metadata.resourceVersion) > Number(first.metadata.resourceVersion));
  const stale = await api(`${MAPS}/a`, { method: "PUT", json: { ...first, data: { n: "3" } } });
  assert.equal(stale.code, 409);
  assert.deepEqual(stale.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `Operation cannot be fulfilled on configmaps "a": ${MODIFIED}`,
    reason: "Conflict",
    details: { name: "a", kind: "configmaps" },
    code: 409,
  });
  const unconditional = await api(`${MAPS}/a`, { method: "PUT", json: { metadata: { name: "a" }, data: { n: "4" } } });
  assert.equal(unconditional.body.data.n, "4");
  assert.equal(unconditional.body.metadata.uid, first.metadata.uid);
  assert.equal((await api(`${MAPS}/b`, { method: "PUT", json: { metadata: { name: "b" } } })).code, 404);
  assert.equal(
    (await api(`${MAPS}/b`, { method: "PUT", json: { metadata: { name: "a" } } })).body.message,
    "the name of the object (a) does not match the name on the URL (b)",
  );
  const stranger = await api(`${MAPS}/a`, { method: "PUT", json: { metadata: { name: "a", uid: "other" } } });
  assert.equal(
    stranger.body.message,
    `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${first.metadata.uid}`,
  );
});

test("a_write_that_changes_nothing_makes_no_version", async (t) => {
  const { api, control } = await serverFor(t);
  const made = (await api(MAPS, { method: "POST", json: { metadata: { name: "a" }, data: { n: "1" } } })).body;
  const before = control.status().resourceVersion;
  assert.equal((await api(`${MAPS}/a`, { method: "PUT", json: made })).body.metadata.resourceVersion, before);
  assert.equal(
    (await api(`${MAPS}/a`, { method: "PATCH", headers: { "content-type": "application/merge-patch+json" }, body: '{"data":{"n":"1"}}' }))
      .body.metadata.resourceVersion,
    before,
  );
  assert.equal(control.status().resourceVersion, before);
});

test("patches_of_three_kinds", async (t) => {
  const { api } = await serverFor(t);
  const made = (
    await api(MAPS, { method: "POST", json: { metadata: { name: "a", labels: { "x/y": "1", keep: "1" } }, data: { n: "1", m: "1" } } })
  ).body;
  const patch = (/** @type {string} */ type, /** @type {unknown} */ body) =>
    api(`${MAPS}/a`, { method: "PATCH", headers: { "content-type": `application/${type}` }, body: JSON.stringify(body) });
  assert.deepEqual((await patch("merge-patch+json", { data: { n: null, o: "2" } })).body.data, { m: "1", o: "2" });
  assert.deepEqual((await patch("strategic-merge-patch+json", { metadata: { labels: { keep: null } } })).body.metadata.labels, {
    "x/y": "1",
  });
  const operations = [
    { op: "test", path: "/data/m", value: "1" },
    { op: "replace", path: "/metadata/labels/x~1y", value: "2" },
    { op: "add", path: "/data/p", value: "3" },
    { op: "move", from: "/data/o", path: "/data/q" },
    { op: "copy", from: "/data/p", path: "/data/r" },
    { op: "remove", path: "/data/m" },
  ];
  const json = (await patch("json-patch+json", operations)).body;
  assert.deepEqual(json.data, { p: "3", q: "2", r: "3" });
  assert.deepEqual(json.metadata.labels, { "x/y": "2" });
  assert.equal((await patch("json-patch+json", [{ op: "test", path: "/data/p", value: "no" }])).code, 422);
  assert.equal((await patch("json-patch+json", [{ op: "remove", path: "/data/none" }])).code, 422);
  assert.equal((await patch("json-patch+json", { op: "remove" })).code, 400);
  const finalizers = { metadata: { finalizers: ["a.b/c"] } };
  assert.equal((await patch("merge-patch+json", finalizers)).code, 200);
  for (const place of ["0x0", "01", " 0", ""])
    assert.equal((await patch("json-patch+json", [{ op: "add", path: `/metadata/finalizers/${place}`, value: "d.e/f" }])).code, 422, place);
  assert.equal((await patch("merge-patch+json", { metadata: { resourceVersion: made.metadata.resourceVersion } })).code, 409);
  assert.equal((await patch("merge-patch+json", { metadata: { name: "b" } })).code, 400);
  assert.equal((await patch("apply-patch+cbor", {})).code, 415);
  const hostile = (/** @type {string} */ data) =>
    api(`${MAPS}/a`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: `{"data":{"__proto__":${data}}}`,
    });
  assert.equal((await hostile('{"polluted":"yes"}')).code, 422);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
  assert.match((await hostile('"yes"')).text, /"__proto__": ?"yes"/);
});

test("an_apply_needs_its_manager_and_makes_what_is_missing", async (t) => {
  const { api } = await serverFor(t);
  const apply = (/** @type {string} */ query, /** @type {any} */ data) =>
    api(`${MAPS}/a${query}`, {
      method: "PATCH",
      headers: { "content-type": "application/apply-patch+yaml" },
      body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data }),
    });
  const refused = await apply("", {});
  assert.deepEqual(
    [refused.code, refused.body.message],
    [422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'],
  );
  const managers = (/** @type {any} */ { metadata }) => metadata.managedFields.map((/** @type {any} */ { manager }) => manager);
  const made = await apply("?fieldManager=me", { n: "1" });
  assert.deepEqual([made.code, made.body.data, managers(made.body)], [201, { n: "1" }, ["me"]]);
  const merged = await apply("?fieldManager=you&force=true", { m: "1" });
  assert.deepEqual([merged.body.data, managers(merged.body)], [{ m: "1", n: "1" }, ["me", "you"]]);
});

test("a_dry_run_answers_and_keeps_nothing", async (t) => {
  const { api, control } = await serverFor(t);
  const map = (await api(MAPS, { method: "POST", json: { metadata: { name: "a" }, data: { n: "1" } } })).body;
  const before = control.status().resourceVersion;
  const body = JSON.stringify({ data: { n: "2" } });
  const patched = await api(`${MAPS}/a?dryRun=All`, { method: "PATCH", headers: { "content-type": "application/merge-patch+json" }, body });
  assert.deepEqual([patched.body.data.n, patched.body.metadata.resourceVersion], ["2", map.metadata.resourceVersion]);
  const created = await api(`${MAPS}?dryRun=All`, { method: "POST", json: { metadata: { name: "b" } } });
  assert.deepEqual([created.code, created.body.metadata.name, created.body.metadata.resourceVersion], [201, "b", undefined]);
  assert.equal((await api(`${MAPS}/a?dryRun=All`, { method: "PUT", json: { ...map, data: {} } })).code, 200);
  assert.equal((await api(`${MAPS}/a?dryRun=All`, { method: "DELETE" })).code, 200);
  assert.equal((await api(`${MAPS}/a`, { method: "DELETE", json: { dryRun: ["All"] } })).code, 200);
  assert.equal((await api(`${MAPS}?dryRun=All`, { method: "DELETE" })).body.items.length, 1);
  assert.equal(control.status().resourceVersion, before);
  assert.deepEqual((await api(`${MAPS}/a`)).body, map);
  assert.equal(
    (await api(`${MAPS}/a`, { method: "DELETE", json: { dryRun: "All" } })).code,
    400,
    "what is no list of stages deletes nothing",
  );
  const wrong = await api(`${MAPS}/a?dryRun=Some`, { method: "DELETE" });
  assert.equal(wrong.code, 422);
  assert.match(wrong.body.message, /dryRun: Unsupported value: "Some": supported values: "All"$/);
});

test("what_a_list_would_hold_is_deleted_together", async (t) => {
  const { api, createPod } = await serverFor(t);
  for (const [namespace, name, app] of [
    ["default", "a", "web"],
    ["default", "b", "db"],
    ["other", "c", "web"],
  ])
    await createPod(namespace, name, { labels: { app } });
  const deleted = await api("/api/v1/namespaces/default/pods?labelSelector=app%3Dweb", { method: "DELETE" });
  const names = (/** @type {any} */ { body }) => body.items.map((/** @type {any} */ { metadata }) => metadata.name);
  assert.deepEqual([deleted.body.kind, names(deleted)], ["PodList", ["a"]]);
  assert.deepEqual(names(await api("/api/v1/pods")), ["b", "c"]);
});

test("status_is_written_by_its_own_path", async (t) => {
  const { api, createPod } = await serverFor(t);
  const pod = await createPod("default", "p");
  assert.equal(pod.status.phase, "Pending");
  assert.equal(pod.metadata.generation, 1);
  const path = "/api/v1/namespaces/default/pods/p";
  const patch = (/** @type {string} */ to, /** @type {unknown} */ body) =>
    api(to, { method: "PATCH", headers: { "content-type": "application/merge-patch+json" }, body: JSON.stringify(body) });
  const running = (await patch(`${path}/status`, { spec: { nodeName: "ignored" }, status: { phase: "Running" } })).body;
  assert.equal(running.status.phase, "Running");
  assert.equal(running.spec.nodeName, undefined);
  const assigned = (await patch(path, { spec: { nodeName: "node-1" }, status: { phase: "Failed" } })).body;
  assert.equal(assigned.status.phase, "Running");
  assert.equal(assigned.spec.nodeName, "node-1");
  assert.equal(assigned.metadata.generation, 2);
  const put = await api(`${path}/status`, { method: "PUT", json: { ...assigned, status: { phase: "Succeeded" } } });
  assert.equal(put.body.status.phase, "Succeeded");
  assert.equal((await api(`${path}/log`)).code, 404);
});

test("delete_answers_and_its_preconditions", async (t) => {
  const { api, createPod } = await serverFor(t);
  const map = (await api(MAPS, { method: "POST", json: { metadata: { name: "a" } } })).body;
  const remove = (/** @type {string} */ path, /** @type {unknown} */ json) => api(path, { method: "DELETE", json });
  const wrong = await remove(`${MAPS}/a`, { preconditions: { uid: "other" } });
  assert.equal(wrong.code, 409);
  assert.equal(
    wrong.body.message,
    `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${map.metadata.uid}). The object might have been deleted and then recreated`,
  );
  assert.equal((await remove(`${MAPS}/a`, { preconditions: { resourceVersion: "1" } })).code, 409);
  const done = await remove(`${MAPS}/a`, {
    preconditions: { uid: map.metadata.uid, resourceVersion: map.metadata.resourceVersion },
    gracePeriodSeconds: 0,
  });
  assert.deepEqual(done.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", kind: "configmaps", uid: map.metadata.uid },
  });
  assert.equal((await remove(`${MAPS}/a`, undefined)).code, 404);
  await createPod("default", "p");
  assert.equal((await remove("/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0", undefined)).body.kind, "Pod");
  await createPod("gone", "p");
  assert.equal((await remove("/api/v1/namespaces/gone", undefined)).code, 200);
  assert.deepEqual((await api("/api/v1/pods")).body.items, []);
});

test("paths_and_verbs_that_do_not_exist", async (t) => {
  const { api } = await serverFor(t);
  for (const path of ["/api/v1/nothing", "/api/v1/namespaces/default/nodes", "/apis/apps/v2/deployments"]) {
    const { code, body } = await api(path);
    assert.deepEqual([code, body.message, body.details], [404, "the server could not find the requested resource", {}], path);
  }
  for (const path of ["/apis/none.example/v1/things", "/none"])
    assert.deepEqual([(await api(path)).code, (await api(path)).text], [404, "404 page not found\n"]);
  assert.equal((await api("/api/v1/pods/%")).code, 400);
  assert.equal((await api(MAPS, { method: "PUT", json: {} })).code, 405);
  assert.equal((await api("/api/v1/configmaps", { method: "DELETE" })).body.reason, "MethodNotAllowed");
});

test("discovery_names_what_is_there", async (t) => {
  const { api } = await serverFor(t);
  assert.deepEqual((await api("/api")).body.versions, ["v1"]);
  assert.deepEqual(
    (await api("/apis")).body.groups.map((/** @type {any} */ group) => group.name),
    ["apps", "authentication.k8s.io", "authorization.k8s.io"],
  );
  const core = (await api("/api/v1")).body.resources.map((/** @type {any} */ resource) => resource.name);
  for (const name of ["pods", "pods/status", "nodes", "events", "namespaces", "configmaps", "services"])
    assert.ok(core.includes(name), name);
  const { resources } = (await api("/apis/apps/v1")).body;
  assert.deepEqual(resources.find((/** @type {any} */ { name }) => name === "deployments").shortNames, ["deploy"]);
  assert.equal((await api("/version")).body.minor, "36");
  for (const probe of ["/healthz", "/livez", "/readyz"]) assert.equal((await api(probe)).text, "ok");
});
