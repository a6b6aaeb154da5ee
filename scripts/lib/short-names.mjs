// Shortens the names by which the WebAssembly and its glue call each other. Each of wasm-bindgen's names holds a hash, which no compression
// shortens, and no bundler may rename them. They can be renamed here because only these two files know them.
import { readFileSync, writeFileSync } from "node:fs";
import { CommandFailed } from "./fail.mjs";

/** The argument by which wasm-opt renames them, and prints how. */
export const SHORTEN = "--minify-imports-and-exports-and-modules";

const IMPORTS = "./watchcache_bg.js";

/**
 * Renames in the glue what wasm-opt has renamed in the module.
 * @param {string} printed what wasm-opt printed: JSON of `imports` as [module, name, short], and `exports` as [name, short]
 * @param {string} glue its file
 */
export function shortenNames(printed, glue) {
  const { imports, exports } = JSON.parse(printed.slice(printed.indexOf("{"), printed.lastIndexOf("}") + 1));
  const imported = new Map(imports.map(([module, name, short]) => [checked(module === IMPORTS, name), short]));
  const exported = new Map(exports.map(([name, short]) => [name, short]));
  const used = new Set();
  const rename = (names) => (whole, before, name, behind) => {
    const short = names.get(name);
    if (short === undefined) return whole;
    used.add(name);
    return `${before}${short}${behind}`;
  };
  const text = readFileSync(glue, "utf8")
    .replace(/^( +)(__wb\w+)(: function)/gm, rename(imported))
    .replace(/\b(wasm\.)([\w$]+)\b()/g, rename(exported))
    .replaceAll(`"${IMPORTS}"`, '"a"');
  for (const name of imported.keys()) checked(used.has(name), name);
  // An export that the glue does not name is not called at all.
  writeFileSync(glue, text);
}

function checked(holds, name) {
  if (!holds) throw new CommandFailed(`wasm-bindgen's glue has changed its form: ${name} was not found in it.`);
  return name;
}
