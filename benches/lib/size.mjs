// What a user's bundle grows by.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

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

/** @param {string} root the checkout, built */
export async function measureSize(root) {
  return {
    wasm: sizes(readFileSync(join(root, "dist/wasm/watchcache_bg.wasm"))),
    javascript: await bundle(root, "dist/index.js"),
    glue: await bundle(root, "dist/wasm/watchcache.js"),
  };
}
