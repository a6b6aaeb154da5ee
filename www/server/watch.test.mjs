import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brief, openStream, serverFor, testBoth } from "./testing.mjs";

const LIVE = ["ADDED default/pod-4", "ADDED default/pod-5"];
const STATE = ["ADDED default/pod-1", "ADDED default/pod-2", "ADDED default/pod-3"];

/** Three pods; `first` and `current` are the versions of the first and of the last. @param {import("node:test").TestContext} t */
async function threePods(t) {
  const server = await serverFor(t);
  const versions = [];
  for (const name of ["pod-1", "pod-2", "pod-3"]) versions.push((await server.createPod("default", name)).metadata.resourceVersion);
  return { ...server, first: versions[0], current: versions[2] };
}

// [case, allowWatchBookmarks, sendInitialEvents, resourceVersion, state first?, end bookmark?]
for (const [
  id,
  bookmarks,
  initial,
  version,
  state,
  end,
] of /** @type {[string, boolean, boolean | undefined, string, boolean | "history", boolean][]} */ ([
  ["wat_05", true, true, "unset", true, true],
  ["wat_06", true, false, "unset", false, false],
  ["wat_07", false, false, "unset", false, false],
  ["wat_08", false, true, "unset", true, false],
  ["wat_09", true, true, "0", true, true],
  ["wat_10", true, false, "0", false, false],
  ["wat_11", false, false, "0", false, false],
  ["wat_12", false, true, "0", true, false],
  ["wat_13", true, true, "1", true, true],
  ["wat_14", true, false, "1", "history", false],
  ["wat_15", false, false, "1", "history", false],
  ["wat_16", false, true, "1", true, false],
  ["wat_17", true, true, "current", true, true],
  ["wat_18", true, false, "current", false, false],
  ["wat_19", false, false, "current", false, false],
  ["wat_20", false, true, "current", true, false],
  ["wat_21", false, undefined, "0", true, false],
  ["wat_22", false, undefined, "unset", true, false],
])) {
  testBoth(`${id}_bookmarks_${bookmarks}_initial_${initial}_version_${version}`, async (t) => {
    const { watch, createPod, first, current } = await threePods(t);
    const query = new URLSearchParams({ watch: "1" });
    if (bookmarks) query.set("allowWatchBookmarks", "true");
    if (initial !== undefined) {
      query.set("sendInitialEvents", String(initial));
      query.set("resourceVersionMatch", "NotOlderThan");
    }
    // In the rows, 1 is the version before the first pod: the window reaches back that far.
    if (version !== "unset")
      query.set("resourceVersion", version === "1" ? String(Number(first) - 1) : version === "current" ? current : version);
    const client = await watch(`/api/v1/pods?${query}`);
    const expected = [...(state ? STATE : []), ...(end ? ["BOOKMARK end"] : [])];
    const before = [];
    for (let left = expected.length; left > 0; left -= 1) before.push(await client.next());
    assert.deepEqual(before.map(brief), expected);
    const bookmark = before.find((event) => event.type === "BOOKMARK");
    if (bookmark) assert.ok(Number(bookmark.object.metadata.resourceVersion) >= Number(current));
    await createPod("default", "pod-4");
    await createPod("default", "pod-5");
    assert.deepEqual(await client.nextBrief(2), LIVE);
    assert.equal(client.events.length, expected.length + 2);
  });
}

testBoth("wat_01_the_edge_of_an_empty_window", async (t) => {
  const { watch, control, createPod } = await threePods(t);
  control.fault("expire");
  const version = Number(control.status().resourceVersion);
  const expired = await watch(`/api/v1/pods?watch=1&resourceVersion=${version - 1}`);
  const error = await expired.next();
  assert.deepEqual(error, {
    type: "ERROR",
    object: {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `too old resource version: ${version - 1} (${version})`,
      reason: "Expired",
      code: 410,
    },
  });
  assert.equal((await expired.ended).code, 1000);
  const at = await watch(`/api/v1/pods?watch=1&resourceVersion=${version}`);
  const ahead = await watch(`/api/v1/pods?watch=1&resourceVersion=${version + 1}`);
  await createPod("default", "next");
  await createPod("default", "after");
  assert.deepEqual(await at.nextBrief(2), ["ADDED default/next", "ADDED default/after"]);
  // What happened up to the version asked for is known to whoever asks for it.
  assert.deepEqual(await ahead.nextBrief(1), ["ADDED default/after"]);
});

