// The check of cases, tests, code and chapters: each way in which they can differ is made once, and found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { caseViolations, familyViolations, filled, idsOf, linkViolations, testsIn } from "../../scripts/check-cases.mjs";
import { definitionsIn } from "../../scripts/lib/definitions.mjs";

const SOURCES = {
  "src/a.rs": [
    "#[test]",
    "fn win_01_a_rule() {}",
    "#[test]",
    "fn no_case_at_all() {}",
    "fn win_09_no_test() {}",
    "made! {",
    "    win_02_a_row: 5 => 4;",
    "}",
  ],
  "tests/b.rs": [
    "#[wasm_bindgen_test]",
    "// as in a browser",
    "async fn win_01_win_02_both() {}",
    "law! {",
    "    etcd_prev_value_decides:",
    "}",
  ],
  "tests/c.test.mjs": ['test("win_01: a title", () => {});', "for (const id of ['win_02']) test(`in_24_${id}`, () => {});", 'it("none")'],
};
const found = (/** @type {Record<string, string[]>} */ sources) =>
  Object.entries(sources).flatMap(([file, lines]) => testsIn(file, lines.join("\n")));
const all = found(SOURCES);

const CODE = new Map(
  Object.entries({
    "src/a.rs": ["pub(super) struct Store {", "}", "impl Store {", "    pub(super) async fn put(&mut self) {}", "}", "fn alone() {}"],
    "src/b.rs": [
      "impl<'a> From<Store> for Window<'a> {",
      "    fn from(store: Store) -> Self {}",
      "}",
      "impl Ring {",
      "    fn from() {}",
      "}",
    ],
    "src/c.ts": [
      "export class Reader implements Shape {",
      "  #make(id: number): unknown {",
      "    put(id);",
      "  }",
      "}",
      "const LIMIT = 5;",
    ],
  }).map(([file, lines]) => [file, definitionsIn(file, lines.join("\n"))]),
);
const HEAD = "# Cases\n\n| Case | Rule | From | Code | Told in | Tests |\n|---|---|---|---|---|---|\n";
const KEPT = "`src/a.rs`: `Store::put`";
const row = (/** @type {string} */ id, code = KEPT, told = "code") => `| ${id} | A rule. | somewhere | ${code} | ${told} |  |\n`;
const table = (/** @type {string[]} */ ...rows) => filled(HEAD + rows.join(""), all);
const TABLE = table(row("win_01"), row("win_02"), row("in_24"), row("etcd_prev_value"));
const FILE = "tests/cases/a.md";
const violations = (/** @type {string} */ markdown, tests = all) => caseViolations([{ file: FILE, markdown }], tests, CODE).join("\n");

test("a name begins with the ids of its cases", () => {
  assert.deepEqual(idsOf("win_01_a_rule"), ["win_01"]);
  assert.deepEqual(idsOf("fil_01_fil_02_a_rule_of_03"), ["fil_01", "fil_02"]);
  assert.deepEqual(idsOf("rdy_10_retry_after_grows_from_1_to_30"), ["rdy_10"]);
  assert.deepEqual(idsOf("wat_05"), ["wat_05"]);
  assert.deepEqual(idsOf("in_24: a title"), ["in_24"]);
  assert.deepEqual(idsOf("js_09 a title"), ["js_09"]);
  assert.deepEqual(idsOf("etcd_ordered_events"), ["etcd_ordered"]);
  for (const name of ["a_rule_win_01", "win_1_a_rule", "win_011_a_rule", "win_01a_rule", "windows_01_a", "win_01-a", "Win_01_a"])
    assert.deepEqual(idsOf(name), [], name);
});

test("tests are found in both languages: functions, rows of macros, titles and rows of tables", () => {
  assert.deepEqual(
    all.map(({ file, line, name }) => `${file}:${line} ${name}`),
    [
      "src/a.rs:2 win_01_a_rule",
      "src/a.rs:7 win_02_a_row",
      "tests/b.rs:3 win_01_win_02_both",
      "tests/b.rs:5 etcd_prev_value_decides",
      "tests/c.test.mjs:1 win_01: a title",
      "tests/c.test.mjs:2 win_02",
      "tests/c.test.mjs:2 in_24_…",
    ],
  );
});

