import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeContinue, encodeContinue } from "./continue.mjs";
import { namesOf, serverFor, testBoth } from "./testing.mjs";

/**
 * The eight writes that the list cases are about, and the version after each, so that `at(n)` is the version that the cases call n.
 * @param {import("node:test").TestContext} t
 */
async function dataset(t) {
  const server = await serverFor(t);
  for (const name of ["first", "second", "third", "empty"])
    await server.api("/api/v1/namespaces", { method: "POST", json: { metadata: { name } } });
  const versions = [0, Number(server.control.status().resourceVersion)];
  for (const [namespace, name] of [
    ["first", "bar"],
    ["second", "bar"],
    ["second", "foo"],
    ["third", "barfoo"],
    ["third", "foo"],
    ["second", "baz"],
  ]) {
    const pod = await server.api(`/api/v1/namespaces/${namespace}/pods`, {
      method: "POST",
      json: { metadata: { name }, spec: { containers: [] } },
    });
    versions.push(Number(pod.body.metadata.resourceVersion));
  }
  const patched = await server.api("/api/v1/namespaces/first/pods/bar", {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ spec: { nodeName: "fakeNode" } }),
  });
  versions.push(Number(patched.body.metadata.resourceVersion));
  const deleted = await server.api("/api/v1/namespaces/second/pods/baz", { method: "DELETE" });
  versions.push(Number(deleted.body.metadata.resourceVersion));
  // Other resources move the counter, too.
  await server.api("/api/v1/namespaces/empty/configmaps", { method: "POST", json: { metadata: { name: "progress" } } });
  versions.push(Number(server.control.status().resourceVersion));
  const at = (/** @type {number} */ version) => versions[version];
  /** @param {string} query @param {string} [namespace] */
  const list = (query, namespace) => server.api(`/api/v1/${namespace ? `namespaces/${namespace}/` : ""}pods?pretty=false&${query}`);
  return { ...server, at, list };
}

const MATCHED = ["", "&resourceVersionMatch=NotOlderThan"];

testBoth("lst_01_refuses_versions_that_are_none", async (t) => {
  const { list } = await dataset(t);
  const abc = await list("resourceVersion=abc");
  assert.equal(abc.code, 400);
  assert.equal(
    abc.body.message,
    'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
  );
  assert.equal(abc.body.reason, "BadRequest");
  assert.equal((await list("resourceVersion=-1")).code, 400);
  const huge = await list("resourceVersion=99999999999999999999");
  assert.match(huge.body.message, /value out of range$/);
  const match = await list("resourceVersion=1&resourceVersionMatch=Invalid");
  assert.equal(match.code, 422);
  assert.equal(
    match.body.message,
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Invalid": supported values: "Exact", "NotOlderThan", ""',
  );
});

testBoth("lst_01_a_version_far_ahead_times_out_after_three_seconds", async (t) => {
  const { list, at } = await dataset(t);
  const started = performance.now();
  const answers = await Promise.all(
    ["", "&resourceVersionMatch=Exact", "&resourceVersionMatch=NotOlderThan"].map((match) =>
      list(`resourceVersion=9223372036854775807${match}`),
    ),
  );
  assert.ok(performance.now() - started >= 2_900);
  for (const answer of answers) {
    assert.equal(answer.code, 504);
    assert.equal(answer.headers.get("retry-after"), "1");
    assert.deepEqual(answer.body, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: `Timeout: Too large resource version: 9223372036854775807, current: ${at(10)}`,
      reason: "Timeout",
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }], retryAfterSeconds: 1 },
      code: 504,
    });
  }
});

testBoth("frs_01_a_list_waits_for_a_version_that_comes_in_time", async (t) => {
  const { list, at, createPod } = await dataset(t);
  const pending = list(`resourceVersion=${at(10) + 1}`);
  await createPod("default", "late");
  const answer = await pending;
  assert.equal(answer.code, 200);
  assert.equal(answer.body.metadata.resourceVersion, String(at(10) + 1));
  assert.ok(namesOf(answer.body).includes("default/late"));
});

