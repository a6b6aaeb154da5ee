// The JSON patches of `watchcache/memory`: the examples of RFC 6902's appendix A, and what they leave open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { patched } from "../../dist/memory/patch.js";

const applyJsonPatch = (document, patch) => patched(document, patch, "application/json-patch+json");

/** [section of the appendix, document, patch, result; none where it is an error] */
const EXAMPLES = [
  ["A.1", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux" }], { baz: "qux", foo: "bar" }],
  ["A.2", { foo: ["bar", "baz"] }, [{ op: "add", path: "/foo/1", value: "qux" }], { foo: ["bar", "qux", "baz"] }],
  ["A.3", { baz: "qux", foo: "bar" }, [{ op: "remove", path: "/baz" }], { foo: "bar" }],
  ["A.4", { foo: ["bar", "qux", "baz"] }, [{ op: "remove", path: "/foo/1" }], { foo: ["bar", "baz"] }],
  ["A.5", { baz: "qux", foo: "bar" }, [{ op: "replace", path: "/baz", value: "boo" }], { baz: "boo", foo: "bar" }],
  [
    "A.6",
    { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
    [{ op: "move", from: "/foo/waldo", path: "/qux/thud" }],
    { foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } },
  ],
  [
    "A.7",
    { foo: ["all", "grass", "cows", "eat"] },
    [{ op: "move", from: "/foo/1", path: "/foo/3" }],
    { foo: ["all", "cows", "eat", "grass"] },
  ],
  [
    "A.8",
    { baz: "qux", foo: ["a", 2, "c"] },
    [
      { op: "test", path: "/baz", value: "qux" },
      { op: "test", path: "/foo/1", value: 2 },
    ],
    { baz: "qux", foo: ["a", 2, "c"] },
  ],
  ["A.9", { baz: "qux" }, [{ op: "test", path: "/baz", value: "bar" }]],
  ["A.10", { foo: "bar" }, [{ op: "add", path: "/child", value: { grandchild: {} } }], { foo: "bar", child: { grandchild: {} } }],
  ["A.11", { foo: "bar" }, [{ op: "add", path: "/baz", value: "qux", xyz: 123 }], { foo: "bar", baz: "qux" }],
  ["A.12", { foo: "bar" }, [{ op: "add", path: "/baz/bat", value: "qux" }]],
  ["A.14", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: 10 }], { "/": 9, "~1": 10 }],
  ["A.15", { "/": 9, "~1": 10 }, [{ op: "test", path: "/~01", value: "10" }]],
  ["A.16", { foo: ["bar"] }, [{ op: "add", path: "/foo/-", value: ["abc", "def"] }], { foo: ["bar", ["abc", "def"]] }],
];

/** As a server says it. @param {RegExp} [message] */
const unfit =
  (message = /./) =>
  (error) => {
    assert.equal(error.status.code, 422);
    assert.match(error.message, message);
    return true;
  };

for (const [section, document, patch, result] of EXAMPLES) {
  test(`RFC 6902 ${section}`, () => {
    if (result === undefined) assert.throws(() => applyJsonPatch(structuredClone(document), patch), unfit());
    else assert.deepEqual(applyJsonPatch(structuredClone(document), patch), result);
  });
}

const DOCUMENT = { list: [1, 2], object: { a: { b: 1 } }, none: null };

test("the whole document is a place, too", () => {
  assert.deepEqual(applyJsonPatch({ a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }]), { b: 2 });
  assert.deepEqual(applyJsonPatch({ a: { c: 3 } }, [{ op: "copy", from: "/a", path: "" }]), { c: 3 });
  assert.deepEqual(applyJsonPatch({ a: 1 }, [{ op: "test", path: "", value: { a: 1 } }]), { a: 1 });
});

test("what does not fit is refused, by the operation and its path", () => {
  for (const [operation, message] of [
    [{ op: "add", path: "/list/3", value: 0 }, /add at "\/list\/3": the array has no such place/],
    [{ op: "add", path: "/list/01", value: 0 }, /no such place/],
    [{ op: "add", path: "/list/1e0", value: 0 }, /no such place/],
    [{ op: "add", path: "/none/x", value: 0 }, /there is nothing/],
    [{ op: "add", path: "list", value: 0 }, /that is no JSON pointer/],
    [{ op: "add", path: "/x" }, /it has no value/],
    [{ op: "replace", path: "/x", value: 0 }, /replace at "\/x": there is nothing/],
    [{ op: "replace", path: "/list/-", value: 0 }, /there is nothing/],
    [{ op: "remove", path: "/toString" }, /there is nothing/],
    [{ op: "move", from: "/object", path: "/object/a/c" }, /inside of what is moved/],
    [{ op: "move", path: "/x" }, /that is no JSON pointer/],
    [{ op: "test", path: "/object", value: { a: { b: 1, c: 2 } } }, /the value there is another/],
    [{ op: "test", path: "/list", value: { 0: 1, 1: 2 } }, /the value there is another/],
    [{ op: "increment", path: "/list/0" }, /there is no such operation/],
  ]) {
    assert.throws(() => applyJsonPatch(structuredClone(DOCUMENT), [operation]), unfit(message), JSON.stringify(operation));
  }
});

test("a test compares as JSON, whatever the order of members, and null is a value", () => {
  const patch = [
    { op: "test", path: "", value: { none: null, object: { a: { b: 1 } }, list: [1, 2] } },
    { op: "replace", path: "/none", value: null },
  ];
  assert.deepEqual(applyJsonPatch(structuredClone(DOCUMENT), patch), DOCUMENT);
});

test("a patch may be applied again: what it put in is not changed with the document", () => {
  const patch = [
    { op: "add", path: "/x", value: { list: [] } },
    { op: "add", path: "/x/list/-", value: 1 },
  ];
  for (let times = 0; times < 2; times++) assert.deepEqual(applyJsonPatch({}, patch), { x: { list: [1] } });
});

test("no name of a member reaches a prototype", () => {
  const patched = applyJsonPatch({}, [{ op: "add", path: "/__proto__", value: { polluted: true } }]);
  assert.equal({}.polluted, undefined);
  assert.equal(patched.polluted, undefined);
  assert.deepEqual(Object.keys(patched), ["__proto__"]);
  assert.throws(() => applyJsonPatch({}, [{ op: "add", path: "/__proto__/polluted", value: true }]), unfit());
});
