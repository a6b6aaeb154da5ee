#!/usr/bin/env node
// Who may import whom. ARCHITECTURE.md has two tables of layers, the lowest first: the modules of the crate and the folders of src/js. A module
// repeats its row in the last line of its documentation ("Imports: …"). The sources are held to all that. No circle among files, in any
// language. Scripts import no test, and neither imports a benchmark.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFailed, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { circles, rustImports, scriptImports } from "./lib/imports.mjs";
import { root } from "./lib/project.mjs";

const NOBODY = "nothing of this crate";
/** The files of src/js that lie in no folder: the entries of the package. */
const ENTRY = "entry";
/** Who stands for the crate as a whole, and helpers of tests. */
const OUTSIDE = new Set(["lib", "testing"]);

/** The module of the crate that a file belongs to: `src/json/scan.rs` belongs to `json`. @param {string} file */
const moduleOf = (file) => file.replace(/^src\//, "").replace(/(\/.*|\.rs)$/, "");

/** The folder of the facade that a file belongs to. @param {string} file */
export const folderOf = (file) => /^src\/js\/([^/]+)\//.exec(file)?.[1] ?? ENTRY;

/**
 * What each module imports, by name.
 * @param {Map<string, Set<string>>} graph @param {(file: string) => string} roomOf
 */
export function rooms(graph, roomOf = moduleOf) {
  const found = new Map();
  for (const [file, imports] of graph) {
    const room = roomOf(file);
    if (OUTSIDE.has(room)) continue;
    if (!found.has(room)) found.set(room, new Set());
    for (const other of imports) if (roomOf(other) !== room && !OUTSIDE.has(roomOf(other))) found.get(room).add(roomOf(other));
  }
  return new Map([...found].map(([room, imports]) => [room, [...imports].sort()]));
}

/**
 * The rows of a table in ARCHITECTURE.md: module → what it may import, the lowest layer first.
 * @param {string} text @param {string} head what stands over the first column
 */
export function layers(text, head = "module") {
  const table = new RegExp(`^\\| ${head} \\| imports \\|.*\\n\\|[-| ]+\\|.*\\n((?:\\|.*\\n)+)`, "m").exec(text)?.[1] ?? "";
  const names = (/** @type {string} */ cell) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name ?? "");
  return table
    .trim()
    .split("\n")
    .filter(Boolean)
    .flatMap((row) => {
      const [, modules = "", imports = ""] = row.split("|");
      return names(modules).map((module) => ({ module, imports: names(imports).sort() }));
    });
}

/** What a module says that it imports; undefined where it says nothing. @param {string} text */
export function said(text) {
  const line = /^\/\/! Imports:? (.+?)\.?$/m.exec(text)?.[1];
  if (line === undefined || line === NOBODY) return line && [];
  return line
    .split(",")
    .map((name) => name.trim().replaceAll("`", ""))
    .sort();
}

/**
 * @param {Map<string, string[]>} actual @param {ReturnType<typeof layers>} table @param {string} home where the modules lie
 * @param {(room: string) => string[] | undefined} [says] what a module says itself, where modules do
 */
export function layerViolations(actual, table, home, says) {
  const found = [];
  const list = (/** @type {string[]} */ names) => names.join(", ") || (says ? NOBODY : "nothing");
  const place = new Map(table.map(({ module }, place) => [module, place]));
  for (const [room, imports] of actual) {
    const row = table.find(({ module }) => module === room);
    if (!row) {
      found.push(`ARCHITECTURE.md: the table of layers has no row for ${room}`);
      continue;
    }
    if (list(row.imports) !== list(imports))
      found.push(`ARCHITECTURE.md: ${room} imports ${list(imports)}, the table says ${list(row.imports)}`);
    for (const other of imports) {
      if ((place.get(other) ?? Infinity) >= (place.get(room) ?? 0))
        found.push(`${home}/${room}: imports ${other}, which stands above it or beside it`);
    }
    if (says === undefined) continue;
    const words = says(room);
    if (words === undefined) found.push(`${home}/${room}: its documentation has no line "Imports: ${list(imports)}."`);
    else if (list(words) !== list(imports)) found.push(`${home}/${room}: imports ${list(imports)}, its documentation says ${list(words)}`);
  }
  for (const { module } of table)
    if (!actual.has(module)) found.push(`ARCHITECTURE.md: the table of layers names ${module}, which is not there`);
  return found;
}

/** Folders beside the sources, the lowest first. Benchmarks may use what tests share; tests of a benchmark stand beside it. */
const FOLDERS = ["scripts", "tests", "benches"];
/** Where a file's folder stands among them; -1 for any other. @param {string} file */
const heightOf = (file) => FOLDERS.indexOf(file.split("/")[0] ?? "");

/** What files import of a folder that stands above their own. @param {Map<string, Set<string>>} graph */
export function folderViolations(graph) {
  return [...graph].flatMap(([file, imports]) => {
    const height = heightOf(file);
    if (height < 0) return [];
    const above = [...imports].filter((other) => heightOf(other) > height);
    return above.map((other) => `${file}: imports ${other}, which stands above ${FOLDERS[height]}`);
  });
}

export function checkLayers() {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), "utf8");
  const rust = filesUnder(["src"], (path) => path.endsWith(".rs"));
  const scripts = filesUnder(["src/js", "www/src", "www/server", "scripts", "tests", "benches"], (path) => /\.(ts|tsx|js|mjs)$/.test(path));
  const graph = rustImports(rust, read);
  const door = (/** @type {string} */ room) => (rust.includes(`src/${room}.rs`) ? `src/${room}.rs` : `src/${room}/mod.rs`);
  const scriptGraph = scriptImports(scripts, read);
  const facade = new Map([...scriptGraph].filter(([file]) => file.startsWith("src/js/")));
  const found = [
    ...layerViolations(rooms(graph), layers(read("ARCHITECTURE.md")), "src", (room) => said(read(door(room)))),
    ...layerViolations(rooms(facade, folderOf), layers(read("ARCHITECTURE.md"), "folder"), "src/js"),
    ...folderViolations(scriptGraph),
    ...[...circles(graph), ...circles(scriptGraph)].map((circle) => `a circle of imports: ${circle.join(", ")}`),
  ];
  for (const line of found) console.log(line);
  console.log(`${rust.length + scripts.length} files looked at for who imports whom, ${found.length} violations`);
  if (found.length > 0) throw new CommandFailed("the layers are broken, see above.");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main(checkLayers);