testBoth("win_04_a_full_window_forgets_its_oldest_events", async (t) => {
  const { watch, createPod, control } = await serverFor(t, { history: 3 });
  const base = Number(control.status().resourceVersion);
  for (const name of ["a", "b", "c", "d", "e"]) await createPod("default", name);
  const tooOld = await watch(`/api/v1/pods?watch=1&resourceVersion=${base + 1}`);
  assert.equal(brief(await tooOld.next()), `ERROR Expired: too old resource version: ${base + 1} (${base + 2})`);
  const kept = await watch(`/api/v1/pods?watch=1&resourceVersion=${base + 2}`);
  assert.deepEqual(await kept.nextBrief(3), ["ADDED default/c", "ADDED default/d", "ADDED default/e"]);
});

testBoth("wat_24_a_single_name_and_the_end_bookmark", async (t) => {
  const { watch, current, control } = await threePods(t);
  const client = await watch(
    "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&fieldSelector=metadata.name%3Dpod-1",
  );
  assert.equal(brief(await client.next()), "ADDED default/pod-1");
  const bookmark = await client.next();
  assert.deepEqual(bookmark, {
    type: "BOOKMARK",
    object: {
      kind: "Pod",
      apiVersion: "v1",
      metadata: { resourceVersion: control.status().resourceVersion, annotations: { "k8s.io/initial-events-end": "true" } },
      spec: { containers: null },
      status: {},
    },
  });
  assert.ok(Number(bookmark.object.metadata.resourceVersion) >= Number(current));
});

testBoth("wat_28_initial_events_of_a_version_ahead", async (t) => {
  const { watch, createPod, control } = await threePods(t);
  const version = Number(control.status().resourceVersion);
  const query = `watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${version + 1}`;
  const early = await watch(`/api/v1/pods?${query}`);
  const error = await early.next();
  assert.equal(error.object.code, 504);
  assert.equal(error.object.reason, "Timeout");
  assert.equal(error.object.message, `Timeout: Too large resource version: ${version + 1}, current: ${version}`);
  assert.deepEqual(error.object.details, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
  await early.ended;
  const inTime = await watch(`/api/v1/pods?${query}`);
  await createPod("default", "pod-4");
  assert.deepEqual(await inTime.nextBrief(4), [...STATE, "ADDED default/pod-4"]);
});

testBoth("wat_30_a_deletion_carries_its_own_version", async (t) => {
  const { watch, api, first, control } = await threePods(t);
  const client = await watch(
    `/api/v1/namespaces/default/pods?watch=1&resourceVersion=${control.status().resourceVersion}&fieldSelector=metadata.name%3Dpod-1`,
  );
  await api("/api/v1/namespaces/default/pods/pod-1", { method: "DELETE" });
  const marked = await client.next();
  assert.equal(brief(marked), "MODIFIED default/pod-1", "a pod is marked before it goes");
  assert.equal(marked.object.metadata.deletionGracePeriodSeconds, 0);
  assert.equal(marked.object.metadata.generation, 2);
  const deleted = await client.next();
  assert.equal(brief(deleted), "DELETED default/pod-1");
  assert.equal(deleted.object.metadata.deletionTimestamp, marked.object.metadata.deletionTimestamp);
  assert.notEqual(deleted.object.metadata.resourceVersion, first);
  assert.equal(deleted.object.metadata.resourceVersion, control.status().resourceVersion);
});

testBoth("wat_31_watches_of_a_bad_version_are_refused_without_a_reason", async (t) => {
  const { api, watch } = await threePods(t);
  const answer = await api("/api/v1/pods?watch=1&resourceVersion=abc");
  assert.equal(answer.code, 500);
  assert.deepEqual(answer.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    code: 500,
  });
  await assert.rejects(watch("/api/v1/pods?watch=1&resourceVersion=abc"), { code: 500 });
});

