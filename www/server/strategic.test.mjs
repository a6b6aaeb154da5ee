import assert from "node:assert/strict";
import { test } from "node:test";
import { strategicPatch } from "./strategic.mjs";

const POD = "core/v1.Pod";
const containers = (/** @type {string[]} */ ...names) => names.map((name) => ({ name, image: `example/${name}` }));
const patched = (/** @type {any} */ spec, /** @type {any} */ patch) => strategicPatch({ spec }, { spec: patch }, POD).spec;

test("lists with a key are merged by it, others are replaced", () => {
  const spec = { containers: containers("a", "b"), tolerations: [{ key: "x" }] };
  const patch = { containers: [{ name: "b", image: "new" }, { name: "c" }], tolerations: [{ key: "y" }] };
  assert.deepEqual(patched(spec, patch), {
    containers: [{ name: "a", image: "example/a" }, { name: "b", image: "new" }, { name: "c" }],
    tolerations: [{ key: "y" }],
  });
  assert.deepEqual(spec.containers, containers("a", "b"), "what was given stays as it was");
});

test("directives delete and replace items, lists and objects", () => {
  const spec = { containers: containers("a", "b"), nodeSelector: { x: "1" } };
  assert.deepEqual(patched(spec, { containers: [{ name: "a", $patch: "delete" }] }).containers, containers("b"));
  assert.deepEqual(patched(spec, { containers: [{ name: "c" }, { $patch: "replace" }] }).containers, [{ name: "c" }]);
  assert.deepEqual(patched(spec, { nodeSelector: { y: "2", $patch: "replace" } }).nodeSelector, { y: "2" });
  assert.deepEqual(patched(spec, { nodeSelector: { $patch: "delete" } }).nodeSelector, {});
  assert.deepEqual(patched(spec, { nodeSelector: null }), { containers: spec.containers });
  assert.throws(() => patched(spec, { nodeSelector: { $patch: "odd" } }), /invalid value for \$patch: odd/);
  assert.throws(() => patched(spec, { containers: [{ image: "x" }] }), { key: "name", item: { image: "x" } });
});

test("plain lists that are merged gain and lose values", () => {
  const object = { metadata: { finalizers: ["a", "b"] } };
  const finalizers = (/** @type {any} */ patch) => strategicPatch(object, { metadata: patch }, POD).metadata.finalizers;
  assert.deepEqual(finalizers({ finalizers: ["b", "c"] }), ["a", "b", "c"]);
  assert.deepEqual(finalizers({ "$deleteFromPrimitiveList/finalizers": ["a"] }), ["b"]);
});

test("an order is kept, and items that it does not name stay where they were", () => {
  const spec = { containers: containers("a", "mine", "b") };
  const order = [{ name: "b" }, { name: "c" }, { name: "a" }];
  const names = (/** @type {any} */ patch) => patched(spec, patch).containers.map((/** @type {any} */ { name }) => name);
  assert.deepEqual(names({ "$setElementOrder/containers": order, containers: containers("c") }), ["mine", "b", "c", "a"]);
  assert.deepEqual(names({ "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] }), ["mine", "b", "a"]);
});

test("of a union only the named keys are left", () => {
  const volumes = [{ name: "v", emptyDir: {} }];
  const patch = { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] };
  assert.deepEqual(patched({ volumes }, patch).volumes, [{ name: "v", configMap: { name: "c" } }]);
});

test("a prototype is no field", () => {
  const result = strategicPatch({}, JSON.parse('{"__proto__":{"x":1}}'), POD);
  assert.equal(result.x, undefined);
});