test("a table that was filled in agrees with its tests", () => {
  assert.equal(violations(TABLE), "");
  assert.match(
    TABLE,
    /\| `src\/a\.rs`: `win_01_a_rule`<br>`tests\/b\.rs`: `win_01_win_02_both`<br>`tests\/c\.test\.mjs`: `win_01: a title` \|/,
  );
});

test("a test without a case is found", () => {
  const tests = [...all, ...found({ "src/a.rs": ["#[test]", "fn win_03_a_rule() {}"] })];
  assert.equal(violations(TABLE, tests), "src/a.rs:2: win_03_a_rule holds win_03, which is no case of tests/cases");
  const promise = [...all, ...found({ "tests/b.rs": ["    etcd_unique_no_event_comes_twice:"] })];
  assert.match(violations(TABLE, promise), /holds etcd_unique, which is no case/);
  const other = [...all, ...found({ "tests/b.rs": ["    etcd_prev_kind_decides:"] })];
  assert.match(violations(TABLE, other), /etcd_prev_kind_decides holds etcd_prev, which is no case/);
});

test("a case without a test is found, also where only a function that is none bears its name", () => {
  assert.equal(violations(TABLE + row("win_09")), "tests/cases/a.md:9: win_09 has no test");
});

test("a case whose test moved or changed its name is found, and filling in mends it", () => {
  const moved = found({
    ...SOURCES,
    "tests/c.test.mjs": ['test("win_01: a title", () => {});', 'test("win_02")'],
    "tests/d.test.mjs": ['test("in_24_x")'],
  });
  assert.match(violations(TABLE, moved), /^tests\/cases\/a\.md:7: in_24 has its tests elsewhere, or under other names: .* mends it$/);
  assert.equal(violations(filled(TABLE, moved), moved), "");
  assert.match(violations(TABLE.replace("win_01_a_rule", "win_01_another")), /a\.md:5: win_01 has its tests elsewhere/);
});

test("what a file defines: items, and methods with the type that they are of", () => {
  const said = Object.fromEntries(
    [...CODE].map(([file, found]) => [file, found.map(({ name, owner }) => (owner ? `${owner} ${name}` : name))]),
  );
  assert.deepEqual(said, {
    "src/a.rs": ["Store", "Store put", "alone"],
    "src/b.rs": ["Window from", "Ring from"],
    "src/c.ts": ["Reader", "Reader #make", "LIMIT"],
  });
  assert.deepEqual(definitionsIn("src/d.rs", "fn kept() {}\n#[cfg(test)]\nmod tests {\n    fn tried() {}\n}\nfn behind() {}"), [
    { name: "kept", owner: undefined },
  ]);
  assert.deepEqual(
    definitionsIn("src/d.rs", "trait Sink {\n    fn hear(&self);\n}\nimpl Sink for Outbox<'_> {}\npub(crate) const fn of() {}").map(
      ({ name }) => name,
    ),
    ["Sink", "hear", "of"],
  );
});

