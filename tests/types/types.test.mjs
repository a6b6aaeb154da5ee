// The declarations of the built package, as projects of different settings compile them, and none skips checking libraries.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

const projects = {
  "a bundler's project in the browser": {
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "Bundler",
    lib: ["ES2022", "DOM", "DOM.Iterable"],
    types: [],
  },
  "a Node project without the browser's library": {
    target: "ES2022",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ES2022"],
    types: ["node"],
  },
  "the strictest of settings": {
    target: "ESNext",
    module: "NodeNext",
    moduleResolution: "NodeNext",
    lib: ["ESNext", "DOM"],
    types: ["node"],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
  },
};

async function compile(compilerOptions, file) {
  // Inside the project, so that the package finds itself by its name.
  const folder = await mkdtemp(join(here, "project-"));
  try {
    const options = { strict: true, noEmit: true, skipLibCheck: false, ...compilerOptions };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [file] }));
    const { stdout } = await promisify(execFile)(process.execPath, [tsc, "-p", folder]);
    return stdout;
  } catch (error) {
    if (error.stdout === undefined) throw error;
    return error.stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const [name, options] of Object.entries(projects)) {
  test(`the contract compiles, and what is not there does not, in ${name}`, async () => {
    assert.equal(await compile(options, join(here, "consumer.ts")), "");
    assert.equal(await compile(options, join(here, "client-node.ts")), "");
  });
}

test("objects and lists of the original's generated client fit its look-alike", async () => {
  // Its own declarations are not judged here.
  const options = { ...projects["a Node project without the browser's library"], skipLibCheck: true };
  assert.equal(await compile(options, join(here, "client-node-original.ts")), "");
});

test("the check can fail", async () => {
  const folder = await mkdtemp(join(here, "wrong-"));
  try {
    const file = join(folder, "wrong.ts");
    await writeFile(file, 'import { createWatchCache } from "watchcache";\ncreateWatchCache().resource(7);\n');
    assert.match(await compile(projects["the strictest of settings"], file), /wrong\.ts.*error TS/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
