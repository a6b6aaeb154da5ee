import assert from "node:assert/strict";
import { test } from "node:test";
import { bearerToken } from "./auth.mjs";
import { serverFor } from "./testing.mjs";

const bearer = (/** @type {string | Buffer} */ token) =>
  `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString("base64url")}`;
const WATCH = "/api/v1/pods?watch=1&resourceVersion=0";

test("wir_01_one_event_a_text_message_with_a_newline", async (t) => {
  const { watch, createPod, api } = await serverFor(t);
  const client = await watch(WATCH);
  /** @type {boolean[]} */
  const binary = [];
  client.socket.on("message", (_data, isBinary) => binary.push(isBinary));
  await createPod("default", "p");
  await api("/api/v1/namespaces/default/pods/p", {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"metadata":{"labels":{"a":"b"}}}',
  });
  await api("/api/v1/namespaces/default/pods/p", { method: "DELETE" });
  assert.deepEqual(await client.nextBrief(4), ["ADDED default/p", "MODIFIED default/p", "MODIFIED default/p", "DELETED default/p"]);
  assert.deepEqual(binary, [false, false, false, false]);
  for (const frame of client.frames)
    assert.match(frame, /^\{"type":"[A-Z]+","object":\{"kind":"Pod","apiVersion":"v1","metadata":[^]*\}\}\n$/);
});

test("wir_02_what_a_client_sends_is_ignored_and_its_close_ends_the_watch", async (t) => {
  const { watch, createPod, control } = await serverFor(t);
  const client = await watch(WATCH);
  client.socket.send("hello");
  client.socket.send(Buffer.from([1, 2, 3]));
  await createPod("default", "p");
  assert.deepEqual(await client.nextBrief(1), ["ADDED default/p"]);
  assert.equal(control.status().streams.length, 1);
  client.socket.close();
  await client.ended;
  while (control.status().streams.length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});

test("wir_03_a_ping_is_answered", async (t) => {
  const { watch } = await serverFor(t);
  const client = await watch(WATCH);
  const pong = new Promise((resolve) => client.socket.once("pong", resolve));
  client.socket.ping("beat");
  assert.equal(String(await pong), "beat");
});

test("wir_10_the_token_entry_is_taken_out_and_the_other_is_echoed", async (t) => {
  const { watch } = await serverFor(t, { tokens: ["token"] });
  const client = await watch(WATCH, { protocols: ["base64url.bearer.authorization.k8s.io.dG9rZW4", "dummy"] });
  assert.equal(client.socket.protocol, "dummy");
});

test("wir_11_none_or_one_subprotocol", async (t) => {
  const { watch } = await serverFor(t);
  assert.equal((await watch(WATCH)).socket.protocol, "");
  assert.equal((await watch(WATCH, { protocols: ["base64.binary.k8s.io"] })).socket.protocol, "base64.binary.k8s.io");
  assert.equal((await watch(WATCH, { protocols: [bearer("any"), "v1"] })).socket.protocol, "v1");
  await assert.rejects(watch(WATCH, { protocols: ["one", "two"] }), { code: 400 });
});

/** What the server makes of offered subprotocols. @param {string[]} protocols */
const read = (protocols) =>
  bearerToken(/** @type {any} */ ({ headers: protocols.length > 0 ? { "sec-websocket-protocol": protocols.join(",") } : {} }));

/** Each of them is refused by a server that wants a token. @param {import("node:test").TestContext} t @param {string[][]} offers */
async function refuses(t, offers) {
  const { watch } = await serverFor(t, { tokens: ["secret-ü"] });
  for (const protocols of offers) {
    await assert.rejects(watch(WATCH, { protocols }), (/** @type {any} */ error) => {
      assert.equal(error.code, 401, protocols.join());
      assert.equal(JSON.parse(error.text).reason, "Unauthorized");
      return true;
    });
  }
}

test("wir_12_offers_without_a_token_and_offers_that_are_wrong", async (t) => {
  // Nobody in particular, and no error: an anonymous client, where the server takes one.
  assert.deepEqual(read([]), { token: undefined, remaining: [] });
  assert.deepEqual(read(["dummy"]), { token: undefined, remaining: ["dummy"] });
  assert.deepEqual(read([bearer(""), "dummy"]), { token: undefined, remaining: ["dummy"] });
  const open = await serverFor(t);
  await open.watch(WATCH, { protocols: [bearer(""), "dummy"] });
  // Wrong in themselves.
  assert.throws(() => read([bearer("token")]), { message: "missing additional subprotocol" });
  assert.throws(() => read([bearer("token"), `${bearer("other")}`, "dummy"]), { message: /^multiple / });
  for (const encoded of ["dG9rZW4=", "dG9r ZW4", "dG9rZW4+", "a"])
    assert.throws(
      () => read([`${bearer("")}${encoded}`, "dummy"]),
      { message: "invalid base64.bearer.authorization token encoding" },
      encoded,
    );
  assert.throws(() => read([bearer(Buffer.from([0xff, 0xfe])), "dummy"]), { message: "invalid base64.bearer.authorization token" });
  await refuses(t, [
    [],
    ["dummy"],
    [bearer(""), "dummy"],
    [bearer("secret-ü")],
    [bearer("secret-ü"), bearer("secret-ü").replace("k8s.io.", "k8s.io.AA"), "dummy"],
    ["base64url.bearer.authorization.k8s.io.a", "dummy"],
    [bearer(Buffer.from([0xff, 0xfe])), "dummy"],
  ]);
});

test("wir_13_tokens_that_do_not_open", async (t) => {
  assert.deepEqual(read([bearer("wrong"), "dummy"]), { token: "wrong", remaining: ["dummy"] });
  await refuses(t, [[bearer("wrong"), "dummy"]]);
  const { watch, api } = await serverFor(t, { tokens: ["secret-ü"] });
  await watch(WATCH, { protocols: [bearer("secret-ü"), "dummy"] });
  const refused = await api("/api/v1/pods");
  assert.equal(refused.code, 401);
  assert.deepEqual(refused.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "Unauthorized",
    reason: "Unauthorized",
    code: 401,
  });
  assert.equal((await api("/api/v1/pods", { headers: { authorization: `Bearer ${"wrong"}` } })).code, 401);
  for (const open of ["/healthz", "/readyz", "/version"]) assert.equal((await api(open)).code, 200);
});

