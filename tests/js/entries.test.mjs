// The package has an entry for browsers, one for Node and one without a file beside it. Code that is written for one runs with the others.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

/** What a declaration file exports, types included; of files whose types it passes on as a whole their names. */
async function exportsOf(name) {
  const text = await readFile(new URL(`../../dist/${name}.d.ts`, import.meta.url), "utf8");
  const exports = [...text.matchAll(/^export (?:type )?(?:\{([^}]*)\}|\* from "([^"]*)"|declare \w+ (\w+))/gm)];
  assert.equal(exports.length, text.match(/^export /gm).length, "each of them is read");
  const names = exports.map(([, list, whole, own]) => {
    if (list !== undefined) return list.split(",").map((item) => item.trim());
    return whole === "./exports.js" ? exportsOf("exports") : [whole ?? own];
  });
  return (await Promise.all(names)).flat().sort();
}

test("all entries export the same names, types included", async () => {
  const names = await exportsOf("index");
  for (const entry of ["node", "inline"]) assert.deepEqual(await exportsOf(entry), names, entry);
  for (const name of ["createWatchCache", "SelectorMistake", "WatchCacheError", "./types.js"]) assert.ok(names.includes(name), name);
});

test("all entries have the same values", async () => {
  const [browser, ...others] = await Promise.all(["index", "node", "inline"].map((entry) => import(`../../dist/${entry}.js`)));
  for (const other of others) assert.deepEqual(Object.keys(other).sort(), Object.keys(browser).sort());
});