testBoth("opt_08_options_of_a_watch", async (t) => {
  const { api } = await threePods(t);
  const cases = /** @type {[string, string[]][]} */ ([
    [
      "resourceVersion=1&resourceVersionMatch=NotOlderThan",
      ["resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"],
    ],
    ["sendInitialEvents=true", ["sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"]],
    [
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x",
      ["resourceVersionMatch is forbidden when continue is provided"],
    ],
  ]);
  for (const [query, reasons] of cases) {
    const { code, body } = await api(`/api/v1/pods?watch=1&${query}`);
    assert.equal(code, 422, query);
    assert.deepEqual(
      body.details.causes.map((/** @type {any} */ cause) => cause.message),
      reasons.map((reason) => `Forbidden: ${reason}`),
    );
  }
  const exact = await api("/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=5");
  assert.equal(exact.body.details.causes.length, 2);
});

testBoth("wat_32_edges_of_a_selector", async (t) => {
  const { watch, api, createPod, control } = await serverFor(t);
  const client = await watch("/api/v1/namespaces/default/pods?watch=1&resourceVersion=0&labelSelector=app%3Dweb");
  const patch = (/** @type {string} */ name, /** @type {unknown} */ change) =>
    api(`/api/v1/namespaces/default/pods/${name}`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify(change),
    });
  await createPod("default-bad", "foo", { labels: { app: "web" } });
  await createPod("default", "foo", { labels: { app: "web" } });
  await patch("foo", { metadata: { annotations: { round: "1" } } });
  await patch("foo", { metadata: { labels: { app: "api" }, annotations: { round: "2" } } });
  const left = control.status().resourceVersion;
  await patch("foo", { metadata: { annotations: { round: "3" } } });
  await patch("foo", { metadata: { labels: { app: "web" } } });
  await api("/api/v1/namespaces/default/pods/foo", { method: "DELETE" });
  const events = [];
  for (let count = 0; count < 6; count += 1) events.push(await client.next());
  assert.deepEqual(events.map(brief), [
    "ADDED default/foo",
    "MODIFIED default/foo",
    "DELETED default/foo",
    "ADDED default/foo",
    "MODIFIED default/foo",
    "DELETED default/foo",
  ]);
  // It left with the content that still matched, under the version of the change that took it out.
  assert.equal(events[2].object.metadata.labels.app, "web");
  assert.equal(events[2].object.metadata.annotations.round, "1");
  assert.equal(events[2].object.metadata.resourceVersion, left);
  assert.equal(events[3].object.metadata.annotations.round, "3");
});

testBoth("fil_01_fil_02_a_field_selector_follows_the_field", async (t) => {
  const { watch, api, createPod } = await serverFor(t);
  const client = await watch("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=spec.nodeName%3Dhost");
  const assign = (/** @type {string} */ nodeName, /** @type {string} */ mark) =>
    api("/api/v1/namespaces/default/pods/p", {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { annotations: { mark } }, spec: { nodeName } }),
    });
  await createPod("default", "p");
  await assign("", "2");
  await assign("host", "3");
  await assign("host", "4");
  await assign("", "5");
  await assign("", "6");
  await assign("host", "7");
  assert.deepEqual(await client.nextBrief(4), ["ADDED default/p", "MODIFIED default/p", "DELETED default/p", "ADDED default/p"]);
});

testBoth("fil_08_negated_fields_and_names", async (t) => {
  const { watch, api, createPod } = await serverFor(t);
  const elsewhere = await watch("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=spec.nodeName!%3Dbar1");
  const other = await watch("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dother");
  const assign = (/** @type {string} */ nodeName) =>
    api("/api/v1/namespaces/default/pods/p", {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ spec: { nodeName } }),
    });
  await createPod("default", "p");
  await assign("bar1");
  await assign("bar2");
  await createPod("default", "other");
  assert.deepEqual(await elsewhere.nextBrief(4), ["ADDED default/p", "DELETED default/p", "ADDED default/p", "ADDED default/other"]);
  assert.deepEqual(await other.nextBrief(1), ["ADDED default/other"]);
});

