// The check of who imports whom: each rule is broken once, and found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { folderOf, folderViolations, layers, layerViolations, rooms, said } from "../../scripts/check-layers.mjs";
import { circles, expand, rustImports, scriptImports } from "../../scripts/lib/imports.mjs";

/** @param {Record<string, string>} texts */
const rust = (texts) => rustImports(Object.keys(texts), (file) => texts[file] ?? "");
/** @param {Map<string, Set<string>>} graph */
const plain = (graph) => Object.fromEntries([...graph].map(([file, imports]) => [file, [...imports].sort()]));

test("a tree of imports is its paths", () => {
  assert.deepEqual(expand("crate::a::{b, c::{self, D as E}, f::*}"), [
    "crate::a::b",
    "crate::a::c::self",
    "crate::a::c::D",
    "crate::a::f::*",
  ]);
});

test("imports of Rust are found in all their forms, and none in comments, texts and tests", () => {
  const graph = rust({
    "src/a/mod.rs": "mod one;\npub use one::One;\nuse crate::b::{Two, three::Three};",
    "src/a/one.rs": '//! See crate::d.\nuse super::two::Two; // use crate::d::D;\nlet text = "crate::d";\nfn f() { crate::b::three::g() }',
    "src/a/two.rs": "#[cfg(test)]\nmod tests {\n use crate::d::D;\n}",
    "src/b/mod.rs": "",
    "src/b/three.rs": "",
    "src/d.rs": "",
  });
  assert.deepEqual(plain(graph), {
    "src/a/mod.rs": ["src/b/mod.rs", "src/b/three.rs"],
    "src/a/one.rs": ["src/a/two.rs", "src/b/three.rs"],
    "src/a/two.rs": [],
    "src/b/mod.rs": [],
    "src/b/three.rs": [],
    "src/d.rs": [],
  });
  assert.deepEqual(Object.fromEntries(rooms(graph)), { a: ["b"], b: [], d: [] });
});

test("imports of scripts are found, those of types alone and those at run time too", () => {
  const texts = {
    "js/a.ts": 'import type { B } from "./b.js";\n// import "./d.js";\nexport { c } from "./lib/c.js";\nconst d = import("./d.js");',
    "js/b.ts": 'import { made } from "./made.js";',
    "js/made.d.ts": "",
    "js/lib/c.ts": 'import { A } from "../a.js";\nimport fs from "node:fs";',
    "js/d.tsx": "",
  };
  const graph = scriptImports(Object.keys(texts), (file) => texts[/** @type {keyof typeof texts} */ (file)]);
  assert.deepEqual(plain(graph), {
    "js/a.ts": ["js/b.ts", "js/d.tsx", "js/lib/c.ts"],
    "js/b.ts": ["js/made.d.ts"],
    "js/made.d.ts": [],
    "js/lib/c.ts": ["js/a.ts"],
    "js/d.tsx": [],
  });
  assert.deepEqual(circles(graph), [["js/a.ts", "js/lib/c.ts"]]);
});

test("circles are found whole, and what hangs on one is none", () => {
  const graph = new Map(
    Object.entries({ a: ["b"], b: ["c"], c: ["a", "d"], d: ["e"], e: ["d"], f: ["a"] }).map(([a, b]) => [a, new Set(b)]),
  );
  assert.deepEqual(circles(graph).map(String).sort(), ["a,b,c", "d,e"]);
});

test("a script that imports a test or a benchmark is found, and a test that imports a benchmark, but none that imports downwards", () => {
  const graph = new Map([
    ["scripts/a.mjs", new Set(["scripts/lib/b.mjs", "www/server/c.mjs", "benches/d.mjs", "tests/e.mjs"])],
    ["benches/d.mjs", new Set(["scripts/a.mjs", "tests/e.mjs"])],
    ["tests/e.mjs", new Set(["benches/d.mjs", "scripts/a.mjs", "tests/f.mjs", "www/server/c.mjs"])],
    ["www/server/c.mjs", new Set(["tests/e.mjs"])],
  ]);
  assert.deepEqual(folderViolations(graph), [
    "scripts/a.mjs: imports benches/d.mjs, which stands above scripts",
    "scripts/a.mjs: imports tests/e.mjs, which stands above scripts",
    "tests/e.mjs: imports benches/d.mjs, which stands above tests",
  ]);
});