test("a case names where it is kept: a file, and what the file defines", () => {
  const kept = (/** @type {string} */ code) => violations(table(row("win_01", code), row("win_02"), row("in_24"), row("etcd_prev_value")));
  for (const code of [
    "`src/a.rs`: `Store`, `alone`",
    "`src/a.rs`: `Store::put`<br>`src/c.ts`: `Reader.#make`",
    "`src/b.rs`: `Ring::from`",
    "`src/c.ts`: `LIMIT`",
  ])
    assert.equal(kept(code), "", code);
  assert.match(
    kept("`src/gone.rs`: `put`"),
    /win_01 is kept by src\/gone\.rs, which does not exist; put stands in `src\/a\.rs`: name the file/,
  );
  assert.match(kept("`src/b.rs`: `put`"), /kept by put of src\/b\.rs, which defines no such thing; put stands in `src\/a\.rs`/);
  assert.match(kept("`src/a.rs`: `get`"), /kept by get of src\/a\.rs, .*; nothing is called get any more: name what decides the rule now$/);
  assert.match(kept("`src/a.rs`: `Window::put`"), /kept by Window::put of src\/a\.rs, which defines no such thing/);
  assert.match(kept("`src/b.rs`: `from`"), /kept by from of src\/b\.rs, a method of Window and of Ring: name its type, too$/);
  assert.match(kept("`src/c.ts`: `#make`"), /kept by #make of src\/c\.ts, a method of Reader: name its type, too$/);
  assert.match(kept("`src/a.rs`"), /win_01 is kept by `src\/a\.rs`, which is not `file`: `function`$/);
  assert.match(kept(""), /win_01 does not say where it is kept/);
});

test("a row that stands twice, is not whole or has no id is found", () => {
  assert.match(violations(TABLE + TABLE.split("\n")[4]), /a\.md:9: win_01 stands twice/);
  assert.match(violations(TABLE.replace("| A rule. |", "|  |")), /win_01 does not say its rule/);
  assert.match(violations(TABLE.replace("A rule.", "A | rule.")), /win_01 has 7 cells, not 6/);
  assert.match(violations(TABLE.replace("A rule.", "Word ".repeat(26))), /win_01 has a sentence of 26 words, more than 25/);
  assert.match(violations(TABLE + row("RDY-01")), /RDY-01 is no id/);
});

test("a link to a chapter that does not exist is found", () => {
  const documents = /** @type {Record<string, string>} */ ({ "docs/a.md": "# A\n\n## Has it synced?\n" });
  const found = (/** @type {string} */ link) =>
    linkViolations({ file: FILE, markdown: `Told in [a](../../${link}).` }, (path) => documents[path]).join("\n");
  assert.equal(found("docs/a.md#has-it-synced"), "");
  assert.equal(found("docs/a.md#gone"), "tests/cases/a.md: docs/a.md has no chapter #gone");
  assert.equal(found("docs/b.md#a"), "tests/cases/a.md: docs/b.md has no chapter #a");
  assert.equal(found("docs/a.md"), "tests/cases/a.md: the link to docs/a.md names no chapter");
});

test("a case that nothing tells is found: its row says where, or its family does", () => {
  const found = (/** @type {string} */ told, family = "") =>
    linkViolations({ file: FILE, markdown: `# Family\n\n${family}\n\n${row("win_01", KEPT, told)}` }, () => "# A").join("\n");
  assert.equal(found("code"), "");
  assert.equal(found("[a](../../docs/a.md#a)"), "");
  assert.equal(found("", "Told in [a](../../docs/a.md#a)."), "");
  assert.match(found(""), /^tests\/cases\/a\.md:5: neither win_01 nor its family says where it is told$/);
  assert.match(found("there"), /win_01 is told in there, which is neither a link nor "code"/);
});

test("the list of families names each file, with the words that its ids begin with", () => {
  const family = { file: "tests/cases/has-it-synced.md", markdown: `# Has it synced?\n\n${row("sy_01")}${row("win_02")}` };
  const found = (/** @type {string} */ list) => familyViolations(`# Cases\n\n${list}\n`, [family]).join("\n");
  const right = "- `sy_`, `win_`: [Has it synced?](cases/has-it-synced.md)";
  assert.equal(found(right), "");
  assert.equal(found(""), `tests/CASES.md: the list of families has to say ${right}`);
  assert.match(found("- `sy_`: [Has it synced?](cases/has-it-synced.md)"), /has to say .*`win_`.*\n.*a line for nothing: - `sy_`: /);
  assert.match(found(`${right}\n- \`rf_\`: [Reflector](cases/reflector.md)`), /^tests\/CASES\.md: .* a line for nothing: - `rf_`/);
});