testBoth("fil_06_fil_09_scope_and_selector_together", async (t) => {
  const { watch, createPod } = await serverFor(t);
  const both = await watch("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=metadata.name%3Dsame");
  const narrowed = await watch("/api/v1/pods?watch=1&resourceVersion=0&fieldSelector=metadata.namespace%3Dn2");
  const never = await watch("/api/v1/namespaces/n1/pods?watch=1&resourceVersion=0&fieldSelector=metadata.namespace%3Dn2");
  const scoped = await watch("/api/v1/namespaces/n1/pods?watch=1&resourceVersion=0");
  await createPod("n1", "same");
  await createPod("n2", "same");
  await createPod("n1", "last");
  assert.deepEqual(await both.nextBrief(2), ["ADDED n1/same", "ADDED n2/same"]);
  assert.deepEqual(await narrowed.nextBrief(1), ["ADDED n2/same"]);
  assert.deepEqual(await scoped.nextBrief(2), ["ADDED n1/same", "ADDED n1/last"]);
  assert.deepEqual(never.events, []);
});

// The cache keeps the original's minute between two bookmarks.
test("bkm_04_bkm_06_bookmarks_follow_what_was_sent", async (t) => {
  const { watch, createPod, control, first, api } = await (async () => {
    const server = await serverFor(t, { bookmarkMs: 100 });
    const pod = await server.createPod("default", "pod-1");
    return { ...server, first: pod.metadata.resourceVersion };
  })();
  const client = await watch(`/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=${Number(first) - 1}`);
  assert.equal(brief(await client.next()), "ADDED default/pod-1");
  const bookmark = await client.next();
  assert.equal(brief(bookmark), "BOOKMARK");
  assert.equal(bookmark.object.metadata.resourceVersion, control.status().resourceVersion);
  // Writes of other resources move the version, and a bookmark tells.
  await api("/api/v1/namespaces/default/configmaps", { method: "POST", json: { metadata: { name: "other" } } });
  const moved = control.status().resourceVersion;
  for (;;) {
    const event = await client.next();
    assert.equal(event.type, "BOOKMARK");
    if (event.object.metadata.resourceVersion === moved) break;
  }
  await createPod("default", "pod-2");
  for (;;) {
    const event = await client.next();
    if (event.type === "ADDED") {
      assert.ok(Number(event.object.metadata.resourceVersion) > Number(moved));
      break;
    }
  }
});

testBoth("bkm_08_no_bookmark_before_there_is_news", async (t) => {
  const { watch, control } = await serverFor(t, { bookmarkMs: 20 });
  const client = await watch(`/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=${control.status().resourceVersion}`);
  await sleep(150);
  assert.deepEqual(client.brief(), []);
});

testBoth("wir_08_a_watch_ends_at_its_timeout_with_a_last_bookmark", async (t) => {
  const { watch, createPod, url } = await serverFor(t);
  const socket = await watch("/api/v1/pods?watch=1&resourceVersion=0&timeoutSeconds=3&allowWatchBookmarks=true");
  const stream = await openStream(url, "/api/v1/pods?watch=1&resourceVersion=0&timeoutSeconds=3&allowWatchBookmarks=true");
  await createPod("default", "p");
  for (const client of [socket, stream]) {
    const { code, error } = await client.ended;
    assert.equal(error, undefined);
    if (client === socket) assert.equal(code, 1000);
    const words = client.brief();
    // The cache looks once a second, at all that is due in that second. What it tells so before its time is due once more, as in the apiserver.
    if (t.name.endsWith("from the cache") && words.length === 4) assert.equal(words.pop(), "BOOKMARK");
    assert.deepEqual(words, ["BOOKMARK end", "ADDED default/p", "BOOKMARK"]);
  }
});

testBoth("wir_04_a_watch_is_json_however_it_is_asked_for_or_nothing", async (t) => {
  const { url, api } = await threePods(t);
  for (const accept of ["application/json", "application/json;stream=watch", "*/*"]) {
    const client = await openStream(url, "/api/v1/pods?watch=1", { accept });
    assert.equal(client.response.headers["content-type"], "application/json", accept);
    assert.deepEqual(await client.nextBrief(3), STATE);
    client.close();
  }
  // Protobuf, which an apiserver would stream, is not spoken here.
  for (const accept of ["application/XYZ", "application/vnd.kubernetes.protobuf;stream=watch"]) {
    const refused = await api("/api/v1/pods?watch=1", { headers: { accept } });
    assert.deepEqual([refused.code, refused.body.reason], [406, "NotAcceptable"], accept);
  }
});

