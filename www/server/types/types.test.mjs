// Objects in protobuf and in YAML, fields that there are not, and the documents that describe the types.
import assert from "node:assert/strict";
import { test } from "node:test";
import { serverFor } from "../testing.mjs";
import { openApiDocument, openApiV2 } from "./openapi.mjs";
import { openApiV2Protobuf } from "./openapi-protobuf.mjs";
import { decodeProtobuf, isProtobuf } from "./protobuf.mjs";
import { typed } from "./typed.mjs";

const [MAP, POD] = ["core/v1.ConfigMap", "core/v1.Pod"];

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
  const { object, unknown } = typed(POD, pod);
  assert.deepEqual(unknown, ["metadata.odd", "spec.containers[0].imag"]);
  assert.deepEqual(object.spec.containers[0], { name: "m", resources: { limits: { cpu: "1" } } });
  assert.deepEqual(typed(MAP, { metadata: {}, data: { any: "thing" } }).unknown, []);
});

test("a value of another type is refused in Go's words, with the place where it stands", () => {
  /** @param {string} type @param {any} document @returns {string[]} what is wrong, and where */
  const problem = (type, document) => {
    try {
      typed(type, document);
      return [];
    } catch (error) {
      return [/** @type {any} */ (error).message, /** @type {any} */ (error).path];
    }
  };
  const container = (/** @type {any} */ it) => problem(POD, { spec: { containers: [{ name: "m" }, it] } });
  const cannot = "json: cannot unmarshal";
  assert.deepEqual(problem(MAP, { metadata: { name: 1 } }), [
    `${cannot} number into Go struct field ObjectMeta.metadata.name of type string`,
    "metadata.name",
  ]);
  assert.deepEqual(problem(MAP, { data: { a: 1 } }), [`${cannot} number into Go struct field ConfigMap.data of type string`, "data.a"]);
  assert.deepEqual(problem(MAP, { data: [] }), [`${cannot} array into Go struct field ConfigMap.data of type map[string]string`, "data"]);
  assert.deepEqual(problem(POD, { spec: "x" }), [`${cannot} string into Go struct field Pod.spec of type v1.PodSpec`, "spec"]);
  assert.deepEqual(
    problem(POD, { spec: { restartPolicy: 1 } })[0],
    `${cannot} number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy`,
  );
  assert.deepEqual(container("x"), [
    `${cannot} string into Go struct field PodSpec.spec.containers of type v1.Container`,
    "spec.containers[1]",
  ]);
  const port = "ContainerPort.spec.containers.ports.containerPort of type int32";
  for (const [value, given] of [
    ["80", "string"],
    [1.5, "number 1.5"],
    [2 ** 31, "number 2147483648"],
  ])
    assert.equal(container({ ports: [{ containerPort: value }] })[0], `${cannot} ${given} into Go struct field ${port}`);
  assert.equal(container({ resources: { limits: { cpu: "x" } } })[0].slice(0, 21), "quantities must match");
  assert.equal(problem(MAP, { binaryData: { a: "eA=" } })[0], "illegal base64 data at input byte 3");
  assert.match(problem(MAP, { metadata: { creationTimestamp: "x" } })[0], /^parsing time "x" as "2006-01-02T15:04:05Z07:00"/);
});

test("null is nothing, and what is left out where it is zero is left out", () => {
  const metadata = { name: "a", labels: null, annotations: {}, generateName: "", finalizers: [] };
  assert.deepEqual(typed(MAP, { kind: "ConfigMap", metadata, data: null, immutable: null, binaryData: {} }).object, {
    kind: "ConfigMap",
    metadata: { name: "a" },
  });
  assert.deepEqual(typed(MAP, { data: { a: null }, immutable: false }).object, { data: { a: "" }, immutable: false });
  const spec = { containers: [null, { name: null, resources: null, ports: [null] }], replicas: 0 };
  assert.deepEqual(typed(POD, { spec }).object.spec, { containers: [{}, { name: "", resources: {}, ports: [{}] }] });
  assert.deepEqual(typed("apps/v1.Deployment", { spec: { replicas: 0, paused: false } }).object.spec, { replicas: 0 });
  assert.deepEqual(typed(POD, { status: { conditions: [{ lastProbeTime: null }] } }).object.status, {
    conditions: [{ lastProbeTime: null }],
  });
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