const TABLE = "x\n\n| module | imports | what |\n|---|---|---|\n| `low` | – | x |\n| `mid` | `low` | x |\n| `top` | `low` `mid` | x |\n";
const actual = (changes = {}) => new Map(Object.entries({ low: [], mid: ["low"], top: ["low", "mid"], ...changes }));
const lines = /** @type {Record<string, string>} */ ({
  low: "//! Low.\n//!\n//! Imports nothing of this crate.\n",
  mid: "//! Imports: low.\n",
  top: "//! Imports: `mid`, low.\n",
});
const says = (/** @type {string} */ room) => said(lines[room] ?? "");

test("layers that agree are no violation", () => {
  assert.deepEqual(layerViolations(actual(), layers(TABLE), "src", says), []);
});

test("an arrow that runs up is found", () => {
  const found = layerViolations(actual({ low: ["top"] }), layers(TABLE), "src", says);
  assert.ok(found.includes("src/low: imports top, which stands above it or beside it"), String(found));
});

test("a table or a module that says something else is found, and one that says nothing", () => {
  assert.match(
    layerViolations(actual({ top: ["mid"] }), layers(TABLE), "src", says).join("\n"),
    /top imports mid, the table says low, mid\n.*top: imports mid, its doc/s,
  );
  assert.match(
    layerViolations(actual(), layers(TABLE), "src", () => undefined).join("\n"),
    /src\/low: its documentation has no line "Imports: nothing of this crate\."/,
  );
  assert.match(layerViolations(actual({ new: [] }), layers(TABLE), "src", says).join("\n"), /the table of layers has no row for new/);
  assert.match(layerViolations(new Map([["low", []]]), layers(TABLE), "src", says).join("\n"), /names mid, which is not there/);
});

const FOLDERS =
  TABLE + "\n| folder | imports | what |\n|---|---|---|\n| `wire` | – | x |\n| `view` | `wire` | x |\n| `entry` | `view` | x |\n";
/** @param {Record<string, string>} texts */
const facade = (texts) =>
  rooms(
    scriptImports(
      Object.keys(texts).map((file) => `src/js/${file}`),
      (file) => texts[file.slice("src/js/".length)] ?? "",
    ),
    folderOf,
  );
/** @param {Map<string, string[]>} actual */
const facadeViolations = (actual) => layerViolations(actual, layers(FOLDERS, "folder"), "src/js");
const SOUND = {
  "index.ts": 'export { view } from "./view/view.js";',
  "view/view.ts": 'import type { Raw } from "../wire/raw.js";\nimport { now } from "./now.js";',
  "view/now.ts": "",
  "wire/raw.ts": 'import "./numbers.js";',
  "wire/numbers.ts": "",
};

test("the folders of the facade have a table of their own, and what agrees with it is no violation", () => {
  assert.deepEqual(layers(TABLE, "folder"), []);
  assert.deepEqual(Object.fromEntries(facade(SOUND)), { entry: ["view"], view: ["wire"], wire: [] });
  assert.deepEqual(facadeViolations(facade(SOUND)), []);
});

test("an import of the facade that runs up is found, that of a type as well", () => {
  const up = facade({ ...SOUND, "wire/raw.ts": 'import type { View } from "../view/view.js";' });
  assert.deepEqual(facadeViolations(up), [
    "ARCHITECTURE.md: wire imports view, the table says nothing",
    "src/js/wire: imports view, which stands above it or beside it",
  ]);
  const entry = facade({ ...SOUND, "view/now.ts": 'import { view } from "../index.js";' });
  assert.ok(facadeViolations(entry).includes("src/js/view: imports entry, which stands above it or beside it"));
});

test("an import of the facade that the table does not know is found, and one that it knows alone; a folder without a row, too", () => {
  const { "index.ts": _, ...rest } = SOUND;
  const unused = facade({ ...rest, "index.ts": "", "extra/a.ts": "" });
  assert.deepEqual(facadeViolations(unused), [
    "ARCHITECTURE.md: entry imports nothing, the table says view",
    "ARCHITECTURE.md: the table of layers has no row for extra",
  ]);
  assert.match(facadeViolations(facade({ "wire/raw.ts": "" })).join("\n"), /names view, which is not there/);
});
