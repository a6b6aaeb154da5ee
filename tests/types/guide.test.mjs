// The guide to types: each example is a file that compiles, under plain and under the strictest settings.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundler, compile, inFolder, nodeNext, strictest } from "./tsc.mjs";

const guide = readFileSync(fileURLToPath(new URL("../../docs/types.md", import.meta.url)), "utf8");
const examples = [...guide.matchAll(/^```(tsx?)\n(.*?)^```$/gms)].map(([, extension, text]) => ({ extension, text }));

test("each example of the guide compiles", () =>
  inFolder(async (folder) => {
    assert.ok(examples.length > 4);
    const files = [];
    for (const [at, { extension, text }] of examples.entries()) {
      files.push(join(folder, `example-${at + 1}.${extension}`));
      await writeFile(files.at(-1), `${text}export {};\n`);
    }
    const react = files.filter((file) => file.endsWith(".tsx"));
    assert.equal(react.length, 2);
    const plain = files.filter((file) => !react.includes(file));
    assert.equal(await compile({ ...bundler, lib: ["ES2022", "DOM"], jsx: "react-jsx" }, ...files), "");
    assert.equal(await compile({ ...bundler, ...strictest, lib: ["ES2022", "DOM"], jsx: "react-jsx" }, ...react), "");
    assert.equal(await compile({ ...nodeNext, ...strictest, lib: ["ES2022"], types: ["node"] }, ...plain), "");
  }));
