// The page of the day: README.md's React example, to the letter, and beside it the routes and probes of this folder.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { root } from "../../../scripts/lib/project.mjs";

const HERE = join(root, "tests/page/day");
const BUILT = join(root, "artifacts/day/page");
/** What the routes take from the example. Nothing else is added to it, and nothing changed. */
const EXPORTS = "\nexport { Pods, pods, cache, useView };\n";

/** @returns {string} README.md's example for React */
export function example() {
  const found = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/^```jsx\n(.*?)^```$/gms)].map((match) => match[1]);
  if (found.length !== 1) throw new Error(`README.md has ${found.length} examples for React`);
  return found[0];
}

/** Builds it with React's development mode, in which StrictMode mounts everything twice. @returns {Promise<string>} the built page's folder */
export async function buildDay() {
  const file = join(root, "artifacts/day/example.jsx");
  mkdirSync(join(root, "artifacts/day"), { recursive: true });
  writeFileSync(file, example() + EXPORTS);
  await build({
    configFile: false,
    root: HERE,
    mode: "development",
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"development"' },
    plugins: [
      {
        name: "day",
        enforce: "pre",
        resolveId(source) {
          if (source === "example") return file;
          // What the hooks give to the example is heard of by the probes.
          if (source === "watchcache/react") return join(HERE, "probed-hooks.js");
          // This very package, by its own exports.
          if (source === "watchcache") return join(root, "dist/index.js");
          return undefined;
        },
      },
      react(),
    ],
    build: { outDir: BUILT, emptyOutDir: true, minify: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 4_096 },
  });
  return BUILT;
}
