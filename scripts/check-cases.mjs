#!/usr/bin/env node
// Each case of tests/cases has a test that is named after it, code that keeps it, and a chapter that tells it. Each such test has a case.
// `--write` fills in the column of the tests.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { definitionSaid, definitionsIn, named } from "./lib/definitions.mjs";
import { CommandFailed, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { root } from "./lib/project.mjs";
import { MAX_WORDS, longSentences } from "./lib/sentences.mjs";

/** Tells how cases are written, and lists the families. Each has a file of its own below. */
const INDEX = "tests/CASES.md";
const FOLDER = "tests/cases";
const MEND = "`node scripts/check-cases.mjs --write` mends it";
const COLUMNS = 6;
/** Told by the comment at its code alone: no user meets it. */
const IN_CODE = "code";
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

/** A family's file. @typedef {{ file: string, markdown: string }} Family */
/** @typedef {{ id: string, rule: string, from: string, code: string, told: string, tests: string, line: number, cells: number }} Case */
/** @typedef {import("./lib/definitions.mjs").Definition} Definition */
/** What each file of code defines. @typedef {Map<string, readonly Definition[]>} Code */

/** The rows of the tables. @param {string} markdown @returns {Case[]} */
export function casesOf(markdown) {
  return markdown.split("\n").flatMap((line, index) => {
    if (!line.startsWith("| ") || line.startsWith("| Case |")) return [];
    const cells = line
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim());
    const [id = "", rule = "", from = "", code = "", told = "", tests = ""] = cells;
    return [{ id, rule, from, code, told, tests, line: index + 1, cells: cells.length }];
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

/** Where a name is defined, said as the table says it. @param {Code} code @param {string} said */
function definedIn(code, said) {
  const { name } = definitionSaid(said);
  const places = [...code].filter(([, definitions]) => named(definitions, name).length > 0).map(([file]) => `\`${file}\``);
  if (places.length === 0) return `nothing is called ${name} any more: name what decides the rule now`;
  return `${name} stands in ${places.slice(0, 3).join(", ")}${places.length > 3 ? ", …" : ""}: name the file and the function that decide the rule now`;
}

/**
 * What is wrong with the code that a case names: `file`: `function`, `Type::method`; several of them with a line break between.
 * @param {string} said @param {Code} code
 */
function codeFaults(said, code) {
  if (said === "") return ["does not say where it is kept: `file`: `function`"];
  return said.split("<br>").flatMap((entry) => {
    const [, file = "", names = ""] = /^`([^`]+)`: (`[^`]+`(?:, `[^`]+`)*)$/.exec(entry) ?? [];
    if (file === "") return [`is kept by ${entry}, which is not \`file\`: \`function\``];
    const definitions = code.get(file);
    return [...names.matchAll(/`([^`]+)`/g)].flatMap(([, name = ""]) => {
      if (definitions === undefined) return [`is kept by ${file}, which does not exist; ${definedIn(code, name)}`];
      const found = named(definitions, name);
      if (found.length === 0) return [`is kept by ${name} of ${file}, which defines no such thing; ${definedIn(code, name)}`];
      const owners = new Set(found.flatMap(({ owner }) => owner ?? []));
      if (definitionSaid(name).owner !== undefined || owners.size === 0) return [];
      return [`is kept by ${name} of ${file}, a method of ${[...owners].join(" and of ")}: name its type, too`];
    });
  });
}

/** @param {Family[]} families @param {ReturnType<typeof testsIn>} tests @param {Code} code */
export function caseViolations(families, tests, code) {
  const cases = families.flatMap(({ file, markdown }) => casesOf(markdown).map((row) => ({ ...row, file })));
  const { known, said } = places(cases, tests);
  /** @type {string[]} */
  const found = [];
  for (const { file, line, name, ids } of tests)
    for (const id of ids)
      if (caseOf(known, id, name) === undefined) found.push(`${file}:${line}: ${name} holds ${id}, which is no case of ${FOLDER}`);
  const seen = new Set();
  for (const row of cases) {
    const place = `${row.file}:${row.line}: ${row.id}`;
    if (row.cells !== COLUMNS) found.push(`${place} has ${row.cells} cells, not ${COLUMNS}`);
    if (idsOf(row.id)[0] === undefined) found.push(`${place} is no id`);
    if (seen.has(row.id)) found.push(`${place} stands twice`);
    seen.add(row.id);
    if (!row.rule || !row.from) found.push(`${place} does not say its rule and where it is from`);
    for (const { words } of longSentences("rule.md", row.rule))
      found.push(`${place} has a sentence of ${words} words, more than ${MAX_WORDS}`);
    for (const fault of codeFaults(row.code, code)) found.push(`${place} ${fault}`);
    const expected = said.get(row.id) ?? "";
    if (expected === "") found.push(`${place} has no test`);
    else if (expected !== row.tests) found.push(`${place} has its tests elsewhere, or under other names: ${MEND}`);
  }
  return found;
}

/** A family's tables with the column of the tests filled in. @param {string} markdown @param {ReturnType<typeof testsIn>} tests */
export function filled(markdown, tests) {
  const cases = casesOf(markdown);
  const { said } = places(cases, tests);
  const lines = markdown.split("\n");
  for (const { id, rule, from, code, told, line } of cases)
    lines[line - 1] = `| ${[id, rule, from, code, told, said.get(id)].join(" | ")} |`;
  return lines.join("\n");
}

/** The anchor of a heading, as GitHub makes it. @param {string} heading */
const anchor = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/**
 * The chapters that tell a case. A row that names none is told in the chapters of its family. A row that says `code` is told only by the
 * comment at its code.
 * @param {Family} family @param {(path: string) => string | undefined} read
 */
export function linkViolations({ file, markdown }, read) {
  const links = [...markdown.matchAll(/\]\(([^)#]+)(?:#([^)]+))?\)/g)].flatMap(([, link = "", chapter]) => {
    const path = posix.join(posix.dirname(file), link);
    if (chapter === undefined) return [`${file}: the link to ${path} names no chapter`];
    const headings = read(path)?.matchAll(/^#+ (.+)$/gm) ?? [];
    if ([...headings].some(([, heading = ""]) => anchor(heading) === chapter)) return [];
    return [`${file}: ${path} has no chapter #${chapter}`];
  });
  const isTold = /^[^|].*Told in \[/m.test(markdown);
  const untold = casesOf(markdown).flatMap(({ id, told, line }) => {
    if (told.startsWith("[") || told === IN_CODE) return [];
    if (told !== "") return [`${file}:${line}: ${id} is told in ${told}, which is neither a link nor "${IN_CODE}"`];
    return isTold ? [] : [`${file}:${line}: neither ${id} nor its family says where it is told`];
  });
  return [...links, ...untold];
}

/** The list of families against their files: each stands in it, under the words that its ids begin with. @param {string} index @param {Family[]} families */
export function familyViolations(index, families) {
  const said = new Set([...index.matchAll(/^- .*\]\(cases\/.*$/gm)].map(([line]) => line));
  const expected = families.map(({ file, markdown }) => {
    const heading = /^# (.+)$/m.exec(markdown)?.[1] ?? "";
    const words = [...new Set(casesOf(markdown).map(({ id }) => `\`${id.split("_")[0]}_\``))].join(", ");
    return `- ${words}: [${heading}](cases/${posix.basename(file)})`;
  });
  const missing = expected.filter((line) => !said.has(line)).map((line) => `${INDEX}: the list of families has to say ${line}`);
  const gone = [...said]
    .filter((line) => !expected.includes(line))
    .map((line) => `${INDEX}: the list of families has a line for nothing: ${line}`);
  return [...missing, ...gone];
}

/** @returns {Family[]} */
const readFamilies = () => filesUnder([FOLDER]).map((file) => ({ file, markdown: readFileSync(join(root, file), "utf8") }));

/** Tests of the scripts hold no case, and those of this one are full of ids. */
const holdsCases = (/** @type {string} */ file) => /\.(rs|mjs)$/.test(file) && !file.startsWith("tests/setup/");

function allTests() {
  const files = filesUnder(["src", "tests", "www/server"]).filter(holdsCases);
  return files.flatMap((file) => testsIn(file, readFileSync(join(root, file), "utf8")));
}

/** What cases may be kept by: the sources, in every language, without their tests. @returns {Code} */
function allCode() {
  const files = filesUnder(["src", "www/server"]).filter((file) => /\.(rs|ts|mjs)$/.test(file) && !/\.test\.|\.d\.ts$/.test(file));
  return new Map(files.map((file) => [file, definitionsIn(file, readFileSync(join(root, file), "utf8"))]));
}

export function checkCases() {
  const families = readFamilies();
  const read = (/** @type {string} */ path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : undefined);
  return [
    ...caseViolations(families, allTests(), allCode()),
    ...families.flatMap((family) => linkViolations(family, read)),
    ...familyViolations(readFileSync(join(root, INDEX), "utf8"), families),
  ];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => {
    const tests = allTests();
    if (process.argv.includes("--write"))
      for (const { file, markdown } of readFamilies()) writeFileSync(join(root, file), filled(markdown, tests));
    const found = checkCases();
    for (const line of found) console.log(line);
    const cases = readFamilies().flatMap(({ markdown }) => casesOf(markdown));
    console.log(`${cases.length} cases, ${tests.length} tests named after them, ${found.length} violations`);
    if (found.length > 0) throw new CommandFailed("cases and tests differ, see above.");
  });
}
