// What a user's bundle grows by.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { table } from "../lib/report.mjs";

function sizes(bytes) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes, { params }).length };
}

/** What another entry adds to a page that has the first one. What it is a binding of is the page's own. */
const ENTRIES = ["react", "tanstack-db", "devtools", "compat/client-node", "compat/openshift", "memory"];
const OF_THE_PAGE = [/^react$/, /^@tanstack\/db$/];

/** The entry with all it imports, as Vite bundles and minifies it. */
async function bundle(root, entry) {
  const { output } = await build({
    root,
    configFile: false,
    logLevel: "error",
    // As an application's build does it: the wasm stays a file of its own.
    build: {
      write: false,
      assetsInlineLimit: 0,
      rolldownOptions: { input: join(root, entry), external: OF_THE_PAGE, preserveEntrySignatures: "strict" },
    },
  });
  const chunks = output.filter((file) => file.type === "chunk");
  return sizes(Buffer.from(chunks.map((chunk) => chunk.code).join("\n")));
}

/** @returns {Promise<Record<string, { raw: number, gzip: number, brotli: number }>>} by entry */
async function entries(root, alone) {
  const folder = "artifacts/size";
  mkdirSync(join(root, folder), { recursive: true });
  const found = [];
  for (const entry of ENTRIES) {
    const file = join(folder, `${entry.replace("/", "-")}.js`);
    const [first, second] = ["index", entry === "compat/client-node" ? entry : `${entry}/index`];
    const text = [first, second].map((name, i) => `export * as part${i} from "../../dist/${name}.js";`).join("\n");
    writeFileSync(join(root, file), text);
    const both = await bundle(root, file);
    found.push([entry, Object.fromEntries(Object.entries(both).map(([kind, size]) => [kind, size - alone[kind]]))]);
  }
  return Object.fromEntries(found);
}

async function measure({ root, say }) {
  say("size of the package");
  const javascript = await bundle(root, "dist/index.js");
  return {
    wasm: sizes(readFileSync(join(root, "dist/wasm/watchcache_bg.wasm"))),
    javascript,
    glue: await bundle(root, "dist/wasm/watchcache.js"),
    entries: await entries(root, javascript),
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
  const row = (what, { raw, gzip, brotli }) => [what, kilo(raw), kilo(gzip), kilo(brotli)];
  const line = (what, name) => row(what, results[name]);
  return table(
    ["size", "raw", "gzip", "brotli"],
    [
      line("watchcache_bg.wasm", "wasm"),
      line("JavaScript, bundled and minified", "javascript"),
      line("of which wasm-bindgen's glue", "glue"),
      // Results of before they were measured have none.
      ...Object.entries(results.entries ?? {}).map(([name, size]) => row(`watchcache/${name}, on top of it`, size)),
    ],
  );
}

export default { name: "size", measure, scenarios: () => ({}), lines: sizeLines, table: sizeTable };
