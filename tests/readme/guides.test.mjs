// The guides in docs/. Each example runs behind the guide's prelude, on a server of its own, and prints exactly what stands below it. There
// "…" stands for whatever differs from run to run.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer } from "../../www/server/index.mjs";
import { root, runExample } from "./run.mjs";

const EPILOGUE = "await cache.close();\n";

function examplesOf(text) {
  const blocks = [...text.matchAll(/^```(\w+)( prelude)?\n(.*?)^```$/gms)].map(([, language, prelude, body]) => ({
    language,
    prelude,
    body,
  }));
  const prelude = blocks.find((block) => block.prelude)?.body ?? "";
  return blocks.flatMap(({ language, body, ...block }, index) => {
    if (language !== "js" || block.prelude) return [];
    const next = blocks[index + 1];
    return [{ program: prelude + body + EPILOGUE, prints: next?.language === "text" ? next.body : undefined }];
  });
}

/** The text as a pattern in which "…" stands for anything in its line. */
const pattern = (text) =>
  new RegExp(
    `^${text
      .split("…")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );

const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md"));

test("there are guides", () => assert.ok(guides.length > 0));

for (const guide of guides) {
  describe(guide, () => {
    for (const [index, { program, prints }] of examplesOf(readFileSync(join(root, "docs", guide), "utf8")).entries()) {
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
