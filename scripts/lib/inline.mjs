// What the build adds to the generated files in dist/wasm, so that they serve entries which know no address.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed } from "./fail.mjs";
import { root } from "./project.mjs";

const GLUE = join(root, "dist/wasm/watchcache.js");
const TEXT = join(root, "dist/wasm/text.js");
const DEFAULT_ADDRESS = /\n *if \(module_or_path === undefined\) \{\s*module_or_path = new URL\([^)]*\);\s*\}/;

/**
 * Takes the default address out of the generated glue. The package says itself where its bytes are, and `import.meta` is a mistake in any
 * script that is no module.
 */
export function forgetAddress() {
  const glue = readFileSync(GLUE, "utf8");
  const without = glue.replace(DEFAULT_ADDRESS, "");
  if (without.includes("import.meta"))
    throw new CommandFailed("the generated glue uses import.meta in a way that the build does not know.");
  if (without !== glue) writeFileSync(GLUE, without);
}

/** Writes the bytes as a script, in base64: what every host can read by itself, and what compresses no worse than the file. */
export function writeText(wasm) {
  const text = `export default ${JSON.stringify(readFileSync(join(root, wasm)).toString("base64"))};\n`;
  if (!existsSync(TEXT) || readFileSync(TEXT, "utf8") !== text) writeFileSync(TEXT, text);
}
