// The parts that the scripts are made of.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { paragraphViolations, sentenceViolations, sizeViolations, upstreamViolations, violations } from "../../scripts/check-sources.mjs";
import { CommandFailed } from "../../scripts/lib/fail.mjs";
import { atLeast, root, toolCache, versions } from "../../scripts/lib/project.mjs";
import { must, run } from "../../scripts/lib/run.mjs";
import { longSentences } from "../../scripts/lib/sentences.mjs";
import { summary } from "../../scripts/lib/summary.mjs";
import { isInstalled } from "../../scripts/setup-node.mjs";
import { machine, node } from "./harness.mjs";

test("versions compare number by number", () => {
  assert.ok(atLeast("1.100.0", "1.88.0"));
  assert.ok(atLeast("20.10.0", "20.10.0"));
  assert.ok(atLeast("1.95.0-nightly", "1.88.0"));
  assert.ok(!atLeast("1.9.0", "1.88.0"));
  assert.ok(!atLeast("20.9.9", "20.10.0"));
});

test("every version is pinned once, and the crate's wasm-bindgen is the tool's", () => {
  const crate = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^wasm-bindgen = "=([^"]+)"/m)[1];
  assert.equal(versions["wasm-bindgen-cli"], crate);
  const minimum = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^rust-version = "([^"]+)"/m)[1];
  assert.ok(atLeast(versions.rust, minimum), "setup lets no compiler pass that the crate refuses");
});

test("a second setup finds nothing missing and says nothing", () => {
  assert.deepEqual(node(["scripts/setup.mjs"], process.env), { code: 0, stdout: "", stderr: "" });
  assert.ok(isInstalled());
});

test("the tool cache is one setting", () => {
  assert.equal(toolCache({ WATCHCACHE_TOOLS: "/somewhere/else" }), "/somewhere/else");
  assert.match(toolCache({}), /[/\\]\.cache[/\\]watchcache$/);
});

test("env runs a command among the tools, passes its code on, and prints what a shell can read", (t) => {
  const found = node(["scripts/env.mjs", "--", "wasm-pack", "--version"], process.env);
  assert.equal(found.stdout.trim(), `wasm-pack ${versions["wasm-pack"]}`);
  assert.equal(node(["scripts/env.mjs", "--", "node", "-e", "process.exit(7)"], process.env).code, 7);

  const { env } = machine(t, { links: ["node"] });
  const odd = { ...env, WATCHCACHE_TOOLS: join(env.HOME, "it's here") };
  const shell = node(["scripts/env.mjs"], odd).stdout;
  const path = spawnSync("/bin/sh", ["-c", `${shell}\nprintf %s "$PATH"`], { env: odd, encoding: "utf8" }).stdout;
  assert.ok(path.split(":").includes(join(env.HOME, "it's here", "bin")), path);
});

test("a command's remains end with it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "watchcache-run-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const pidFile = join(folder, "pid");
  const { code } = await run("/bin/sh", ["-c", `sleep 600 & echo $! > '${pidFile}'; exit 3`]);
  assert.equal(code, 3);
  const pid = Number(readFileSync(pidFile, "utf8"));
  assert.ok(await gone(pid), "the sleep was ended");
});

test("a command that hangs is ended, and a failed one throws what failed", async () => {
  assert.equal((await run("/bin/sh", ["-c", "sleep 600 & sleep 600"], { timeoutMs: 200 })).code, 124);
  await assert.rejects(must("/bin/sh", ["-c", "exit 4"]), (error) => error instanceof CommandFailed && /code 4/.test(error.message));
  await assert.rejects(run("/no/such/program", []), CommandFailed);
});

