// What a person reads when a prerequisite is missing: one sentence with the remedy, exit code 1, no stack.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { versions } from "../../scripts/lib/project.mjs";
import { machine, node, sentenceOf } from "./harness.mjs";

for (const script of ["setup", "start", "test"]) {
  test(`${script}: no cargo`, (t) => {
    const { env } = machine(t, { links: ["node"] });
    const sentence = sentenceOf(node([`scripts/${script}.mjs`], env));
    assert.match(sentence, /^cargo was not found: install Rust .* from https:\/\/rustup\.rs/);
  });

  test(`${script}: Node too old`, (t) => {
    const { env, home } = machine(t, { links: ["node"] });
    const preload = join(home, "old-node.cjs");
    writeFileSync(preload, 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
    const sentence = sentenceOf(node(["--require", preload, `scripts/${script}.mjs`], env));
    assert.match(sentence, /^Node 18\.20\.4 is too old, .* or newer is needed: install it from https:\/\/nodejs\.org/);
  });
}

test("cargo too old", (t) => {
  const { env } = machine(t, { links: ["node"], scripts: { cargo: 'echo "cargo 1.79.0 (ffa9cf99a 2024-06-03)"' } });
  const sentence = sentenceOf(node(["scripts/setup-rust.mjs"], env));
  assert.match(sentence, /^cargo 1\.79\.0 is too old, .* run `rustup update stable`/);
});

test("a cargo that rustup has installed but the shell does not know yet is found", (t) => {
  const { env, bin } = machine(t, { links: ["node"], scripts: { cargo: 'echo "cargo 1.79.0"' } });
  const sentence = sentenceOf(node(["scripts/setup-rust.mjs"], { ...env, PATH: "", CARGO_HOME: join(bin, "..") }));
  assert.match(sentence, /^cargo 1\.79\.0 is too old/);
});

const cargo = `echo "cargo ${versions.rust}"`;

test("no wasm32 target and no way to get one", (t) => {
  const { env } = machine(t, { links: ["node"], scripts: { cargo, rustc: "echo /nowhere" } });
  const sentence = sentenceOf(node(["scripts/setup-rust.mjs"], env));
  assert.match(sentence, /^this Rust has no wasm32-unknown-unknown target: install rustup/);
});

test("no wasm32 target and rustup without a network", (t) => {
  const rustup = 'echo "error: could not download file: error sending request: dns error" >&2; exit 1';
  const { env } = machine(t, { links: ["node"], scripts: { cargo, rustc: "echo /nowhere", rustup } });
  const sentence = sentenceOf(node(["scripts/setup-rust.mjs"], env));
  assert.match(sentence, /^rustup could not reach its server .* connect to the network/);
});

test("no browser", (t) => {
  const { env } = machine(t, { links: ["node"] });
  const sentence = sentenceOf(node(["scripts/setup-browser.mjs"], env));
  assert.match(sentence, /^no Chrome or Chromium was found: install one .* WATCHCACHE_CHROME=.* CHROMEDRIVER=/);
});

test("npm test asks for the browser, npm start does not", (t) => {
  const { env } = machine(t, { links: ["node"], scripts: { cargo, rustc: "echo /nowhere" } });
  assert.match(sentenceOf(node(["scripts/test.mjs"], env)), /^no Chrome or Chromium/);
  assert.match(sentenceOf(node(["scripts/setup.mjs", "--no-browser"], env)), /^this Rust has no/);
});

test("a browser without a driver", (t) => {
  const { env } = machine(t, { links: ["node"], scripts: { chromium: "echo Chromium 140.0.1.2" } });
  const sentence = sentenceOf(node(["scripts/setup-browser.mjs"], env));
  assert.match(sentence, /^no chromedriver was found: .* CHROMEDRIVER=/);
});

test("a browser and the driver of another version", (t) => {
  const scripts = { chromium: "echo Chromium 140.0.1.2 built on Debian", chromedriver: "echo 'ChromeDriver 139.0.9.9 (abc)'" };
  const { env } = machine(t, { links: ["node"], scripts });
  const sentence = sentenceOf(node(["scripts/setup-browser.mjs"], env));
  assert.match(sentence, /chromium is version 140\.0\.1\.2 and .*chromedriver is 139\.0\.9\.9: install the chromedriver of/);
});

test("a browser and its driver are enough, wherever they are", (t) => {
  const scripts = { "my-chrome": "echo Google Chrome 140.0.1.2", "my-driver": "echo ChromeDriver 140.0.1.9" };
  const { env, bin } = machine(t, { links: ["node"], scripts });
  const settings = { WATCHCACHE_CHROME: join(bin, "my-chrome"), CHROMEDRIVER: join(bin, "my-driver") };
  const done = node(["scripts/setup-browser.mjs"], { ...env, ...settings });
  assert.deepEqual(done, { code: 0, stdout: "", stderr: "" });
});

test("a setting that names no program", (t) => {
  const { env } = machine(t, { links: ["node"] });
  const sentence = sentenceOf(node(["scripts/setup-browser.mjs"], { ...env, WATCHCACHE_CHROME: "/no/such/chrome" }));
  assert.match(sentence, /^WATCHCACHE_CHROME names \/no\/such\/chrome, which is not a program/);
});
