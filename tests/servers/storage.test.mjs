/**
 * The apiserver's own storage tests (`k8s.io/apiserver/pkg/storage/testing`), which its cacher must pass, over the package. `storage` has the Go module
 * that runs them, with etcd inside. Here it is held that each of them passes, that none is missing, and that all of the cacher's are heard of.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { before, describe, it } from "node:test";
import { SetupError, say } from "../../scripts/lib/fail.mjs";
import { requireGo } from "../../scripts/lib/go.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { answer, looksOffline } from "../../scripts/lib/run.mjs";

const MODULE = join(root, "tests", "servers", "storage");

/** Tests of the cacher that have no counterpart here. */
const NO_COUNTERPART = {
  TestMarkConsistent: "it looks into the cacher; snp_06 holds the rule",
  TestKeySchema: "keys of the storage, and objects without a name; the package is asked for namespaces and names",
  TestWatchInitializationSignal: "of priority and fairness: the apiserver's own queues of requests",
};
/** Tests that the cacher has by name, and leaves empty. */
const EMPTY = [
  "TestGuaranteedUpdate",
  "TestGuaranteedUpdateChecksStoredData",
  "TestListInconsistentContinuation",
  "TestListResourceVersionMatch",
  "TestTransformationFailure",
  "TestWatchContextCancel",
  "TestWatchError",
];
/** Parts that the tests themselves leave out for every cache. */
const SKIPPED = [
  "TestLists/List/test_List_with_limit_at_resource_version_0",
  "TestLists/List/test_List_with_limit_at_resource_version_0_match=NotOlderThan",
];

/** What became of a test, and what was said meanwhile. @typedef {{ action: string, output: string[] }} Outcome */

/** Runs them all. @returns {Promise<{ outcomes: Map<string, Outcome>, code: number | null, said: string }>} */
async function run() {
  // The flags with which kube-apiserver is built, so that Go compiles what both need once.
  const args = ["test", "-count=1", "-json", "-trimpath", "-mod=readonly", "-parallel=8", "-timeout=5m", "."];
  const env = { ...process.env, CGO_ENABLED: "0", NODE: process.execPath };
  const child = spawn("go", args, { cwd: MODULE, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const closed = new Promise((resolve) => child.once("close", resolve));
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map();
  for await (const line of createInterface({ input: child.stdout })) {
    const { Action: action, Test: name = "", Output: output } = JSON.parse(line);
    if (action.startsWith("build-")) said += output ?? "";
    let outcome = outcomes.get(name);
    if (outcome === undefined) outcomes.set(name, (outcome = { action: "", output: [] }));
    if (action === "output") outcome.output.push(output);
    else if (["pass", "fail", "skip"].includes(action)) outcome.action = action;
  }
  return { outcomes, code: await closed, said };
}

describe("the apiserver's storage tests over the package", () => {
  /** @type {Awaited<ReturnType<typeof run>>} */
  let ran;
  before(async () => {
    requireGo();
    say("building and running the apiserver's storage tests: a minute, and two more the first time");
    ran = await run();
    if (ran.code !== 0 && looksOffline(ran.said))
      throw new SetupError("Go could not fetch the modules of the storage tests: connect to the network, then run this again.");
  });

  const of = (/** @type {string} */ action) => [...ran.outcomes].filter(([name, outcome]) => name !== "" && outcome.action === action);

  it("each part passes", () => {
    // A program that ended amid a test leaves it without an outcome.
    const failed = [...of("fail"), ...of("")].map(([name, { output }]) => `${name}\n${output.filter(isTold).join("")}`);
    assert.equal(failed.length, 0, failed.join("\n"));
    assert.equal(ran.code, 0, `go test failed: ${ran.said}${ran.outcomes.get("")?.output.join("")}`);
  });

  it("none is missing, and none is left out", () => {
    const expected = readFileSync(join(MODULE, "parts.txt"), "utf8").trim().split("\n");
    const names = [...ran.outcomes.keys()].filter((name) => name !== "");
    assert.deepEqual(
      expected.filter((name) => !names.includes(name)),
      [],
      "what tests/servers/storage/parts.txt names, and did not run",
    );
    assert.deepEqual(
      names.filter((name) => !expected.includes(name)),
      [],
      "what ran, and is to be named in tests/servers/storage/parts.txt",
    );
    assert.deepEqual(
      of("skip")
        .map(([name]) => name)
        .sort(),
      SKIPPED,
    );
  });

  it("every test of the apiserver's cacher runs here, or has a reason not to", () => {
    const folder = answer("go", ["-C", MODULE, "list", "-m", "-f", "{{.Dir}}", "k8s.io/apiserver"]);
    const source = readFileSync(join(/** @type {string} */ (folder), "pkg", "storage", "cacher", "cacher_test.go"), "utf8");
    const theirs = [...source.matchAll(/^func (Test\w+)\(t \*testing\.T\) \{\n(.*\n\})?/gm)];
    assert.ok(theirs.length > 40, `only ${theirs.length} were found`);
    const empty = theirs.filter(([, , body]) => body?.trim().startsWith("//")).map(([, name]) => name);
    assert.deepEqual(empty.sort(), EMPTY, "a test of these that is filled in runs here, too");
    const known = [...ran.outcomes.keys(), ...EMPTY, ...Object.keys(NO_COUNTERPART)];
    assert.deepEqual(
      theirs.map(([, name]) => name).filter((name) => !known.includes(name)),
      [],
    );
    assert.deepEqual(
      Object.keys(NO_COUNTERPART).filter((name) => ran.outcomes.has(name)),
      [],
    );
  });
});

/** Whether a line is about the test: etcd says what it does when it is stopped. @param {string} line */
function isTold(line) {
  return !/etcd-server|grpc: |^=== |feature_gate\.go/.test(line);
}
