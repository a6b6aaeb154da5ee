// What a user's bundle grows by.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { table } from "../lib/report.mjs";

function sizes(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes, { params }).length };
}

/** The entry with all it imports, as Vite bundles and minifies it, and the generated glue alone. */
async function bundle(root, entry) {
  const { output } = await build({
    root,
    configFile: false,
    logLevel: "error",
    // As an application's build does it: the wasm stays a file of its own.
    build: { write: false, assetsInlineLimit: 0, rolldownOptions: { input: join(root, entry), preserveEntrySignatures: "strict" } },
  });
  const chunks = output.filter((file) => file.type === "chunk");
  return sizes(Buffer.from(chunks.map((chunk) => chunk.code).join("\n")));
}

async function measure({ root, say }) {
  say("size of the package");
  return {
    wasm: sizes(readFileSync(join(root, "dist/wasm/watchcache_bg.wasm"))),
    javascript: await bundle(root, "dist/index.js"),
    glue: await bundle(root, "dist/wasm/watchcache.js"),
  };
}

/** In kB. */
const GOALS = { wasm: 90, javascript: 15 };

/** For the lines with a goal. */
function sizeLines(results) {
  const line = (what, name) => {
    const ours = results[name].brotli / 1000;
    return { what: `${what}, brotli`, unit: "kB", ours, peer: "", goal: { ours: [GOALS[name], `${GOALS[name]} kB`] } };
  };
  return [line("the WebAssembly", "wasm"), line("the JavaScript, bundled and minified", "javascript")];
}

/** A table of its own. */
function sizeTable(results) {
  const kilo = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const line = (what, name) => {
    const { raw, gzip, brotli } = results[name];
    return [what, kilo(raw), kilo(gzip), kilo(brotli)];
  };
  return table(
    ["size", "raw", "gzip", "brotli"],
    [
      line("watchcache_bg.wasm", "wasm"),
      line("JavaScript, bundled and minified", "javascript"),
      line("of which wasm-bindgen's glue", "glue"),
    ],
  );
}

export default { name: "size", measure, scenarios: () => ({}), lines: sizeLines, table: sizeTable };
