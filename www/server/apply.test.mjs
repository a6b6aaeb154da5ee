import assert from "node:assert/strict";
import { test } from "node:test";
import { applied, ownerOfApplied, ownersAfterUpdate } from "./apply.mjs";
import { fieldSet, fromTree, pathText, toTree } from "./field-sets.mjs";
import { serverFor } from "./testing.mjs";

const who = (/** @type {string} */ manager) => ({ manager, apiVersion: "v1", time: "2026-01-01T00:00:00Z" });
const map = (/** @type {any} */ data) => ({ metadata: { name: "a" }, data });
const made = (/** @type {any} */ data, manager = "me") => ({
  ...map(data),
  metadata: { name: "a", managedFields: [ownerOfApplied(map(data), who(manager))] },
});
const owners = (/** @type {any} */ { metadata }) =>
  Object.fromEntries(metadata.managedFields.map((/** @type {any} */ { manager, fieldsV1 }) => [manager, Object.keys(fieldsV1["f:data"])]));

test("sets of fields are trees and back, and paths have a text", () => {
  const ports = [{ containerPort: 80, protocol: "TCP" }];
  const object = {
    spec: { containers: [{ name: "m", ports, args: ["x"] }], selector: { matchLabels: { a: "1" } } },
    metadata: { finalizers: ["f"] },
  };
  const set = fieldSet(object);
  const tree = toTree(set);
  assert.deepEqual(fromTree(tree), set);
  assert.deepEqual(tree["f:spec"]["f:selector"], {}, "a selector is one whole");
  assert.deepEqual([...set].map(pathText), [
    '.spec.containers[name="m"]',
    '.spec.containers[name="m"].name',
    '.spec.containers[name="m"].ports[containerPort=80,protocol="TCP"]',
    '.spec.containers[name="m"].ports[containerPort=80,protocol="TCP"].containerPort',
    '.spec.containers[name="m"].ports[containerPort=80,protocol="TCP"].protocol',
    '.spec.containers[name="m"].args',
    ".spec.selector",
    '.metadata.finalizers[="f"]',
  ]);
});

test("what is applied no more goes, unless another holds it", () => {
  const one = applied(made({ a: "1", b: "1" }), map({ a: "1", b: "1" }), who("you"), false);
  assert.deepEqual(owners(one), { me: ["f:a", "f:b"], you: ["f:a", "f:b"] });
  const two = applied(one, map({ b: "1" }), who("me"), false);
  assert.deepEqual(
    [two.data, owners(two)],
    [
      { a: "1", b: "1" },
      { me: ["f:b"], you: ["f:a", "f:b"] },
    ],
  );
  const three = applied(two, map({ b: "1" }), who("you"), false);
  assert.deepEqual([three.data, owners(three)], [{ b: "1" }, { me: ["f:b"], you: ["f:b"] }]);
});

test("a field that another has set otherwise is a conflict, which force takes over", () => {
  const live = made({ a: "1", b: "1" });
  assert.throws(
    () => applied(live, map({ a: "2", b: "2" }), who("you"), false),
    (/** @type {any} */ error) => {
      assert.equal(error.code, 409);
      assert.equal(error.message, 'Apply failed with 2 conflicts: conflicts with "me":\n- .data.a\n- .data.b');
      assert.deepEqual(error.details.causes[0], { reason: "FieldManagerConflict", message: 'conflict with "me"', field: ".data.a" });
      return true;
    },
  );
  const forced = applied(live, map({ a: "2" }), who("you"), true);
  assert.deepEqual(
    [forced.data, owners(forced)],
    [
      { a: "2", b: "1" },
      { me: ["f:b"], you: ["f:a"] },
    ],
  );
  assert.deepEqual(owners(applied(live, map({ a: "1" }), who("you"), false)).you, ["f:a"], "the same value is none");
});

test("whoever changes a field has it from then on", () => {
  const before = made({ a: "1", b: "1" });
  const after = { ...before, data: { a: "2", c: "1" } };
  const managedFields = ownersAfterUpdate(before, after, who("you"));
  assert.deepEqual(
    managedFields.map(({ manager, operation }) => [manager, operation]),
    [["you", "Update"]],
  );
  assert.deepEqual(Object.keys(managedFields[0].fieldsV1["f:data"]), ["f:a", "f:c"]);
});

test("an apply over the wire: YAML, a conflict, and what it may not say", async (t) => {
  const { api } = await serverFor(t);
  const apply = (/** @type {string} */ body, manager = "me") =>
    api(`/api/v1/namespaces/default/configmaps/a?fieldManager=${manager}`, {
      method: "PATCH",
      headers: { "content-type": "application/apply-patch+yaml" },
      body,
    });
  const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: '1'\n";
  assert.equal((await apply(text)).code, 201);
  const again = await apply(text);
  assert.equal(again.code, 200);
  assert.equal(
    (await apply(text)).body.metadata.resourceVersion,
    again.body.metadata.resourceVersion,
    "what changes nothing is no version",
  );
  assert.equal((await apply(text.replace("'1'", "'2'"), "you")).body.message, 'Apply failed with 1 conflict: conflict with "me": .data.x');
  const odd = await apply(`${text}dat: {}\n`);
  assert.deepEqual(
    [odd.code, odd.body.message],
    [500, "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .dat: field not declared in schema"],
  );
  assert.equal((await apply("kind: ConfigMap")).code, 400);
  assert.equal((await apply(": :")).code, 400);
});
