// The examples of README.md, run as they stand there against the embedded API server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startServer } from "../../www/server/index.mjs";
import { root, runExample } from "./run.mjs";

const examples = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```js\n(.*?)^```$/gms)].map((match) => match[1]);

/** What each example prints, in their order. */
const expected = [
  [/^\d+ pods at \d+$/m, /^ADDED \S+\/\S+ \S+$/m, /^MODIFIED /m],
  [/^50 of \d+ \S+ \d+ namespaces$/m, /^10 of \d+ \S+ \d+ namespaces$/m],
  [/^true$/m, /^2 clicks$/m, /^undefined$/m],
  [/^added adopted$/m, /^held: true true$/m],
  [/^ADDED 1$/m, /^MODIFIED 2$/m, /^MODIFIED 4$/m],
];

let server;
before(async () => {
  server = await startServer({ port: 0, pods: 400, rate: 100, seed: 3 });
});
after(() => server?.close());

test("README.md has as many examples as are expected here", () => {
  assert.equal(examples.length, expected.length);
});

for (const [index, patterns] of expected.entries()) {
  test(`example ${index + 1} does what it says`, async () => {
    const { code, output } = await runExample(`example-${index + 1}`, examples[index], server.url);
    assert.equal(code, 0, output);
    for (const pattern of patterns) assert.match(output, pattern);
  });
}