test("wir_15_a_token_in_the_header", async (t) => {
  const { api } = await serverFor(t, { tokens: ["one", "two"] });
  for (const token of ["one", "two"])
    assert.equal((await api("/api/v1/pods", { headers: { authorization: `Bearer ${token}` } })).code, 200);
});

test("wir_16_an_origin_is_needed", async (t) => {
  const { watch } = await serverFor(t);
  await assert.rejects(watch(WATCH, { origin: "" }), { code: 403 });
  await assert.rejects(watch(WATCH, { origin: "null" }), { code: 403 });
  await watch(WATCH, { origin: "https://elsewhere.example" });
});

test("wir_17_a_refused_handshake_tells_its_status", async (t) => {
  const { watch } = await serverFor(t);
  await assert.rejects(watch("/api/v1/nothing?watch=1"), { code: 404 });
  await assert.rejects(watch("/api/v1/pods"), { code: 400 });
  await assert.rejects(watch(`${WATCH}&labelSelector=a%3D%3D%3Db`), (/** @type {any} */ error) => {
    assert.equal(error.code, 400);
    assert.match(JSON.parse(error.text).message, /^unable to parse requirement: found '=', expected: identifier$/);
    return true;
  });
  await assert.rejects(
    watch(`${WATCH}&fieldSelector=spec.foo%3D1`),
    (/** @type {any} */ error) => JSON.parse(error.text).message === "field label not supported: spec.foo",
  );
});
