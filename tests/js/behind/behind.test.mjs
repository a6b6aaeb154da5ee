// The suites of the facade once more, with their caches behind a worker: a third of the files, the next one with each commit. Once all were due, the
// worker is of the other mode.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { turnNow } from "../../../scripts/lib/turn.mjs";
import { MODES_DUE } from "../../e2e/turn.mjs";
import { INLINE } from "./inline.mjs";

const SHARES = 3;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const all = readdirSync(new URL("../", import.meta.url)).filter((name) => name.endsWith(".test.mjs") && name !== "shared.test.mjs");
const isDue = (at) => process.env.MATRIX === "all" || at % SHARES === turnNow() % SHARES;

test("what is listed as inline is there", () => {
  for (const file of Object.keys(INLINE)) assert.ok(all.includes(`${file}.test.mjs`), file);
});

const due = [...all.sort().entries()].filter(([at]) => isDue(at)).map(([, file]) => file);

for (const [mode, file] of MODES_DUE.flatMap((mode) => due.map((file) => [mode, file]))) {
  test(`${file}, behind a worker of the mode ${mode}`, async () => {
    // It is a run of its own, no part of this one.
    const { NODE_TEST_CONTEXT, ...given } = process.env;
    // Each event takes more than one turn of the host here, and laws count thousands of them.
    const env = { WATCHCACHE_DOCUMENTS: "8", ...given, WATCHCACHE_MODE: mode };
    const args = ["--import", "./tests/js/behind/register.mjs", "--test-reporter=tap", `tests/js/${file}`];
    const child = spawn(process.execPath, args, { cwd: root, env, timeout: 180_000, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", (code, signal) => resolve(code ?? signal)));
    assert.equal(code, 0, said);
  });
}
