// The apps of the matrix: how each tool is started, and where it leaves what it built. Their files are in tests/packaging/apps.

/**
 * @typedef {object} Bundler
 * @property {string} title The tool as its users write it.
 * @property {string[][]} build The commands of a build, one after another.
 * @property {string} [out] The folder that a server gives away afterwards.
 * @property {(port: number) => string[]} [start] The tool's own server for what it built, where that is no folder.
 * @property {boolean} [page] The tool makes no HTML: the page is put there by hand.
 * @property {boolean} [bypassCSP] The built page has scripts in itself, which the policy of the embedded server forbids.
 * @property {boolean} [worker] The tool takes the worker's script along, so pages can share their streams.
 * @property {(port: number) => string[]} [dev] The development server, where the tool has one.
 */

const HOST = "127.0.0.1";
const vite = {
  build: [["vite", "build"]],
  out: "dist",
  worker: true,
  dev: (port) => ["vite", "--host", HOST, "--port", String(port), "--strictPort"],
};
const WASM = "node_modules/watchcache/dist/wasm/watchcache_bg.wasm";

/** @type {Record<string, Bundler>} */
export const bundlers = {
  vite7: { title: "Vite 7", ...vite },
  vite8: { title: "Vite 8", ...vite },
  react18: { title: "React 18", ...vite },
  webpack: {
    title: "webpack 5",
    build: [["webpack"]],
    out: "dist",
    page: true,
    worker: true,
    dev: (port) => ["webpack", "serve", "--mode", "development", "--host", HOST, "--port", String(port)],
  },
  rspack: {
    title: "Rspack",
    build: [["rspack", "build"]],
    out: "dist",
    page: true,
    worker: true,
    dev: (port) => ["rspack", "serve", "--mode", "development", "--host", HOST, "--port", String(port)],
  },
  rollup: { title: "Rollup", build: [["rollup", "-c"]], out: "dist", page: true },
  esbuild: {
    title: "esbuild",
    build: [
      ["esbuild", "app.js", "--bundle", "--minify", "--format=esm", "--outdir=dist"],
      ["cp", WASM, "dist/"],
    ],
    out: "dist",
    page: true,
    dev: (port) => ["esbuild", "app.js", "--bundle", "--format=esm", "--outdir=dist", "--servedir=dist", `--serve=${HOST}:${port}`],
  },
  parcel: {
    title: "Parcel",
    build: [["parcel", "build", "index.html", "--no-cache"]],
    out: "dist",
    bypassCSP: true,
    worker: true,
    dev: (port) => ["parcel", "serve", "index.html", "--no-cache", "--host", HOST, "--port", String(port)],
  },
  next: {
    title: "Next",
    build: [["next", "build"]],
    worker: true,
    start: (port) => ["next", "start", "--hostname", HOST, "--port", String(port)],
    dev: (port) => ["next", "dev", "--hostname", HOST, "--port", String(port)],
  },
};

const JEST = ["node", "--experimental-vm-modules", "node_modules/.bin/jest"];

/**
 * @typedef {object} Runner
 * @property {string} title
 * @property {string[]} files Each is a test of its own.
 * @property {string[]} [from] Folders of tests/packaging/apps that it has its files from, beside its own.
 * @property {(file: string, server: string) => string[]} run The command for one of them. `API_SERVER` holds the server, too.
 */

/** @type {Record<string, Runner>} */
export const runners = {
  vitest: { title: "Vitest", files: ["node", "jsdom", "inline"], run: (file) => ["vitest", "run", `${file}.spec.js`] },
  jest: {
    title: "Jest",
    files: ["node", "inline", "mapped", "remedy"],
    run: (file) => [...JEST, `${file}.spec.js`, ...(file === "mapped" ? ["--config", "mapped.config.js"] : [])],
  },
  "jest-cjs": {
    title: "Jest as CommonJS",
    files: ["node", "jsdom", "refused"],
    run: (file) => ["jest", `${file}.spec.js`, ...(file === "refused" ? ["--config", "plain.config.js"] : [])],
  },
};

/** README's first example, which the run writes beside the others. */
export const TEN_LINES = "ten-lines.js";

const PROGRAMS = [TEN_LINES, "websocket.js", "inline.js", "commonjs.cjs", "worker.js", "remedy.js"];

/** What runs the package without a bundler. Each program ends by itself, and with another code than 0 where something is wrong. */
const host = (title, name, command, more = []) => ({
  title,
  files: [...PROGRAMS, ...more],
  from: ["host"],
  run: (file, server) => [...command(file), file, name, server],
});

/** @type {Record<string, Runner>} */
export const hosts = {
  node20: host("Node 20", "node20", () => ["node"]),
  node22: host("Node 22", "node22", () => ["node"]),
  node24: host("Node 24", "node24", () => ["node"]),
  bun: host("Bun", "bun", () => ["bun"]),
  deno: host("Deno", "deno", (file) => ["deno", "run", "--allow-net", ...(file === "unread.js" ? [] : ["--allow-read"])], ["unread.js"]),
};
