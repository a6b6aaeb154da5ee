// What the hooks take for the same spec: by what it says, and not by which object it is.
import assert from "node:assert/strict";
import { test } from "node:test";
import { contentOf } from "../../dist/react/content.js";

test("specs that say the same are the same, whatever the order of their members", () => {
  assert.equal(contentOf({ a: 1, b: [2, "x"] }), contentOf({ b: [2, "x"], a: 1 }));
  assert.equal(contentOf({ a: 1, b: undefined }), contentOf({ a: 1 }));
});

test("specs that say something else are others: what is undefined in an array is not nothing", () => {
  const specs = [[], [undefined], [undefined, undefined], [""], [null], ["undefined"], ["a", "b"], ["a,b"], {}, undefined, null];
  const contents = specs.map((namespaces) => contentOf({ namespaces }));
  assert.equal(new Set(contents).size, specs.length, contents.join("\n"));
});
