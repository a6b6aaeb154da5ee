// The guides in docs/: each example runs on a server of its own.
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { startServer } from "../../www/server/index.mjs";
import { examplesOf, pattern } from "./examples.mjs";
import { root, runExample } from "./run.mjs";

/** Their servers are of another kind: `tests/servers/etcd.guide.test.mjs`. */
const ELSEWHERE = new Set(["etcd.md"]);

const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && !ELSEWHERE.has(name));

test("there are guides", () => assert.ok(guides.length > 0));

/** The files that examples of a guide name, beside these. */
function writeFiles(guide) {
  if (guide !== "tabs.md") return;
  const folder = join(root, "artifacts/readme");
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(root, "docs", guide), "utf8");
  for (const [, name, body] of text.matchAll(/^```js file=(\S+)\n(.*?)^```$/gms)) writeFileSync(join(folder, name), body);
}

for (const guide of guides) {
  describe(guide, () => {
    before(() => writeFiles(guide));
    for (const [index, { program, prints }] of examplesOf(guide).entries()) {
      test(`example ${index + 1} prints what stands below it`, async () => {
        assert.ok(prints, "an example that says nothing of its output proves nothing");
        const server = await startServer({ port: 0, pods: 40, rate: 0, seed: 3 });
        try {
          const { code, output } = await runExample(`${guide}-${index + 1}`, program, server.url);
          assert.equal(code, 0, output);
          assert.match(output, pattern(prints));
        } finally {
          await server.close();
        }
      });
    }
  });
}