testBoth("wir_05_parameters_of_a_watch_and_the_namespace_of_its_path", async (t) => {
  const { url, createPod, first } = await threePods(t);
  await createPod("other", "elsewhere", { labels: { name: "foo" } });
  await createPod("default", "bound", { labels: { name: "foo" }, nodeName: "node-1" });
  await createPod("default", "unnamed");
  const version = (await createPod("default", "wanted", { labels: { name: "foo" } })).metadata.resourceVersion;
  const client = await openStream(
    url,
    `/api/v1/namespaces/default/pods?watch=true&resourceVersion=${first}&fieldSelector=spec.nodeName%3D&labelSelector=name%3Dfoo`,
  );
  assert.deepEqual(await client.nextBrief(1), ["ADDED default/wanted"]);
  assert.equal(client.events[0].object.metadata.resourceVersion, version);
  // What is no field of a pod is not passed over.
  const { api } = await serverFor(t);
  const refused = await api(
    "/api/v1/namespaces/default/pods?watch=1&resourceVersion=314159&fieldSelector=Host%3D&labelSelector=name%3Dfoo",
  );
  assert.deepEqual([refused.code, refused.body.message], [400, "field label not supported: Host"]);
});

// What goes wrong here is the store's own window, which the cache does not ask.
test("wir_06_what_fails_in_the_stream_is_told_in_it", async (t) => {
  const { url, watch, control } = await threePods(t);
  assert.ok(control.store);
  const pods = [...control.store.tables.values()].find(({ definition }) => definition.resource === "pods");
  assert.ok(pods);
  pods.window.after = () => {
    throw new Error("we got an error");
  };
  for (const client of [await openStream(url, "/api/v1/pods?watch=1"), await watch("/api/v1/pods?watch=1")]) {
    const { type, object } = await client.next();
    assert.deepEqual(
      [type, object.kind, object.status, object.code, object.reason, object.message],
      ["ERROR", "Status", "Failure", 500, "InternalError", "Internal error occurred: we got an error"],
    );
    const { code, error } = await client.ended;
    assert.deepEqual([code ?? 1000, error, client.frames.length], [1000, undefined, 1]);
  }
});

// The original compresses watches that begin with the state, a member a flush, when its gate is on; browsers read the first member only.
testBoth("wir_09_no_watch_is_compressed", async (t) => {
  const { url, createPod } = await threePods(t);
  for (const query of ["", "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"]) {
    const client = await openStream(url, `/api/v1/pods?watch=1${query}`, { "accept-encoding": "gzip" });
    assert.equal(client.response.headers["content-encoding"], undefined);
    assert.deepEqual((await client.nextBrief(3)).slice(0, 3), STATE);
    if (query !== "") assert.deepEqual(await client.nextBrief(1), ["BOOKMARK end"]);
    client.close();
  }
  const after = await openStream(
    url,
    "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    {
      "accept-encoding": "gzip",
    },
  );
  await after.nextBrief(4);
  await createPod("default", "later");
  assert.deepEqual(await after.nextBrief(1), ["ADDED default/later"], "what comes after the state is read, too");
});

// The original sends one-row tables to who asks for them, column definitions with the first. A Status stays one.
testBoth("wir_14_a_watch_is_a_table_for_who_asks_for_one", async (t) => {
  const { url, api, createPod, control } = await threePods(t);
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const client = await openStream(url, "/api/v1/pods?watch=1&allowWatchBookmarks=1", { accept: `${table},application/json` });
  for (let count = 0; count < 4; count += 1) await client.next();
  const rows = client.events.map(({ type, object }) => [type, object.kind, object.columnDefinitions?.length, object.rows[0].cells[0]]);
  const [a, b, c] = STATE.map((brief) => brief.split("/")[1]);
  assert.deepEqual(rows, [
    ["ADDED", "Table", 9, a],
    ["ADDED", "Table", undefined, b],
    ["ADDED", "Table", undefined, c],
    ["BOOKMARK", "Table", undefined, ""],
  ]);
  const { metadata } = client.events[3].object.rows[0].object;
  assert.deepEqual(metadata.annotations, { "k8s.io/initial-events-end": "true" });
  assert.equal(client.events[3].object.metadata.resourceVersion, metadata.resourceVersion);
  await createPod("default", "later");
  const { type, object } = await client.next();
  assert.deepEqual([type, object.rows[0].object.kind, object.rows[0].object.metadata.name], ["ADDED", "PartialObjectMetadata", "later"]);
  assert.equal(object.metadata.resourceVersion, object.rows[0].object.metadata.resourceVersion);
  client.close();
  control.fault("expire");
  const late = await openStream(url, "/api/v1/pods?watch=1&resourceVersion=1", { accept: table });
  assert.deepEqual(await late.nextBrief(1).then(([brief]) => brief.split(":")[0]), "ERROR Expired");
  const refused = await api("/api/v1/pods?watch=1", { headers: { accept: "application/json;as=Table;v=v9;g=meta.k8s.io" } });
  assert.deepEqual([refused.code, refused.body.kind, refused.body.reason], [406, "Status", "NotAcceptable"]);
});