test("the whole output is kept, also what comes last", async () => {
  const { output } = await run("/bin/sh", ["-c", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"], { quiet: true });
  assert.equal(output.trim().split("\n").at(-1), "line 1999");
});

test("a summary runs every step and counts the failures", async (t) => {
  const said = [];
  t.mock.method(console, "log", (line) => said.push(line));
  const failed = await summary([
    { title: "one", run: async () => ({ code: 0 }) },
    { title: "two", run: async () => ({ code: 2 }) },
    { title: "three", run: async () => Promise.reject(new CommandFailed("nothing to run")) },
    { title: "four", run: async () => ({ code: 0 }) },
  ]);
  assert.equal(failed, 2);
  const lines = said.at(-1).split("\n").slice(2);
  assert.deepEqual(
    lines.map((line) => line.replace(/\s+[\d.]+ s\s+/, " ")),
    ["passed one", "FAILED two: code 2", "FAILED three: nothing to run", "passed four"],
  );
});

test("the project's rules find what they are for", () => {
  const texts = {
    "src/cache/store.rs": "use js_sys::Array;\n// TO" + "DO later\n",
    "src/web/handle.rs": "use js_sys::Array;\n",
    "src/long.rs": "//\n".repeat(601),
    "src/fits.rs": "//\n".repeat(600),
    "tests/x.test.mjs": "it." + "skip('later');\n",
  };
  assert.deepEqual(
    violations(Object.keys(texts), (file) => texts[file]),
    [
      "src/cache/store.rs:1: only src/web may name js_sys",
      "src/cache/store.rs:2: unfinished or switched off: TO" + "DO",
      "src/long.rs:601: longer than 600 lines (601)",
      "tests/x.test.mjs:1: unfinished or switched off: it." + "skip",
    ],
  );
});

const words = (count) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

test("long sentences are found in comments and documents, wherever their lines end", () => {
  const found = (file, source) => longSentences(file, source).map(({ line, words: count }) => [line, count]);
  const rust = [
    `/// ${words(26)}.`,
    `//! ${words(13)}`,
    `//! ${words(13)}`,
    `fn a() {} // ${words(30)}`,
    `// ${words(13)}`,
    `/// ${words(13)}`,
    "///",
    `/// ${words(25)}. ${words(25)}! (${words(25)}.) ${words(2)} \`${words(40)}\``,
    "/// ```",
    `/// ${words(30)}`,
    "/// ```",
    `/// ${words(13)}; ${words(13)}.`,
    "///",
    `/// ${words(13)}: ${words(14)}.`,
    "///",
    `/// ${words(13)}:`,
    `/// - ${words(14)}`,
    `/// | ${words(30)} |`,
  ];
  assert.deepEqual(found("a.rs", rust.join("\n")), [
    [1, 26],
    [2, 26],
    [12, 26],
    [14, 27],
  ]);
  const typescript = [
    "/**",
    ` * ${words(13)}`,
    ` * ${words(13)}`,
    ` * - ${words(14)}`,
    ` * @param ${words(14)}`,
    " */",
    "const product = b",
    `  * ${words(40)}`,
    `/* ${words(27)} */`,
    `/** ${words(28)}. */`,
  ];
  assert.deepEqual(found("a.ts", typescript.join("\n")), [
    [2, 26],
    [9, 27],
    [10, 28],
  ]);
  const types = [
    "/**",
    ` * @param {{ a: { b: string }, ${words(30)} }} options ${words(21)} @returns {string} ${words(1)}`,
    ` * @param {string} name ${words(25)}`,
    " */",
  ];
  assert.deepEqual(found("a.mjs", types.join("\n")), [[3, 27]]);
  const examples = [
    `// ${words(20)}:`,
    `//   --option ${words(20)}`,
    `//\t${words(20)}`,
    `// ${words(20)}:`,
    `// - ${words(13)}`,
    `//   ${words(14)}`,
    "//",
    `//   ${words(26)}`,
  ];
  assert.deepEqual(found("a.go", examples.join("\n")), [
    [5, 27],
    [8, 26],
  ]);
  const settings = [`# ${words(13)}`, `# ${words(13)}`, `name = 1 # ${words(30)}`, "#", `# ${words(25)}.`];
  for (const file of ["Cargo.toml", "a.sh", ".ci/run"]) assert.deepEqual(found(file, settings.join("\n")), [[1, 26]], file);
  assert.deepEqual(found("a.rs", settings.join("\n")), [], "an attribute of Rust is no comment");
  const markdown = [
    words(13),
    words(13),
    "",
    `| ${words(40)} |`,
    "```",
    words(50),
    "```",
    `- ${words(20)}`,
    `- **Bold.** ${words(20)}`,
    words(6),
    `- ${words(20)}; ${words(20)}: ${words(20)}`,
    "<!-- figures -->",
    words(40),
    "<!-- /figures -->",
    words(27),
  ];
  assert.deepEqual(found("a.md", markdown.join("\n")), [
    [1, 26],
    [9, 26],
    [15, 27],
  ]);
});

test("long paragraphs are found in the comments of every source and in every document but the changelog", () => {
  const text = `${words(60)}.\n${words(41)}.\n\n- ${words(100)}.\n- ${words(101)}.\n`;
  const comment = `// ${words(60)}.\n// ${words(41)}.\n//\n// ${words(100)}.\n`;
  const documents = { "benches/README.md": text, "docs/a.md": words(100), "CHANGELOG.md": text };
  const sources = [
    "src/a.rs",
    "tests/a.rs",
    "scripts/a.mjs",
    "benches/a.js",
    "www/src/a.tsx",
    "fuzz/fuzz_targets/a.rs",
    "tests/servers/a.go",
  ];
  const files = { ...documents, ...Object.fromEntries(sources.map((file) => [file, comment])) };
  assert.deepEqual(
    paragraphViolations(Object.keys(files), (file) => files[file]).map((line) => line.replace(/: word.*|: - word.*/, "")),
    [
      "benches/README.md:1: a paragraph of 101 words, more than 100",
      "benches/README.md:5: a paragraph of 101 words, more than 100",
      ...sources.map((file) => `${file}:1: a paragraph of 101 words, more than 100`),
    ],
  );
});

test("a file may not have more long sentences than it had, and fewer are written down", () => {
  const long = `// ${words(26)}.\n`;
  const files = {
    "src/new.rs": long,
    "src/old.rs": `${long}\n${long}`,
    "src/better.rs": long,
    "src/good.ts": "// Short.\n",
    "tests/js/a.test.mjs": long,
    "scripts/a.mjs": long,
    "benches/page/a.js": long,
    "fuzz/fuzz_targets/a.rs": long,
    "www/src/style/a.css": `/* ${words(26)}. */\n`,
    ".ci/run": `# ${words(26)}.\n`,
    "CHANGELOG.md": words(26),
    "www/server/README.md": words(26),
  };
  const judge = (allowed) => sentenceViolations(Object.keys(files), (file) => files[file], allowed);
  const held = ["tests/js/a.test.mjs", "scripts/a.mjs", "benches/page/a.js", "fuzz/fuzz_targets/a.rs", "www/src/style/a.css", ".ci/run"];
  const others = Object.fromEntries(held.map((file) => [file, 1]));
  const allowed = {
    ...others,
    "src/new.rs": 1,
    "src/old.rs": 2,
    "src/better.rs": 2,
    "src/good.ts": 1,
    "src/gone.rs": 1,
    "www/server/README.md": 1,
  };
  assert.deepEqual(judge(allowed), {
    found: [],
    left: { ...others, "src/new.rs": 1, "src/old.rs": 2, "src/better.rs": 1, "www/server/README.md": 1 },
  });
  const { found, left } = judge({ "src/old.rs": 1, "src/better.rs": 1 });
  assert.deepEqual(
    found.map((line) => line.replace(/: word.*/, "")),
    [
      "src/new.rs:1: a sentence of 26 words, more than 25",
      "src/old.rs:1: a sentence of 26 words, more than 25",
      "src/old.rs:3: a sentence of 26 words, more than 25",
      "src/old.rs: 2 long sentences, where scripts/long-sentences.json allows 1",
      ...held.map((file) => `${file}:1: a sentence of 26 words, more than 25`),
      "www/server/README.md:1: a sentence of 26 words, more than 25",
    ],
  );
  assert.deepEqual(left, { "src/old.rs": 1, "src/better.rs": 1 });
});

test("README's sizes are near those that the guard has recorded", () => {
  const figures = { "size-wasm": { value: 310_733 }, "size-javascript": { value: 25_152 } };
  const row = "| size, brotli | JavaScript 25 kB, WebAssembly 311 kB: it loads";
  assert.deepEqual(sizeViolations(row, { figures }), []);
  assert.equal(sizeViolations(row.replace("311", "290"), { figures }).length, 1);
  assert.equal(sizeViolations(row.replace("25 kB", "19 kB"), { figures }).length, 1);
  assert.equal(sizeViolations("", { figures }).length, 1);
});

/** A killed process may stay for a moment until its parent has been told. */
async function gone(pid) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const stat = `/proc/${pid}/stat`;
    if (existsSync("/proc/self/stat") ? !existsSync(stat) || / Z /.test(readFileSync(stat, "utf8")) : !alive(pid)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("a test of the facade with another upstream is listed, and none else", () => {
  const texts = {
    "tests/js/a.test.mjs": 'import { memorySource } from "watchcache/memory";',
    "tests/js/b.test.mjs": 'import { openModel } from "./lib/open.mjs";',
    "tests/js/c.test.mjs": "const source = { list: async () => {}, async *watch() {} };",
    "tests/js/d.test.mjs": 'import { createServer } from "node:http";\nconst options = { fetch: async () => {} };',
  };
  const judge = (rows) =>
    upstreamViolations(Object.keys(texts), (file) => texts[file], `### Other upstreams\n\n${rows}\n## Next\n\n| \`z\` | no |\n`);
  assert.deepEqual(judge("| `b` `c` | reason with `a` |\n| `d` | reason |"), []);
  const rule = "where watchcache/memory is the rule; tests/README.md lists the exceptions";
  assert.deepEqual(judge("| `a` `b` | reason |\n| `e` | reason |"), [
    "tests/README.md: tests/js/a.test.mjs has no other upstream than watchcache/memory, and is listed as an exception",
    `tests/js/c.test.mjs: has a source of its own, ${rule}`,
    `tests/js/d.test.mjs: has a server, a fetch of its own, ${rule}`,
    "tests/README.md: there is no tests/js/e.test.mjs",
  ]);
});
