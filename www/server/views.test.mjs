// What is shown of objects beside the objects: tables, metadata alone, discovery in one document, and the questions about oneself.
import assert from "node:assert/strict";
import { test } from "node:test";
import { duration } from "./tables/age.mjs";
import { selectorText, TABLES } from "./tables/columns.mjs";
import { podCells } from "./tables/pods.mjs";
import { serverFor, testBoth } from "./testing.mjs";

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const at = new Date("2026-03-01T12:00:00Z");
const now = () => at.getTime();

test("ages have two units at most, and the smaller one only while it tells something", () => {
  const seconds = { minute: 60, hour: 3_600, day: 86_400, year: 31_536_000 };
  const { minute, hour, day, year } = seconds;
  for (const [given, text] of /** @type {[number, string][]} */ ([
    [-2, "<invalid>"],
    [-1, "0s"],
    [0, "0s"],
    [119, "119s"],
    [120, "2m"],
    [121, "2m1s"],
    [10 * minute + 5, "10m"],
    [179 * minute, "179m"],
    [180 * minute, "3h"],
    [7 * hour + 59 * minute, "7h59m"],
    [8 * hour + minute, "8h"],
    [47 * hour, "47h"],
    [48 * hour, "2d"],
    [49 * hour, "2d1h"],
    [8 * day + hour, "8d"],
    [729 * day, "729d"],
    [2 * year, "2y"],
    [2 * year + day, "2y1d"],
    [8 * year + 9 * day, "8y"],
  ]))
    assert.equal(duration(given * 1_000), text);
});

test("each table has a cell for each column", () => {
  for (const [resource, { columns, cells }] of Object.entries(TABLES))
    assert.equal(cells({ metadata: {} }, now()).length, columns.length, resource);
});

test("the word for a pod's state", () => {
  const container = (/** @type {any} */ state, more = {}) => ({ name: "main", restartCount: 0, state, ...more });
  const word = (/** @type {any} */ status, spec = {}, metadata = {}) =>
    podCells({ metadata, spec: { containers: [{ name: "main" }], ...spec }, status }, now()).slice(1, 4);
  const running = container({ running: {} }, { ready: true });
  assert.deepEqual(word({ phase: "Pending" }), ["0/1", "Pending", "0"]);
  assert.deepEqual(word({ phase: "Running", containerStatuses: [running] }), ["1/1", "Running", "0"]);
  assert.deepEqual(word({ phase: "Running", containerStatuses: [running] }, {}, { deletionTimestamp: "x" }), ["1/1", "Terminating", "0"]);
  assert.deepEqual(word({ phase: "Failed", reason: "Evicted" }), ["0/1", "Evicted", "0"]);
  const ended = { terminated: { finishedAt: "2026-03-01T11:00:00Z" } };
  assert.deepEqual(
    word({
      phase: "Running",
      containerStatuses: [container({ waiting: { reason: "CrashLoopBackOff" } }, { restartCount: 3, lastState: ended })],
    }),
    ["0/1", "CrashLoopBackOff", "3 (60m ago)"],
  );
  assert.deepEqual(word({ phase: "Failed", containerStatuses: [container({ terminated: { exitCode: 3 } })] }), ["0/1", "ExitCode:3", "0"]);
  const inits = { initContainers: [{ name: "first" }, { name: "side", restartPolicy: "Always" }] };
  assert.deepEqual(word({ phase: "Pending", initContainerStatuses: [container({ terminated: { signal: 9, exitCode: 137 } })] }, inits), [
    "0/2",
    "Init:Signal:9",
    "0",
  ]);
  const done = container({ terminated: { exitCode: 0 } }, { name: "first", restartCount: 2 });
  const side = container({ running: {} }, { name: "side", started: true, ready: true, restartCount: 1 });
  assert.deepEqual(word({ phase: "Running", initContainerStatuses: [done, side], containerStatuses: [running] }, inits), [
    "2/2",
    "Running",
    "1",
  ]);
  assert.deepEqual(word({ phase: "Pending", initContainerStatuses: [done, { ...side, started: false }] }, inits), ["0/2", "Init:1/2", "3"]);
});

test("a label selector as text", () => {
  assert.equal(selectorText(undefined), "<none>");
  const matchExpressions = [
    { key: "z", operator: "In", values: ["2", "1"] },
    { key: "c", operator: "DoesNotExist" },
    { key: "d", operator: "Exists" },
  ];
  assert.equal(selectorText({ matchLabels: { b: "1", a: "2" }, matchExpressions }), "a=2,b=1,!c,d,z in (1,2)");
});

