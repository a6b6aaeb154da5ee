// Rows in other engines: what is refused before anything is built, and how pages by WebDriver answer and end.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ENGINES } from "./engines.mjs";
import { openSession } from "./session.mjs";
import { root } from "../../scripts/lib/project.mjs";

const bench = (...args) => spawnSync(process.execPath, [join(root, "benches/bench.mjs"), ...args], { encoding: "utf8" });

test("an engine or a row that is not there is named with those that are", () => {
  const refusals = [
    [["--engine=lynx"], /no engine lynx: choose from chromium, firefox, webkit\./],
    [["--engine", "firefox", "load"], /no row load in firefox: choose from ingest, fanout, path, resting\./],
    [["--engine=webkit", "--again", "path"], /--again replaces .* without quick, --name or --engine/],
  ];
  for (const [args, sentence] of refusals) {
    const { status, stderr } = bench(...args);
    assert.equal(status, 1);
    assert.match(stderr, sentence);
  }
});

test("each engine has its place in the README", () => {
  const readme = readFileSync(join(root, "benches/README.md"), "utf8");
  for (const name of ENGINES) assert.match(readme, new RegExp(`<!-- ${name === "chromium" ? "latest" : name} -->`));
});

/** A driver that runs scripts in itself, as if it were a browser with the benchmarks' page. */
const DRIVER = `
  import { createServer } from "node:http";
  globalThis.window = globalThis;
  window.addEventListener = () => {};
  window.ready = Promise.resolve();
  window.scenarios = {
    add: async ({ a, b }) => ({ sum: a + b, none: undefined }),
    fail: async () => { throw new Error("the scenario failed"); },
    warn: async () => void window.pageErrors.push("an error beside it"),
  };
  const answers = {
    "GET /status": () => ({}),
    "POST /session": () => ({ sessionId: "one", capabilities: { browserVersion: "1.2" } }),
    "POST /session/one/execute/async": ({ script, args }) => new Promise((done) => new Function(script)(...args, done)),
  };
  createServer(async (request, response) => {
    const parts = await request.toArray();
    const answer = answers[request.method + " " + request.url] ?? (() => null);
    response.end(JSON.stringify({ value: (await answer(JSON.parse(Buffer.concat(parts).toString() || "null"))) ?? null }));
  }).listen(Number(process.argv.at(-1)), "127.0.0.1");
`;
const engine = (code) => ({
  title: "Stub",
  program: process.execPath,
  args: (port) => ["--input-type=module", "-e", code, String(port)],
  capabilities: {},
});

test("a page by WebDriver gives what a scenario gives, and an error in the page is one here", { timeout: 60_000 }, async () => {
  const page = await openSession(engine(DRIVER), "http://127.0.0.1");
  try {
    assert.equal(page.name, "Stub 1.2");
    assert.deepEqual(await page.run("add", { a: 1, b: 2 }), { sum: 3 }, "what is undefined stays so");
    await assert.rejects(page.run("fail"), /the scenario failed/);
    await assert.rejects(page.run("warn"), /an error beside it/);
    assert.deepEqual(await page.run("add", { a: 2, b: 2 }), { sum: 4 }, "an error is told once");
  } finally {
    await page.close();
  }
});

test("a driver that ends at once is told with what it said", { timeout: 60_000 }, async () => {
  await assert.rejects(openSession(engine(`console.error("no display"); process.exit(1);`)), /did not start: no display/);
});
