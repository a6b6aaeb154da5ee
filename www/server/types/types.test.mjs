// Objects in protobuf and in YAML, fields that there are not, and the documents that describe the types.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serverFor } from "../testing.mjs";
import { openApiDocument, openApiV2 } from "./openapi.mjs";
import { openApiV2Protobuf } from "./openapi-protobuf.mjs";
import { decodeProtobuf, isProtobuf } from "./protobuf.mjs";
import { dropUnknownFields } from "./strict.mjs";
import { RESOURCES } from "../resources.mjs";

const [maps] = RESOURCES.filter(({ resource }) => resource === "configmaps");
const [pods] = RESOURCES.filter(({ resource }) => resource === "pods");

/** @param {number} number @param {string | Buffer} value */
function field(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}
const message = (/** @type {Buffer[]} */ ...fields) => Buffer.concat(fields);
/** @param {string} apiVersion @param {string} kind @param {Buffer} raw */
const envelope = (apiVersion, kind, raw) =>
  message(Buffer.from("k8s\0"), field(1, message(field(1, apiVersion), field(2, kind))), field(2, raw));

/** A map with a name, an entry, and a time. */
const metadata = message(field(1, "a"), field(3, ""), field(8, Buffer.from([8, 1])), field(11, message(field(1, "k"), field(2, "v"))));
const encoded = envelope(
  "v1",
  "ConfigMap",
  message(field(1, metadata), field(2, message(field(1, "x"), field(2, "1"))), Buffer.from([32, 1])),
);

test("an object in protobuf is what it is in JSON", () => {
  assert.ok(isProtobuf(encoded));
  assert.deepEqual(decodeProtobuf(encoded), {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name: "a", creationTimestamp: "1970-01-01T00:00:01Z", labels: { k: "v" } },
    data: { x: "1" },
    immutable: true,
  });
});

test("what is cut, and what is of no known kind, is refused", () => {
  // Cut between two fields it is a whole object, of fewer fields. So is protobuf.
  let refused = 0;
  for (let end = 4; end < encoded.length; end += 1) {
    try {
      decodeProtobuf(encoded.subarray(0, end));
    } catch {
      refused += 1;
    }
  }
  assert.ok(refused > encoded.length / 2, String(refused));
  assert.throws(() => decodeProtobuf(envelope("v1", "Gadget", Buffer.alloc(0))), /no kind "Gadget" is registered for version "v1"/);
});

test("a field that the type does not have is found wherever it stands, and left out", () => {
  const pod = {
    kind: "Pod",
    metadata: { name: "a", odd: 1 },
    spec: { containers: [{ name: "m", imag: "x", resources: { limits: { cpu: "1" } } }] },
  };
  assert.deepEqual(dropUnknownFields(pods, pod), ["metadata.odd", "spec.containers[0].imag"]);
  assert.deepEqual(pod.spec.containers[0], { name: "m", resources: { limits: { cpu: "1" } } });
  assert.deepEqual(dropUnknownFields(maps, { metadata: {}, data: { any: "thing" } }), []);
});

test("over the wire: protobuf, YAML, and the three ways to take a field that there is not", async (t) => {
  const { url, api } = await serverFor(t);
  const path = "/api/v1/namespaces/default/configmaps";
  const send = async (/** @type {string} */ type, /** @type {any} */ body) => {
    const response = await fetch(url + path, { method: "POST", headers: { "content-type": type }, body });
    return { code: response.status, body: /** @type {any} */ (await response.json()) };
  };
  const binary = await send("application/vnd.kubernetes.protobuf", encoded);
  assert.deepEqual([binary.code, binary.body.data, binary.body.immutable], [201, { x: "1" }, true]);
  const yaml = await send("application/yaml", "metadata:\n  name: b\ndata:\n  y: '2'\n");
  assert.deepEqual([yaml.code, yaml.body.data], [201, { y: "2" }]);
  const none = await send("application/vnd.kubernetes.protobuf", "xxx");
  assert.match(none.body.message, /expected prefix \[107 56 115 0\] \(787878\)$/);
  const create = (/** @type {string} */ query, /** @type {string} */ name) =>
    api(`${path}?${query}`, { method: "POST", json: { metadata: { name }, dat: {}, data: { x: "1" } } });
  const strict = await create("fieldValidation=Strict", "c");
  const cannot = 'ConfigMap in version "v1" cannot be handled as a ConfigMap';
  assert.deepEqual([strict.code, strict.body.message], [400, `${cannot}: strict decoding error: unknown field "dat"`]);
  const warned = await create("", "c");
  assert.deepEqual([warned.code, warned.body.dat, warned.headers.get("warning")], [201, undefined, '299 - "unknown field \\"dat\\""']);
  assert.equal((await create("fieldValidation=Ignore", "d")).headers.get("warning"), null);
  assert.equal((await create("fieldValidation=x", "e")).code, 422);
  const patch = await api(`${path}/c?fieldValidation=Strict`, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ odd: 1 }),
  });
  assert.match(patch.body.message, /^ "" is invalid: patch: Invalid value: .*: strict decoding error: unknown field "odd"$/);
});

test("every reference in an OpenAPI document leads somewhere", async (t) => {
  const { url, api } = await serverFor(t);
  const index = (await api("/openapi/v3")).body.paths;
  assert.deepEqual(Object.keys(index), ["api/v1", "apis/apps/v1"]);
  for (const { serverRelativeURL } of /** @type {any[]} */ (Object.values(index))) {
    const { body: document } = await api(serverRelativeURL);
    assert.deepEqual(openApiDocument(serverRelativeURL), document);
    const references = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    assert.ok(references.length > 50);
    for (const name of references) assert.ok(document.components.schemas[name], name);
  }
  const { definitions } = openApiV2();
  for (const [, name] of JSON.stringify(definitions).matchAll(/"#\/definitions\/([^"]+)"/g)) assert.ok(definitions[name], name);
  assert.equal((await api("/openapi/v3/apis/none/v1")).code, 404);
  const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const bytes = Buffer.from(await (await fetch(`${url}/openapi/v2`, { headers: { accept } })).arrayBuffer());
  assert.ok(bytes.equals(openApiV2Protobuf()));
});
