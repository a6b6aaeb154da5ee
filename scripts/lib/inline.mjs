// What the build adds to the generated files in dist/wasm for the entry that needs no file beside the bundle.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.mjs";

const TEXT = join(root, "dist/wasm/text.js");

/** Writes the bytes as a script, in base64: what every host can read by itself, and what compresses no worse than the file. */
export function writeText(wasm) {
  const text = `export default ${JSON.stringify(readFileSync(join(root, wasm)).toString("base64"))};\n`;
  if (!existsSync(TEXT) || readFileSync(TEXT, "utf8") !== text) writeFileSync(TEXT, text);
}
