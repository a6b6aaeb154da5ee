#!/usr/bin/env node
// Rules of the project that no linter knows. Prints each violation with its place, and fails if there is one.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checkCases } from "./check-cases.mjs";
import { CommandFailed, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { root, versions } from "./lib/project.mjs";
import { MAX_PARAGRAPH_WORDS, MAX_WORDS, longParagraphs, longSentences } from "./lib/sentences.mjs";

const MAX_LINES = 600;
/** How many long sentences each file still has. The figures only ever shrink: a check that finds fewer writes the fewer down. */
const LONG_SENTENCES = "scripts/long-sentences.json";
const SOURCES = /\.(rs|ts|tsx|mts|js|jsx|mjs|cjs|css|go|sh)$/;
/** Files whose comments are held as well: settings, and the script of the pipeline. */
const SETTINGS = ["Cargo.toml", "rustfmt.toml", ".cargo/config.toml", "fuzz/Cargo.toml", ".ci/run"];
/** Where the documents are. The changelog is read entry by entry, and long ones stay as they were released. */
const DOCUMENTS = ["README.md", "ARCHITECTURE.md", "docs", "benches", "fuzz", "scripts", "tests", "www"];
/** What is read as prose: the comments of every source, and every document but the changelog. */
const isProse = (file) => file !== "CHANGELOG.md";
const JS_CRATES = /\b(wasm_bindgen(_futures|_test)?|js_sys|web_sys|gloo_timers|serde_wasm_bindgen)\b/;
// Put together from halves, so that this file does not trip over itself.
const UNFINISHED = new RegExp(
  ["TO" + "DO", "FIX" + "ME", "XX" + "X"].map((word) => `\\b${word}\\b`).join("|") +
    "|#\\[" +
    "ignore|\\b(it|test|describe)\\." +
    "(skip|todo|only)\\b",
);

/** What a JavaScript test has an upstream of, where that is not `watchcache/memory`. */
const OTHER_UPSTREAMS = {
  "the model of the core": /\/(model|open)\.mjs"/,
  "a server": /\bcreateServer\b|\/www\/server\//,
  "a source of its own": /async \*watch\(|\blist: async\b|async list\(/,
  "a fetch of its own": /\bfetch: (async )?\(|"fetch", async\b/,
};

/**
 * The tests of the facade are over `watchcache/memory`; tests/README.md lists each that is not, with its reason.
 * @param tests the files of tests/js
 * @param readme tests/README.md
 */
export function upstreamViolations(tests, read, readme) {
  const chapter = readme.split("### Other upstreams")[1]?.split("\n#")[0] ?? "";
  const listed = [...chapter.matchAll(/`([\w-]+)`(?=[^|\n]*\|[^|\n]*\|$)/gm)].map(([, name]) => `tests/js/${name}.test.mjs`);
  const found = tests.flatMap((file) => {
    const kinds = Object.entries(OTHER_UPSTREAMS).flatMap(([kind, pattern]) => (pattern.test(read(file)) ? [kind] : []));
    if (kinds.length > 0 === listed.includes(file)) return [];
    if (kinds.length === 0) return [`tests/README.md: ${file} has no other upstream than watchcache/memory, and is listed as an exception`];
    return [`${file}: has ${kinds.join(", ")}, where watchcache/memory is the rule; tests/README.md lists the exceptions`];
  });
  return [...found, ...listed.filter((file) => !tests.includes(file)).map((file) => `tests/README.md: there is no ${file}`)];
}

/** @param read gives the text of a file; returns violations as "file:line: what is wrong" */
export function violations(files, read) {
  const found = [];
  for (const file of files) {
    const lines = read(file).split("\n");
    if (lines.length - 1 > MAX_LINES) found.push(`${file}:${MAX_LINES + 1}: longer than ${MAX_LINES} lines (${lines.length - 1})`);
    const core = file.startsWith("src/") && file.endsWith(".rs") && !file.startsWith("src/web/");
    lines.forEach((line, index) => {
      const place = `${file}:${index + 1}`;
      if (core && JS_CRATES.test(line)) found.push(`${place}: only src/web may name ${line.match(JS_CRATES)[0]}`);
      if (UNFINISHED.test(line)) found.push(`${place}: unfinished or switched off: ${line.match(UNFINISHED)[0]}`);
    });
  }
  return found;
}

function versionViolations() {
  const pinned = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^wasm-bindgen = "=([^"]+)"/m)?.[1];
  if (pinned === versions["wasm-bindgen-cli"]) return [];
  return [`Cargo.toml: wasm-bindgen is ${pinned}, but scripts/versions.json installs wasm-bindgen-cli ${versions["wasm-bindgen-cli"]}`];
}

/** README says what a page downloads: what the guard has recorded, as near as the guard lets sizes move. */
export function sizeViolations(readme, { figures }) {
  const row = /^\| size, brotli \| JavaScript (?<javascript>\d+) kB, WebAssembly (?<wasm>\d+) kB:/m.exec(readme)?.groups;
  if (!row) return ["README.md: no line tells the sizes of JavaScript and WebAssembly"];
  return Object.entries(row).flatMap(([name, kilo]) => {
    const recorded = figures[`size-${name}`].value / 1000;
    // Half a kB is what rounding takes.
    if (Math.abs(Number(kilo) - recorded) <= recorded * 0.05 + 0.5) return [];
    return [`README.md: ${kilo} kB of ${name}, where benches/guard/figures.json has ${recorded.toFixed(1)}`];
  });
}

/**
 * Comments and documents have sentences of at most `MAX_WORDS` words.
 * @param allowed the long sentences that a file may have, by its path
 * @returns each long sentence of a file that has more, and the figures of all files that may stay
 */
export function sentenceViolations(files, read, allowed) {
  const found = [];
  const left = {};
  for (const file of files.filter(isProse)) {
    const long = longSentences(file, read(file));
    const most = allowed[file] ?? 0;
    if (Math.min(long.length, most) > 0) left[file] = Math.min(long.length, most);
    if (long.length <= most) continue;
    for (const { line, words, text } of long) found.push(`${file}:${line}: a sentence of ${words} words, more than ${MAX_WORDS}: ${text}`);
    if (most > 0) found.push(`${file}: ${long.length} long sentences, where ${LONG_SENTENCES} allows ${most}`);
  }
  return { found, left };
}

/** Paragraphs of comments and documents have at most `MAX_PARAGRAPH_WORDS` words. */
export function paragraphViolations(files, read) {
  return files
    .filter(isProse)
    .flatMap((file) =>
      longParagraphs(file, read(file)).map(
        ({ line, words, text }) =>
          `${file}:${line}: a paragraph of ${words} words, more than ${MAX_PARAGRAPH_WORDS}: ${text.slice(0, 60)}…`,
      ),
    );
}

function checkSentences(files, read) {
  const allowed = JSON.parse(read(LONG_SENTENCES));
  const { found, left } = sentenceViolations(files, read, allowed);
  const fewer = `${JSON.stringify(left, null, 2)}\n`;
  if (found.length === 0 && fewer !== read(LONG_SENTENCES)) {
    writeFileSync(join(root, LONG_SENTENCES), fewer);
    console.log(`${LONG_SENTENCES}: written anew, there are fewer long sentences`);
  }
  return found;
}

export function checkSources() {
  const files = filesUnder(["src", "scripts", "tests", "www", "benches", "fuzz/fuzz_targets", ".ci"], (path) => SOURCES.test(path));
  const prose = [...files, ...filesUnder(SETTINGS), ...filesUnder(DOCUMENTS, (path) => path.endsWith(".md"))];
  const read = (file) => readFileSync(join(root, file), "utf8");
  const found = [
    ...violations(files, read),
    ...versionViolations(),
    ...checkSentences(prose, read),
    ...paragraphViolations(prose, read),
    ...sizeViolations(read("README.md"), JSON.parse(read("benches/guard/figures.json"))),
    ...upstreamViolations(
      files.filter((file) => /^tests\/js\/[^/]+\.test\.mjs$/.test(file)),
      read,
      read("tests/README.md"),
    ),
    ...checkCases(),
  ];
  for (const line of found) console.log(line);
  console.log(`${files.length} files looked at, ${found.length} violations`);
  if (found.length > 0) throw new CommandFailed("the sources break a rule of the project, see above.");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(checkSources);
