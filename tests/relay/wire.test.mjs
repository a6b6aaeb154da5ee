// The bytes of the relay's wire, cut at every place: what a client says over a WebSocket, and what a server says in a watch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readAsk, selectedName, selectsWhatStands, takesGzip, takesJson } from "../../dist/relay/asks.js";
import { KindRemover } from "../../dist/relay/kinds.js";
import { Incoming, textFrame } from "../../dist/relay/websocket.js";
import { writtenBy } from "../../dist/relay/writes.js";

const PODS = { group: "", version: "v1", resource: "pods", kind: "Pod", namespaced: true };

/** Both parts of a text, cut at each place, and all of its bytes one by one. @param {Buffer} bytes */
function cuts(bytes) {
  const two = Array.from({ length: bytes.length }, (_, at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [...two, [...bytes].map((byte) => Buffer.from([byte]))];
}

/** A frame as a client sends it. @param {number} first @param {Buffer | string} payload */
function masked(first, payload) {
  const [head] = textFrame(Buffer.from(payload));
  const mask = Buffer.from([1, 2, 3, 4]);
  const bytes = Buffer.from(payload).map((byte, at) => byte ^ mask[at & 3]);
  return Buffer.concat([Buffer.from([first, head[1] | 0x80]), head.subarray(2), mask, bytes]);
}

/** @param {Buffer[]} pieces */
function said(pieces) {
  const answers = [];
  let closed = 0;
  const incoming = new Incoming({ answer: (frame) => answers.push(Buffer.from(frame)), closed: () => closed++ });
  for (const piece of pieces) incoming.take(piece);
  return { answers: Buffer.concat(answers).toString("hex"), closed };
}

test("a client's pings are answered, its messages of any length are let go, and its close ends it, wherever they are cut", () => {
  const lengths = [0, 1, 125, 126, 300, 70_000];
  for (const length of lengths) {
    const talk = Buffer.concat([
      masked(0x81, "x".repeat(length)),
      masked(0x89, "hi"),
      masked(0x02, "more"),
      masked(0x88, ""),
      masked(0x89, "late"),
    ]);
    const pieces = length < 1_000 ? cuts(talk) : [[talk], [talk.subarray(0, 5), talk.subarray(5)]];
    for (const cut of pieces)
      assert.deepEqual(said(cut), { answers: Buffer.from("\x8a\x02hi", "latin1").toString("hex"), closed: 1 }, `${length}`);
  }
});

test("what no client may send is a protocol error", () => {
  const unmasked = Buffer.from([0x81, 0x01, 0x41, 0, 0, 0]);
  const reserved = masked(0xc1, "a");
  const longPing = masked(0x89, "x".repeat(126));
  for (const bytes of [unmasked, reserved, longPing]) assert.deepEqual(said([bytes]), { answers: "880203ea", closed: 1 });
});

test("a message's head tells its length", () => {
  const heads = [0, 125, 126, 65_535, 65_536].map((length) => textFrame(Buffer.alloc(length))[0].toString("hex"));
  assert.deepEqual(heads, ["8100", "817d", "817e007e", "817effff", "817f0000000000010000"]);
});

test("the kind of an event's object is left out, wherever the stream is cut, and nothing else is touched", () => {
  const kind = '"kind":"Pod","apiVersion":"v1",';
  const event = (type, object) => `{"type":"${type}","object":${object}}\n`;
  const lines = (kind) => [
    event("ADDED", `{${kind}"metadata":{"name":"a"},"spec":{"embedded":[{"kind":"Pod","apiVersion":"v1","metadata":{}}]}}`),
    event(
      "MODIFIED",
      `{${kind}"metadata":{"name":"{\\"type\\":\\"ADDED\\",\\"object\\":{\\"kind\\":\\"Pod\\",\\"apiVersion\\":\\"v1\\","}}`,
    ),
    event("DELETED", `{${kind}"metadata":{"name":"c"}}`),
    event("BOOKMARK", '{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1"}}'),
    event("ERROR", '{"kind":"Status","apiVersion":"v1","metadata":{}}'),
    event("ADDED", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"as custom resources have it"}}'),
    "\n",
    event("ADDED", '{"kind":"Pods","apiVersion":"v1","metadata":{}}'),
  ];
  const [given, expected] = [kind, ""].map((kind) => lines(kind).join(""));
  for (const pieces of cuts(Buffer.from(given))) {
    const remover = new KindRemover(PODS);
    const out = pieces.flatMap((piece) => remover.take(piece));
    assert.equal(Buffer.concat([...out, remover.rest()]).toString(), expected, `cut behind ${pieces[0].length}`);
  }
  const torn = new KindRemover(PODS);
  assert.deepEqual([torn.take(Buffer.from('{"type":"ADD')), torn.rest().toString()], [[], '{"type":"ADD']);
});

test("an ask is what is understood to its last parameter", () => {
  const ask = (url, method = "GET") => readAsk(method, url);
  assert.deepEqual(ask("/apis/apps/v1/namespaces/x/deployments?watch=1&limit=5&labelSelector=a%3Db&pretty=false&resourceVersion="), {
    verb: "watch",
    group: "apps",
    version: "v1",
    resource: "deployments",
    namespace: "x",
    options: { limit: 5, labelSelector: "a=b" },
  });
  assert.deepEqual(ask("/api/v1/namespaces"), {
    verb: "list",
    group: "",
    version: "v1",
    resource: "namespaces",
    namespace: "",
    options: {},
  });
  // As the clients of Go and Python write it.
  assert.deepEqual(ask("/api/v1/pods?watch=True&timeout=6m7s&sendInitialEvents=true&resourceVersionMatch=NotOlderThan").options, {
    sendInitialEvents: true,
    resourceVersionMatch: "NotOlderThan",
  });
  for (const url of [
    "/api/v1",
    "/api/v1/pods/",
    "/api/v1/namespaces/x/pods/y",
    "/api/v1/watch/pods",
    "/api/v1/Pods",
    "/api/v1/p%6fds",
    "//api/v1/pods",
    "/api/v1/pods?unknown=1",
    "/api/v1/pods?limit=1&limit=2",
    "/api/v1/pods?limit=-1",
    "/api/v1/pods?watch=maybe",
    "/api/v1/pods?pretty=true",
    "/api/v1/pods?sendInitialEvents=true",
    "/api/v1/pods?resourceVersion=1&resourceVersionMatch=Newest",
  ])
    assert.equal(ask(url), undefined, url);
  for (const method of ["POST", "HEAD", "DELETE", undefined]) assert.equal(readAsk(method, "/api/v1/pods"), undefined);
});

test("fields are selected where they stand as the server tells them", () => {
  const selects = (fieldSelector, of = {}, namespaced = true) =>
    selectsWhatStands({ ...PODS, ...of, options: { fieldSelector } }, namespaced);
  for (const selector of ["metadata.name=a", "status.phase!=Running,spec.nodeName==n", "metadata.namespace=a"])
    assert.ok(selects(selector), selector);
  for (const selector of [
    "spec.hostNetwork=false",
    "status.podIP=1",
    "spec.foo=1",
    "metadata.name",
    "metadata.name=a\\,b",
    "metadata.name= a",
    "=x",
    "",
  ])
    assert.equal(selects(selector), false, selector);
  assert.equal(selects("metadata.namespace=a", { resource: "nodes" }, false), false);
  assert.equal(selects("status.phase=Bound", { resource: "persistentvolumes" }, false), false);
  assert.equal(selectsWhatStands({ ...PODS, options: {} }, true), true);
});

test("the one name that is selected is what the server asks about, too", () => {
  const name = (fieldSelector) => selectedName({ ...PODS, options: { fieldSelector } });
  assert.deepEqual(["metadata.name=a", "status.phase=x,metadata.name==b", "metadata.name!=a", "metadata.name=", undefined].map(name), [
    "a",
    "b",
    undefined,
    undefined,
    undefined,
  ]);
});

test("plain JSON is served where it is taken, and any other form is the server's", () => {
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
  for (const accept of [
    undefined,
    "*/*",
    "application/json",
    "application/vnd.kubernetes.protobuf,application/json",
    "text/html,*/*;q=0.8",
  ])
    assert.ok(takesJson(accept), accept);
  for (const accept of [table, "application/vnd.kubernetes.protobuf", "application/yaml,*/*", "application/json;q=0", "text/html"])
    assert.equal(takesJson(accept), false, accept);
  assert.deepEqual(["gzip", "br, gzip;q=0.5", "gzip;q=0", "br", undefined].map(takesGzip), [true, true, false, false, false]);
});

test("what a write writes to is its collection, in all versions", () => {
  const written = (method, url) => writtenBy({ method, url });
  assert.equal(written("POST", "/api/v1/namespaces/x/pods"), "/pods");
  assert.equal(written("PUT", "/apis/apps/v1/namespaces/x/deployments/y/scale?dryRun=All"), "apps/deployments");
  assert.equal(written("DELETE", "/api/v1/namespaces/x"), "/namespaces");
  assert.equal(written("PATCH", "/api/v1/namespaces/x/status"), "/namespaces");
  assert.equal(written("GET", "/api/v1/pods"), undefined);
  assert.equal(written("POST", "/version"), undefined);
});
