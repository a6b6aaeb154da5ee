// The package has an entry for browsers and one for Node: whoever writes for one can write for the other.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

/** What a declaration file exports, types included; of files that it passes on as a whole their names. */
async function exportsOf(name) {
  const text = await readFile(new URL(`../../dist/${name}.d.ts`, import.meta.url), "utf8");
  const exports = [...text.matchAll(/^export (?:type )?(?:\{([^}]*)\}|\* from "([^"]*)"|declare \w+ (\w+))/gm)];
  assert.equal(exports.length, text.match(/^export /gm).length, "each of them is read");
  const names = exports.flatMap(([, list, whole, own]) => list?.split(",").map((item) => item.trim()) ?? [whole ?? own]);
  return names.sort();
}

test("both entries export the same names, types included", async () => {
  const names = await exportsOf("index");
  assert.deepEqual(await exportsOf("node"), names);
  for (const name of ["createWatchCache", "SelectorMistake", "WatchCacheError", "./types.js"]) assert.ok(names.includes(name), name);
});

test("both entries have the same values", async () => {
  const [browser, node] = await Promise.all([import("../../dist/index.js"), import("../../dist/node.js")]);
  assert.deepEqual(Object.keys(node).sort(), Object.keys(browser).sort());
});
