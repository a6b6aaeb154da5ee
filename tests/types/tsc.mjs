/**
 * Compiles files as a project of its own would.
 * @module
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = fileURLToPath(new URL(".", import.meta.url));
const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));

export const strictest = {
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
};
export const bundler = { target: "ES2022", module: "ESNext", moduleResolution: "Bundler", types: [] };
export const nodeNext = { target: "ES2022", module: "NodeNext", moduleResolution: "NodeNext" };

/** Makes a folder inside the project, so that the package finds itself by its name, and takes it away again. */
export async function inFolder(run) {
  const folder = await mkdtemp(join(here, "project-"));
  try {
    return await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What tsc says of these files; nothing where they compile. Libraries are checked, unless the options say otherwise. */
export function compile(compilerOptions, ...files) {
  return inFolder(async (folder) => {
    const options = { strict: true, noEmit: true, skipLibCheck: false, ...compilerOptions };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files }));
    try {
      return (await promisify(execFile)(process.execPath, [tsc, "-p", folder])).stdout;
    } catch (error) {
      if (error.stdout === undefined) throw error;
      return error.stdout;
    }
  });
}
