// The examples of README.md, run as they stand there against the embedded API server.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
// Inside the package, so that `import "watchcache"` means this very package and its exports.
const scratch = join(root, "artifacts/readme");
const ADDRESS = "http://127.0.0.1:8001";

const examples = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]);

/** What each example prints, in their order. */
const expected = [
  [/^\d+ pods at \d+$/m, /^ADDED \S+\/\S+ \S+$/m, /^MODIFIED /m],
  [/^50 of \d+ \S+ \d+ namespaces$/m],
  [/^true$/m, /^2 clicks$/m, /^undefined$/m],
  [/^\d+ deployments at \d+$/m],
  [/^ADDED 1$/m, /^MODIFIED 2$/m, /^MODIFIED 4$/m],
];

let server;
before(async () => {
  server = await startServer({ port: 0, pods: 400, rate: 100, seed: 3 });
  mkdirSync(scratch, { recursive: true });
});
after(() => server?.close());

test("README.md has as many examples as are expected here", () => {
  assert.equal(examples.length, expected.length);
});

for (const [index, patterns] of expected.entries()) {
  test(`example ${index + 1} does what it says`, async () => {
    const file = join(scratch, `example-${index + 1}.mjs`);
    writeFileSync(file, examples[index].replaceAll(ADDRESS, server.url));
    const { code, output } = await run(["--import", join(root, "tests/readme/websocket.mjs"), file]);
    assert.equal(code, 0, output);
    for (const pattern of patterns) assert.match(output, pattern);
  });
}

function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], timeout: 60_000 });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}