testBoth("lists and objects as tables and as metadata alone, in pages too", async (t) => {
  const { api, createPod } = await serverFor(t);
  const whole = [await createPod("default", "a", { labels: { app: "web" } }), await createPod("default", "b")];
  const shown = async (/** @type {string} */ accept, /** @type {string} */ path) => (await api(path, { headers: { accept } })).body;
  const first = await shown(TABLE, "/api/v1/pods?limit=1");
  assert.deepEqual([first.kind, first.apiVersion, first.metadata.remainingItemCount], ["Table", "meta.k8s.io/v1", 1]);
  const second = await shown(TABLE, `/api/v1/pods?limit=1&continue=${first.metadata.continue}`);
  const rows = [...first.rows, ...second.rows];
  assert.deepEqual(
    rows.map(({ cells }) => cells.slice(0, 3)),
    [
      ["a", "0/1", "Pending"],
      ["b", "0/1", "Pending"],
    ],
  );
  const partial = whole.map(({ metadata }) => ({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata }));
  assert.deepEqual(
    rows.map(({ object }) => object),
    partial,
  );
  assert.deepEqual((await shown(LIST, "/api/v1/pods")).items, partial);
  assert.deepEqual((await shown(LIST, "/api/v1/pods?labelSelector=app")).items, partial.slice(0, 1));
  assert.deepEqual(await shown(METADATA, "/api/v1/namespaces/default/pods/b"), partial[1]);
  const one = await shown(TABLE, "/api/v1/namespaces/default/pods/b");
  assert.deepEqual([one.metadata.resourceVersion, one.rows[0].object], [whole[1].metadata.resourceVersion, partial[1]]);
  const includes = (/** @type {string} */ include) => shown(TABLE, `/api/v1/pods?includeObject=${include}`);
  assert.deepEqual((await includes("Object")).rows[1].object, whole[1]);
  assert.equal((await includes("None")).rows[1].object, null);
  assert.match((await includes("x")).message, /^Unable to convert to Table as requested: includeObject: Invalid value: "x"/);
  for (const [accept, path] of [
    [METADATA, "/api/v1/pods"],
    [LIST, "/api/v1/namespaces/default/pods/b"],
    ["application/json;as=Table;v=v1", "/api/v1/pods"],
  ])
    assert.equal((await shown(accept, path)).reason, "NotAcceptable", path);
  const deleted = await api("/api/v1/namespaces/default/pods/b", { method: "DELETE", headers: { accept: METADATA } });
  assert.deepEqual([deleted.body.kind, deleted.body.metadata.name], ["PartialObjectMetadata", "b"]);
});

test("discovery in one document, which is told apart from a new one by its tag", async (t) => {
  const { api } = await serverFor(t);
  const headers = { accept: `${AGGREGATED},application/json` };
  const [core, groups] = [await api("/api", { headers }), await api("/apis", { headers })];
  assert.equal(groups.headers.get("content-type"), AGGREGATED);
  assert.deepEqual([core.body.items.length, core.body.items[0].metadata], [1, {}]);
  const pods = core.body.items[0].versions[0].resources.find((/** @type {any} */ { resource }) => resource === "pods");
  assert.deepEqual([pods.scope, pods.responseKind.kind, pods.shortNames, pods.categories], ["Namespaced", "Pod", ["po"], ["all"]]);
  const apps = groups.body.items.find((/** @type {any} */ { metadata }) => metadata.name === "apps");
  // Both ways tell the same.
  const classic = (await api("/apis/apps/v1")).body.resources;
  const names = apps.versions[0].resources.flatMap((/** @type {any} */ { resource, subresources = [] }) => [
    resource,
    ...subresources.map((/** @type {any} */ part) => `${resource}/${part.subresource}`),
  ]);
  assert.deepEqual(
    classic.map((/** @type {any} */ { name }) => name),
    names,
  );
  const etag = groups.headers.get("etag") ?? "";
  assert.equal((await api("/apis", { headers: { ...headers, "if-none-match": etag } })).code, 304);
  assert.equal((await api("/apis", { headers: { ...headers, "if-none-match": '"other"' } })).code, 200);
  assert.equal((await api("/apis", { headers: { accept: AGGREGATED.replace("v=v2", "v=v2beta1") } })).code, 406);
  assert.equal((await api("/apis", { headers: { accept: "application/json" } })).body.kind, "APIGroupList");
});

test("who one is, and what one may", async (t) => {
  const { api } = await serverFor(t, { now });
  const ask = (/** @type {string} */ path, /** @type {unknown} */ json) => api(path, { method: "POST", json });
  const access = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const spec = { resourceAttributes: { verb: "list", resource: "pods" } };
  const allowed = await ask(access, { spec });
  assert.deepEqual([allowed.code, allowed.body.spec, allowed.body.status], [201, spec, { allowed: true }]);
  assert.equal((await ask(access, { spec: {} })).body.details.causes[0].field, "spec.resourceAttributes");
  assert.equal((await ask(access, { spec: { ...spec, nonResourceAttributes: {} } })).code, 422);
  assert.equal((await ask(access, { kind: "Pod", spec })).code, 400);
  assert.equal((await api(access)).code, 405);
  const rules = await ask("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: "default" } });
  assert.deepEqual(rules.body.status.resourceRules[0].verbs, ["*"]);
  const who = await ask("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
  assert.equal(who.body.status.userInfo.username, "admin");
  assert.equal((await api("/apis/authorization.k8s.io/v1/nothing")).body.reason, "NotFound");
});
