#!/usr/bin/env node
// The cases of tests/CASES.md against the tests that are named after them, both ways. `--write` fills in the column of the tests.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFailed, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { root } from "./lib/project.mjs";

const TABLE = "tests/CASES.md";
const MEND = "`node scripts/check-cases.mjs --write` mends it";
const COLUMNS = 5;
const ID = "(?:[a-z]{1,4}_\\d{2}(?!\\w)|[a-z]{1,4}_\\d{2}(?=_)|etcd_[a-z]+)";
const IDS = new RegExp(`^${ID}(?:_${ID})*(?=[_: ]|$)`);
const RUST_FUNCTION = /^\s*(?:pub )?(?:async )?fn (\w+)/;
/** A row of a macro that makes a test of each. */
const RUST_ROW = /^\s*(\w+):(?:\s|$)/;
/** A text that is one line: a test's title, or the first cell of a row that becomes one. */
const SCRIPT_TEXT = /(["'`])((?:(?!\1|\$\{)[^\\\n])*)(\1|\$\{)/g;

/** The ids that a test's name begins with. @param {string} name @returns {string[]} */
export function idsOf(name) {
  const run = IDS.exec(name)?.[0];
  if (run === undefined) return [];
  return run.match(new RegExp(ID, "g")) ?? [];
}

/** Whether the function in this line is a test: its attributes say so. @param {string[]} lines @param {number} at */
function isTest(lines, at) {
  for (let above = at - 1; above >= 0 && /^\s*(#\[|\/\/)/.test(lines[above] ?? ""); above -= 1)
    if (/^\s*#\[(\w+::)*(wasm_bindgen_)?test\b/.test(lines[above] ?? "")) return true;
  return false;
}

/** The tests of one file that are named after cases. @param {string} file @param {string} text */
export function testsIn(file, text) {
  /** @type {{ file: string, line: number, name: string, ids: string[] }[]} */
  const found = [];
  const lines = text.split("\n");
  lines.forEach((line, index) => {
    const add = (/** @type {string} */ name) => {
      const ids = idsOf(name);
      if (ids.length > 0) found.push({ file, line: index + 1, name, ids });
    };
    if (file.endsWith(".rs")) {
      const made = RUST_FUNCTION.exec(line)?.[1];
      if (made !== undefined && isTest(lines, index)) add(made);
      const row = RUST_ROW.exec(line)?.[1];
      if (row !== undefined) add(row);
    } else {
      for (const [, , title = "", end] of line.matchAll(SCRIPT_TEXT)) add(end === "${" ? `${title}…` : title);
    }
  });
  return found;
}

/** @typedef {{ id: string, rule: string, from: string, code: string, tests: string, line: number, cells: number }} Case */

/** The rows of the tables. @param {string} markdown @returns {Case[]} */
export function casesOf(markdown) {
  return markdown.split("\n").flatMap((line, index) => {
    if (!line.startsWith("| ") || line.startsWith("| Case |")) return [];
    const cells = line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim());
    const [id = "", rule = "", from = "", code = "", tests = ""] = cells;
    return [{ id, rule, from, code, tests, line: index + 1, cells: cells.length }];
  });
}

/** The case of an id that a name begins with: of etcd's promises the one whose words the name goes on with. */
const caseOf = (/** @type {Map<string, Case>} */ known, /** @type {string} */ id, /** @type {string} */ name) =>
  known.has(id) ? id : [...known.keys()].find((other) => other.startsWith(`${id}_`) && name.startsWith(`${other}_`));

/** What the column of the tests says, by case. @param {Case[]} cases @param {ReturnType<typeof testsIn>} tests */
function places(cases, tests) {
  const known = new Map(cases.map((row) => [row.id, row]));
  /** @type {Map<string, Map<string, Set<string>>>} */
  const held = new Map(cases.map((row) => [row.id, new Map()]));
  for (const { file, name, ids } of tests) {
    for (const id of ids) {
      const files = held.get(caseOf(known, id, name) ?? "");
      files?.set(file, (files.get(file) ?? new Set()).add(name));
    }
  }
  const said = (/** @type {Map<string, Set<string>>} */ files) =>
    [...files].map(([file, names]) => `\`${file}\`: ${[...names].map((name) => `\`${name}\``).join(", ")}`).join("<br>");
  return { known, said: new Map([...held].map(([id, files]) => [id, said(files)])) };
}

/** @param {string} markdown @param {ReturnType<typeof testsIn>} tests @param {(path: string) => boolean} exists */
export function caseViolations(markdown, tests, exists) {
  const cases = casesOf(markdown);
  const { known, said } = places(cases, tests);
  /** @type {string[]} */
  const found = [];
  for (const { file, line, name, ids } of tests)
    for (const id of ids)
      if (caseOf(known, id, name) === undefined) found.push(`${file}:${line}: ${name} holds ${id}, which is no case of ${TABLE}`);
  const seen = new Set();
  for (const row of cases) {
    const place = `${TABLE}:${row.line}: ${row.id}`;
    if (row.cells !== COLUMNS) found.push(`${place} has ${row.cells} cells, not ${COLUMNS}`);
    if (idsOf(row.id)[0] === undefined) found.push(`${place} is no id`);
    if (seen.has(row.id)) found.push(`${place} stands twice`);
    seen.add(row.id);
    if (!row.rule || !row.from) found.push(`${place} does not say its rule and where it is from`);
    const paths = [...row.code.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? "");
    if (paths.length === 0 && row.code !== "—") found.push(`${place} does not say which file keeps it, or — where there are several`);
    for (const path of paths) if (!exists(path)) found.push(`${place} is kept by ${path}, which does not exist`);
    const expected = said.get(row.id) ?? "";
    if (expected === "") found.push(`${place} has no test`);
    else if (expected !== row.tests) found.push(`${place} has its tests elsewhere, or under other names: ${MEND}`);
  }
  return found;
}

/** The tables with the column of the tests filled in. @param {string} markdown @param {ReturnType<typeof testsIn>} tests */
export function filled(markdown, tests) {
  const cases = casesOf(markdown);
  const { said } = places(cases, tests);
  const lines = markdown.split("\n");
  for (const { id, rule, from, code, line } of cases) lines[line - 1] = `| ${id} | ${rule} | ${from} | ${code} | ${said.get(id)} |`;
  return lines.join("\n");
}

/** The anchor of a heading, as GitHub makes it. @param {string} heading */
const anchor = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** Links of the table to chapters that are not there. @param {string} markdown @param {(path: string) => string | undefined} read */
export function linkViolations(markdown, read) {
  return [...markdown.matchAll(/\]\(\.\.\/([^)#]+)#([^)]+)\)/g)].flatMap(([, path = "", chapter = ""]) => {
    const headings = read(path)?.matchAll(/^#+ (.+)$/gm) ?? [];
    if ([...headings].some(([, heading = ""]) => anchor(heading) === chapter)) return [];
    return [`${TABLE}: ${path} has no chapter #${chapter}`];
  });
}

const readTable = () => readFileSync(join(root, TABLE), "utf8");

/** Tests of the scripts hold no case, and those of this one are full of ids. */
const holdsCases = (/** @type {string} */ file) => /\.(rs|mjs)$/.test(file) && !file.startsWith("tests/setup/");

function allTests() {
  const files = filesUnder(["src", "tests", "www/server"]).filter(holdsCases);
  return files.flatMap((file) => testsIn(file, readFileSync(join(root, file), "utf8")));
}

export function checkCases() {
  const table = readTable();
  const exists = (/** @type {string} */ path) => existsSync(join(root, path));
  const read = (/** @type {string} */ path) => (exists(path) ? readFileSync(join(root, path), "utf8") : undefined);
  return [...caseViolations(table, allTests(), exists), ...linkViolations(table, read)];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => {
    if (process.argv.includes("--write")) writeFileSync(join(root, TABLE), filled(readTable(), allTests()));
    const found = checkCases();
    for (const line of found) console.log(line);
    console.log(`${casesOf(readTable()).length} cases, ${allTests().length} tests named after them, ${found.length} violations`);
    if (found.length > 0) throw new CommandFailed("cases and tests differ, see above.");
  });
}
