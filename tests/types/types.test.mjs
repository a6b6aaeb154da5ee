// The declarations of the built package, as projects of different settings compile them, and none skips checking libraries.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { bundler, compile, inFolder, nodeNext, strictest } from "./tsc.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));

/** What compiles wherever there is a host. */
const HOSTED = ["consumer.ts", "client-node.ts", "readonly.ts", "narrowing.ts", "resource-types.ts", "indexes.ts", "memory.ts", "etcd.ts"];

const projects = {
  "a bundler's project in the browser": {
    options: { ...bundler, lib: ["ES2022", "DOM", "DOM.Iterable"] },
    files: [...HOSTED, "browser.ts"],
  },
  "a bundler's project with the strictest of settings": {
    options: { ...bundler, ...strictest, lib: ["ES2022", "DOM"] },
    files: [...HOSTED, "undefined.ts", "browser.ts"],
  },
  "a Node project without the browser's library": {
    options: { ...nodeNext, lib: ["ES2022"], types: ["node"] },
    files: [...HOSTED, "node.ts"],
  },
  "a Node project with the strictest of settings": {
    options: { ...nodeNext, ...strictest, lib: ["ES2022"], types: ["node"] },
    files: [...HOSTED, "undefined.ts", "node.ts"],
  },
  "a project with the libraries of the browser and of Node": {
    options: {
      ...nodeNext,
      ...strictest,
      target: "ESNext",
      lib: ["ESNext", "DOM"],
      types: ["node"],
      noPropertyAccessFromIndexSignature: true,
    },
    files: [...HOSTED, "undefined.ts", "disposal.ts"],
  },
  "a worker": { options: { ...bundler, ...strictest, lib: ["ES2022", "WebWorker"] }, files: [...HOSTED, "undefined.ts"] },
  "a project with no library but the language's": {
    options: { ...nodeNext, ...strictest, lib: ["ES2022"], types: [] },
    files: ["hostless.ts", "memory.ts", "etcd.ts"],
  },
  "a bundler's project with no library but the language's": { options: { ...bundler, lib: ["ES2022"] }, files: ["hostless.ts"] },
  "a project whose language knows `await using`": {
    options: { ...nodeNext, ...strictest, lib: ["ES2022", "ESNext.Disposable"], types: [] },
    files: ["disposal.ts"],
  },
};

for (const [name, { options, files }] of Object.entries(projects)) {
  test(`the contract compiles, and what is not there does not, in ${name}`, async () => {
    assert.equal(await compile(options, ...files.map((file) => join(here, file))), "");
  });
}

test("objects and lists of the original's generated client fit", async () => {
  // Its own declarations are not judged here.
  const options = { ...nodeNext, lib: ["ES2022"], types: ["node"], skipLibCheck: true };
  assert.equal(await compile(options, join(here, "client-node-original.ts"), join(here, "readonly-original.ts")), "");
});

test("the hooks and the collections compile, and what is not there does not", async () => {
  // Of those libraries TanStack DB's own do not compile under the strictest settings.
  for (const options of [bundler, { ...bundler, ...strictest, skipLibCheck: true }]) {
    const files = ["react.ts", "tanstack-db.ts", "openshift.ts"].map((name) => join(here, name));
    assert.equal(await compile({ ...options, lib: ["ES2022", "DOM"] }, ...files), "");
  }
});

test("the check can fail", () =>
  inFolder(async (folder) => {
    const file = join(folder, "wrong.ts");
    await writeFile(file, 'import { createWatchCache } from "watchcache";\ncreateWatchCache().resource(7);\n');
    assert.match(await compile({ ...nodeNext, ...strictest, types: ["node"] }, file), /wrong\.ts.*error TS/);
  }));