testBoth("wir_04_http_watches_are_chunked_json_lines", async (t) => {
  const { createPod, url } = await threePods(t);
  const client = await openStream(
    url,
    "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
    { accept: "application/json;stream=watch" },
  );
  assert.equal(client.response.statusCode, 200);
  assert.equal(client.response.headers["content-type"], "application/json");
  assert.equal(client.response.headers["transfer-encoding"], "chunked");
  assert.deepEqual(await client.nextBrief(4), [...STATE, "BOOKMARK end"]);
  await createPod("default", "pod-4");
  assert.deepEqual(await client.nextBrief(1), ["ADDED default/pod-4"]);
  assert.match(client.frames[4], /^\{"type":"ADDED","object":\{"kind":"Pod","apiVersion":"v1","metadata":\{"name":"pod-4",/);
});

testBoth("wat_36_a_slow_watcher_does_not_hold_up_a_fast_one_and_ends_when_overtaken", async (t) => {
  const server = await serverFor(t, { pods: 40, history: 50 });
  const version = server.control.status().resourceVersion;
  const slow = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${version}`);
  server.control.fault("freeze", { count: 1, ms: 600 });
  const fast = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${version}`);
  // More than the window keeps, in steps that leave the fast one the time to follow.
  for (let round = 0; round < 40; round += 1) {
    server.control.step(10);
    await sleep(5);
  }
  const last = server.control.digest("pods");
  let previous = 0;
  while (previous < Math.max(...last.items.map(([, itemVersion]) => Number(itemVersion)))) {
    const event = await fast.next();
    const at = Number(event.object.metadata.resourceVersion);
    assert.ok(at > previous, "versions only grow");
    previous = at;
  }
  const ended = await slow.ended;
  assert.equal(ended.code, 1000);
  assert.deepEqual(
    slow.events.filter((event) => event.type === "ERROR"),
    [],
  );
});

testBoth("law_01_a_watch_replayed_over_its_list_is_the_store", async (t) => {
  const server = await serverFor(t, { pods: 120, history: 5_000 });
  const list = (await server.api("/api/v1/pods?pretty=false")).body;
  /** @type {Map<string, string>} */
  const held = new Map(
    list.items.map((/** @type {any} */ { metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion]),
  );
  const client = await server.watch(`/api/v1/pods?watch=1&resourceVersion=${list.metadata.resourceVersion}`);
  let at = 0;
  let events = 0;
  // In portions: who does not keep up with a burst is ended, as by a server.
  for (let portion = 0; portion < 15; portion++) {
    server.control.step(100);
    const newest = Math.max(...server.control.digest("pods").items.map(([, version]) => Number(version)));
    while (at < newest) {
      const { type, object } = await client.next();
      at = Number(object.metadata.resourceVersion);
      events += 1;
      const key = `${object.metadata.namespace}/${object.metadata.name}`;
      if (type === "DELETED") assert.equal(held.delete(key), true, key);
      else {
        assert.equal(held.has(key), type === "MODIFIED", `${type} ${key}`);
        held.set(key, object.metadata.resourceVersion);
      }
    }
  }
  assert.ok(events > 500);
  const past = server.control.digest("pods", String(at));
  assert.deepEqual([...held].sort(), past.items.map(([key, version]) => [key, version]).sort());
});
