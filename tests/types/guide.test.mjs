// The guide to types: each example is a file that compiles, under plain and under the strictest settings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundler, compile, inFolder, nodeNext, strictest } from "./tsc.mjs";

const guide = readFileSync(fileURLToPath(new URL("../../docs/types.md", import.meta.url)), "utf8");
const examples = [...guide.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text]) => text);

test("each example of the guide compiles", () =>
  inFolder(async (folder) => {
    assert.ok(examples.length > 4);
    const files = [];
    for (const [at, text] of examples.entries()) {
      files.push(join(folder, `example-${at + 1}.ts`));
      await writeFile(files.at(-1), `${text}export {};\n`);
    }
    assert.equal(await compile({ ...bundler, lib: ["ES2022", "DOM"] }, ...files), "");
    assert.equal(await compile({ ...nodeNext, ...strictest, lib: ["ES2022"], types: ["node"] }, ...files), "");
  }));
