import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeListOptions } from "./query.mjs";
import { findResourceByName } from "./resources.mjs";

const pods = /** @type {import("./resources.mjs").ResourceDefinition} */ (findResourceByName("pods"));

test("opt_06_a_watch_that_says_nothing_is_a_consistent_one", () => {
  const both = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
  const none = { sendInitialEvents: undefined, resourceVersionMatch: "" };
  for (const [query, forceWatch, expected] of /** @type {[string, boolean, object][]} */ ([
    ["watch=1", false, both],
    ["watch=1&resourceVersion=0", false, both],
    ["watch=1&allowWatchBookmarks=1", false, both],
    ["watch=1&resourceVersion=1", false, none],
    ["watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", false, { ...both, sendInitialEvents: false }],
    ["resourceVersion=0", false, none],
    ["", false, none],
    // The deprecated path is older than the rule.
    ["", true, none],
  ])) {
    const { sendInitialEvents, resourceVersionMatch } = decodeListOptions(new URLSearchParams(query), pods, { forceWatch });
    assert.deepEqual({ sendInitialEvents, resourceVersionMatch }, expected, query);
  }
  // A match is not made up for: it stays, and is refused.
  assert.throws(() => decodeListOptions(new URLSearchParams("watch=1&resourceVersionMatch=NotOlderThan"), pods), { code: 422 });
});