testBoth("lst_02_lst_04_versions_choose_the_state", async (t) => {
  const { list, at } = await dataset(t);
  for (const query of [
    "",
    `resourceVersion=${at(9)}`,
    "resourceVersion=0",
    "resourceVersion=0&resourceVersionMatch=NotOlderThan",
    `resourceVersion=${at(1)}&resourceVersionMatch=NotOlderThan`,
  ]) {
    const { body } = await list(query, "first");
    assert.deepEqual(namesOf(body), ["first/bar"], query);
    assert.equal(body.items[0].metadata.resourceVersion, String(at(8)), query);
  }
  const empty = await list(`resourceVersion=${at(2)}&resourceVersionMatch=Exact`, "second");
  assert.deepEqual(empty.body.items, []);
  assert.equal(empty.body.metadata.resourceVersion, String(at(2)));
  assert.deepEqual(namesOf((await list(`resourceVersion=${at(3)}&resourceVersionMatch=Exact`, "second")).body), ["second/bar"]);
  assert.deepEqual(namesOf((await list(`resourceVersion=${at(9)}&resourceVersionMatch=Exact`, "first")).body), ["first/bar"]);
});

testBoth("lst_05_an_empty_list_has_items_and_a_version", async (t) => {
  const { list, at } = await dataset(t);
  const { text } = await list("", "empty");
  assert.equal(text, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${at(10)}"},"items":[]}\n`);
});

testBoth("lst_06_a_selector_by_name", async (t) => {
  const { list } = await dataset(t);
  assert.deepEqual((await list("fieldSelector=metadata.name!%3Dbar", "first")).body.items, []);
});

testBoth("lst_08_lst_09_lst_10_limits_and_versions", async (t) => {
  const { list, at, cached } = await dataset(t);
  for (const match of ["", "&resourceVersionMatch=Exact"]) {
    const { body } = await list(`limit=1&resourceVersion=${at(9)}${match}`, "second");
    assert.deepEqual(namesOf(body), ["second/bar"]);
    assert.equal(body.metadata.resourceVersion, String(at(9)));
    assert.equal(body.metadata.remainingItemCount, 1);
    assert.deepEqual(JSON.parse(Buffer.from(body.metadata.continue, "base64url").toString()), {
      v: "meta.k8s.io/v1",
      rv: at(9),
      start: "/bar\0",
    });
  }
  const newer = await list(`limit=1&resourceVersion=${at(9)}&resourceVersionMatch=NotOlderThan`, "second");
  // The cache need not have heard of the write to another resource.
  assert.ok([at(10), ...(cached ? [at(9)] : [])].includes(Number(newer.body.metadata.resourceVersion)));
  assert.equal(newer.body.metadata.remainingItemCount, 1);
  for (const match of MATCHED) {
    const { body } = await list(`limit=1&resourceVersion=0${match}`, "second");
    assert.deepEqual(namesOf(body), ["second/bar", "second/foo"]);
    assert.equal(body.metadata.continue, undefined);
  }
  for (const [version, names] of /** @type {[number, string[]][]} */ ([
    [2, []],
    [3, ["second/bar"]],
  ])) {
    const { body } = await list(`limit=1&resourceVersionMatch=Exact&resourceVersion=${at(version)}`, "second");
    assert.deepEqual(namesOf(body), names);
    assert.equal(body.metadata.continue, undefined);
  }
});

testBoth("lst_12_key_order", async (t) => {
  const { list, at, createPod } = await dataset(t);
  assert.deepEqual(namesOf((await list("", "second")).body), ["second/bar", "second/foo"]);
  assert.deepEqual(namesOf((await list("")).body), ["first/bar", "second/bar", "second/foo", "third/barfoo", "third/foo"]);
  // Whenever it was written, and in a state of the past.
  await createPod("first", "alpha");
  assert.deepEqual(namesOf((await list("", "first")).body), ["first/alpha", "first/bar"]);
  const past = await list(`resourceVersion=${at(7)}&resourceVersionMatch=Exact`, "second");
  assert.deepEqual(namesOf(past.body), ["second/bar", "second/baz", "second/foo"]);
});

testBoth("lst_13_lst_14_lst_16_a_selector_hides_the_remaining_count", async (t) => {
  const { list, at } = await dataset(t);
  const barfoo = (await list("fieldSelector=metadata.name%3Dbarfoo&limit=1")).body;
  assert.deepEqual(namesOf(barfoo), ["third/barfoo"]);
  assert.ok(barfoo.metadata.continue);
  assert.equal(barfoo.metadata.remainingItemCount, undefined);
  const rest = (await list(`fieldSelector=metadata.name%3Dbarfoo&limit=1&continue=${barfoo.metadata.continue}`)).body;
  assert.deepEqual(rest.items, []);
  assert.equal(rest.metadata.continue, undefined);
  for (const limit of [2, 5])
    assert.equal((await list(`fieldSelector=metadata.name%3Dbarfoo&limit=${limit}`)).body.metadata.continue, undefined);
  const bars = (await list("fieldSelector=metadata.name%3Dbar&limit=2")).body;
  assert.deepEqual(namesOf(bars), ["first/bar", "second/bar"]);
  assert.ok(bars.metadata.continue);
  // Others stand before both.
  const foos = (await list("fieldSelector=metadata.name%3Dfoo&limit=2")).body;
  assert.deepEqual(namesOf(foos), ["second/foo", "third/foo"]);
  assert.equal(foos.metadata.continue, undefined);
  const onNode = (await list(`fieldSelector=spec.nodeName%3DfakeNode&limit=5&resourceVersion=${at(9)}&resourceVersionMatch=NotOlderThan`))
    .body;
  assert.deepEqual(namesOf(onNode), ["first/bar"]);
  assert.deepEqual((await list("fieldSelector=metadata.name%3Dbaz")).body.items, []);
});

testBoth("lst_17_lst_18_exact_pages_at_older_versions", async (t) => {
  const { list, at } = await dataset(t);
  const cases = /** @type {[number, number, string[], string | undefined, number | undefined][]} */ ([
    [1, 3, ["first/bar"], "/first/bar\0", 1],
    [2, 4, ["first/bar", "second/bar"], "/second/bar\0", 1],
    [4, 5, ["first/bar", "second/bar", "second/foo", "third/barfoo"], undefined, undefined],
    [1, 6, ["first/bar"], "/first/bar\0", 4],
    [2, 7, ["first/bar", "second/bar"], "/second/bar\0", 4],
    [4, 8, ["first/bar", "second/bar", "second/baz", "second/foo"], "/second/foo\0", 2],
    [8, 9, ["first/bar", "second/bar", "second/foo", "third/barfoo", "third/foo"], undefined, undefined],
    [1, 10, ["first/bar"], "/first/bar\0", 4],
  ]);
  for (const [limit, version, names, start, remaining] of cases) {
    const { body } = await list(`limit=${limit}&resourceVersionMatch=Exact&resourceVersion=${at(version)}`);
    assert.deepEqual(namesOf(body), names);
    assert.equal(body.metadata.resourceVersion, String(at(version)));
    assert.deepEqual(body.metadata.continue && decodeContinue(body.metadata.continue), start && { start, version: at(version) });
    assert.equal(body.metadata.remainingItemCount, remaining);
  }
});

testBoth("lst_20_continue_reads_the_version_of_its_token", async (t) => {
  const { list, at } = await dataset(t);
  const cases = /** @type {[string, number, number, string[], string | undefined, number | undefined][]} */ ([
    ["/first/bar\0", 6, 1, ["second/bar"], "/second/bar\0", 3],
    ["/second/bar\0", 7, 2, ["second/baz", "second/foo"], "/second/foo\0", 2],
    ["/second/foo\0", 8, 4, ["third/barfoo", "third/foo"], undefined, undefined],
    ["/first/bar\0", 10, 1, ["second/bar"], "/second/bar\0", 3],
  ]);
  for (const [from, version, limit, names, start, remaining] of cases) {
    const { body } = await list(`limit=${limit}&continue=${encodeContinue(from, at(version))}`);
    assert.deepEqual(namesOf(body), names);
    assert.equal(body.metadata.resourceVersion, String(at(version)));
    assert.deepEqual(body.metadata.continue && decodeContinue(body.metadata.continue), start && { start, version: at(version) });
    assert.equal(body.metadata.remainingItemCount, remaining);
  }
});

testBoth("lst_21_continue_at_the_latest_version", async (t) => {
  const { list, at } = await dataset(t);
  const all = (await list(`continue=${encodeContinue("/first/bar\0", -1)}`)).body;
  assert.deepEqual(namesOf(all), ["second/bar", "second/foo", "third/barfoo", "third/foo"]);
  assert.equal(all.metadata.resourceVersion, String(at(10)));
  const two = (await list(`limit=2&continue=${encodeContinue("/first/bar\0", -1)}`)).body;
  assert.deepEqual(decodeContinue(two.metadata.continue), { start: "/second/foo\0", version: at(10) });
  assert.equal(two.metadata.remainingItemCount, 2);
});

testBoth("lst_22_con_02_opt_01_opt_02_tokens_that_are_none", async (t) => {
  const { list, at } = await dataset(t);
  const token = (/** @type {unknown} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const cases = /** @type {[string, string][]} */ ([
    ["continue=YQ", "invalid continue token: continue key is not valid: invalid character 'a' looking for beginning of value"],
    [
      `continue=${token([])}`,
      "invalid continue token: continue key is not valid: json: cannot unmarshal array into Go value of type storage.continueToken",
    ],
    [
      `continue=${token({ v: "meta.k8s.io/v1", rv: "x", start: "a" })}`,
      "invalid continue token: continue key is not valid: json: cannot unmarshal string into Go struct field continueToken.rv of type int64",
    ],
    ["continue=%3F%3F", "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"],
    [
      `continue=${token({ v: "meta.k8s.io/v1", rv: 5, start: "" })}`,
      "invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)",
    ],
    [
      `continue=${token({ v: "meta.k8s.io/v1", rv: 0, start: "key" })}`,
      "invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)",
    ],
    [
      `continue=${token({ v: "v1", rv: 1, start: "key" })}`,
      "invalid continue token: continue key is not valid: server does not recognize this encoded version v1",
    ],
    [
      `continue=${token({ rv: 1, start: "key" })}`,
      "invalid continue token: continue key is not valid: server does not recognize this encoded version ",
    ],
    [`continue=${token({ v: "meta.k8s.io/v1", rv: 1, start: "../x" })}`, "invalid continue token: continue key is not valid: ../x"],
    [
      `continue=${encodeContinue("/first/bar\0", at(9))}&resourceVersion=${at(10)}`,
      "specifying resource version is not allowed when using continue",
    ],
  ]);
  for (const [query, message] of cases) {
    const answer = await list(query);
    assert.equal(answer.code, 400, query);
    assert.equal(answer.body.message, message);
  }
  assert.equal((await list(`continue=${encodeContinue("/first/bar\0", at(9))}&resourceVersion=0`)).code, 200);
});

test("con_05_token_text", () => {
  assert.equal(encodeContinue("bar\0", 10), "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTAsInN0YXJ0IjoiYmFyXHUwMDAwIn0");
  assert.deepEqual(decodeContinue(encodeContinue("key", 1)), { start: "/key", version: 1 });
  assert.deepEqual(decodeContinue(encodeContinue("/", 1)), { start: "/", version: 1 });
});

testBoth("con_04_a_selector_leaves_the_count_out", async (t) => {
  const { list } = await dataset(t);
  assert.equal((await list("limit=2")).body.metadata.remainingItemCount, 3);
  assert.equal((await list("limit=2&labelSelector=!none")).body.metadata.remainingItemCount, undefined);
});

testBoth("lst_26_pages_show_one_state", async (t) => {
  const { list, createPod, at } = await dataset(t);
  const names = [];
  let token = "";
  for (let call = 1; ; call += 1) {
    const { body } = await list(`limit=1${token && `&continue=${token}`}`);
    names.push(...namesOf(body));
    assert.equal(body.metadata.resourceVersion, String(at(10)));
    if (call === 2) await createPod("second", "created-between");
    token = body.metadata.continue;
    if (!token) break;
  }
  assert.deepEqual(names, ["first/bar", "second/bar", "second/foo", "third/barfoo", "third/foo"]);
});

testBoth("lst_27_pages_outlast_the_window", async (t) => {
  const server = await serverFor(t, { pods: 60, history: 20 });
  const whole = (await server.api("/api/v1/pods?pretty=false")).body;
  const pages = [];
  let query = "limit=20";
  for (;;) {
    const { code, body } = await server.api(`/api/v1/pods?pretty=false&${query}`);
    assert.equal(code, 200, body.message);
    pages.push(body);
    server.control.step(100);
    if (!body.metadata.continue) break;
    query = `limit=20&continue=${body.metadata.continue}`;
  }
  assert.deepEqual(
    pages.map((page) => [page.items.length, page.metadata.remainingItemCount, page.metadata.resourceVersion]),
    [40, 20, undefined].map((remaining) => [20, remaining, whole.metadata.resourceVersion]),
  );
  assert.deepEqual(
    pages.flatMap((page) => page.items),
    whole.items,
  );
  const unrelated = await server.api(
    `/api/v1/pods?resourceVersion=${Number(whole.metadata.resourceVersion) - 1}&resourceVersionMatch=Exact`,
  );
  assert.equal(unrelated.code, 410);
});

testBoth("lst_28_continuation_with_a_filter", async (t) => {
  const server = await serverFor(t);
  for (const [namespace, name] of [
    ["n1", "foo"],
    ["n2", "bar"],
    ["n3", "foo"],
    ["n4", "foo"],
  ])
    await server.createPod(namespace, name);
  const first = (await server.api("/api/v1/pods?fieldSelector=metadata.name!%3Dbar&limit=2")).body;
  assert.deepEqual(namesOf(first), ["n1/foo", "n3/foo"]);
  const second = (await server.api(`/api/v1/pods?fieldSelector=metadata.name!%3Dbar&limit=2&continue=${first.metadata.continue}`)).body;
  assert.deepEqual(namesOf(second), ["n4/foo"]);
  assert.equal(second.metadata.continue, undefined);
});

testBoth("lst_29_the_last_key_of_all_is_the_last_page", async (t) => {
  const server = await serverFor(t);
  for (const name of ["a", "b", "c"]) await server.createPod("n1", name);
  for (const [name, isLast] of /** @type {const} */ ([
    ["b", false],
    ["c", true],
  ])) {
    const { items, metadata } = (await server.api(`/api/v1/pods?fieldSelector=metadata.name%3D${name}&limit=1`)).body;
    assert.deepEqual([namesOf({ items }), metadata.continue === undefined], [[`n1/${name}`], isLast]);
  }
});

testBoth("lst_32_an_expired_token_gives_one_that_goes_on", async (t) => {
  const { list, control, at } = await dataset(t);
  const first = (await list("limit=2")).body;
  control.fault("expire");
  const expired = await list(`limit=2&continue=${first.metadata.continue}`);
  assert.equal(expired.code, 410);
  assert.equal(expired.body.reason, "Expired");
  assert.match(expired.body.message, /^The provided continue parameter is too old to display a consistent list result\. /);
  const second = (await list(`limit=2&continue=${expired.body.metadata.continue}`)).body;
  assert.deepEqual(namesOf(second), ["second/foo", "third/barfoo"]);
  const third = (await list(`limit=2&continue=${second.metadata.continue}`)).body;
  assert.deepEqual(namesOf(third), ["third/foo"]);
  assert.equal(third.metadata.resourceVersion, second.metadata.resourceVersion);
  const exact = await list(`resourceVersion=${at(9)}&resourceVersionMatch=Exact`);
  assert.equal(exact.code, 410);
  assert.equal(exact.body.message, "The resourceVersion for the provided list is too old.");
});

testBoth("opt_03_options_that_do_not_go_together", async (t) => {
  const { list, at } = await dataset(t);
  const cases = /** @type {[string, string[]][]} */ ([
    ["resourceVersionMatch=Exact", ["resourceVersionMatch is forbidden unless resourceVersion is provided"]],
    [
      `resourceVersionMatch=Exact&continue=${encodeContinue("/first/bar\0", at(9))}`,
      [
        "resourceVersionMatch is forbidden unless resourceVersion is provided",
        "resourceVersionMatch is forbidden when continue is provided",
      ],
    ],
    ["resourceVersionMatch=Exact&resourceVersion=0", ['resourceVersionMatch "exact" is forbidden for resourceVersion "0"']],
    ["sendInitialEvents=true", ["sendInitialEvents is forbidden for list"]],
  ]);
  for (const [query, reasons] of cases) {
    const { code, body } = await list(query);
    assert.equal(code, 422, query);
    assert.equal(body.reason, "Invalid");
    assert.equal(body.details.group, "meta.k8s.io");
    assert.equal(body.details.kind, "ListOptions");
    assert.deepEqual(
      body.details.causes.map((/** @type {any} */ cause) => cause.message),
      reasons.map((reason) => `Forbidden: ${reason}`),
    );
  }
});

testBoth("opt_05_limits", async (t) => {
  const { list } = await dataset(t);
  assert.equal((await list("limit=0")).body.items.length, 5);
  assert.equal((await list("limit=-1")).body.items.length, 5);
  assert.equal((await list("limit=1")).body.items.length, 1);
  assert.equal((await list("limit=1&resourceVersion=0")).body.items.length, 5);
  const abc = await list("limit=abc");
  assert.equal(abc.code, 400);
  assert.equal(abc.body.message, 'strconv.ParseInt: parsing "abc": invalid syntax');
});

testBoth("items_carry_no_kind_and_keep_their_own_version", async (t) => {
  const { list, at } = await dataset(t);
  const { body } = await list("");
  for (const item of body.items) {
    assert.equal(item.kind, undefined);
    assert.equal(item.apiVersion, undefined);
  }
  assert.deepEqual(
    body.items.map((/** @type {any} */ item) => Number(item.metadata.resourceVersion)),
    [8, 3, 4, 5, 6].map(at),
  );
});

testBoth("wir_07_answers_for_people_are_indented", async (t) => {
  const { api } = await dataset(t);
  const ask = async (/** @type {string} */ query, /** @type {string} */ agent) =>
    (await api(`/api/v1/pods?${query}`, { headers: { "user-agent": agent } })).text.split("\n").length > 2;
  assert.equal(await ask("", "Mozilla/5.0 (X11; Linux x86_64)"), true);
  assert.equal(await ask("", "curl/8.0"), true);
  assert.equal(await ask("", "Wget/1.21"), true);
  assert.equal(await ask("pretty=false", "Mozilla/5.0 (X11; Linux x86_64)"), false);
  assert.equal(await ask("", "kubectl/v1.36.3"), false);
  assert.equal(await ask("pretty=true", "kubectl/v1.36.3"), true);
});

testBoth("wir_04_a_list_is_json_or_nothing", async (t) => {
  const { api } = await dataset(t);
  assert.equal((await api("/api/v1/pods", { headers: { accept: "application/json" } })).headers.get("content-type"), "application/json");
  // Of several, the first that can be had.
  for (const first of ["application/vnd.kubernetes.protobuf", "application/json;as=Table;v=v9;g=meta.k8s.io"])
    assert.equal((await api("/api/v1/pods", { headers: { accept: `${first},application/json` } })).body.kind, "PodList", first);
  const refused = await api("/api/v1/pods", { headers: { accept: "application/XYZ" } });
  assert.equal(refused.code, 406);
  assert.equal(refused.body.reason, "NotAcceptable");
  assert.match(refused.body.message, /^406: Not Acceptable\n\nAvailable representations: application\/json/);
});

testBoth("get_01_get_02_an_object_by_name", async (t) => {
  const { api, at } = await dataset(t);
  const get = (/** @type {string} */ query) => api(`/api/v1/namespaces/first/pods/bar?${query}`);
  for (const query of ["", "resourceVersion=0", `resourceVersion=${at(8)}`, `resourceVersion=${at(10)}`]) {
    const { body } = await get(query);
    assert.equal(body.kind, "Pod");
    assert.equal(body.metadata.resourceVersion, String(at(8)));
  }
  const missing = await api("/api/v1/namespaces/first/pods/none");
  assert.equal(missing.code, 404);
  assert.deepEqual(missing.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'pods "none" not found',
    reason: "NotFound",
    details: { name: "none", kind: "pods" },
    code: 404,
  });
  const bad = await get("resourceVersion=abc");
  assert.equal(bad.code, 500);
  assert.equal(bad.body.message, 'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax');
  assert.equal(bad.body.reason, undefined);
});
