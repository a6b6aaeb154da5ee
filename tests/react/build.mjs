// The page of the hooks' tests: each scenario is a function of a file in page/. React is as one develops with it, where StrictMode mounts
// everything twice.
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { build } from "vite";
import { root } from "../../scripts/lib/project.mjs";

/** This very package, by its own exports. */
export const alias = {
  "watchcache/react": join(root, "dist/react/index.js"),
  "watchcache/memory": join(root, "dist/memory/index.js"),
  watchcache: join(root, "dist/index.js"),
};

/** Builds a page of components with this very package, and React as it is developed with: only that runs effects twice. @returns its folder */
export async function buildApp(folder, outDir = join(folder, "dist")) {
  await build({
    configFile: false,
    root: folder,
    mode: "development",
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"development"' },
    plugins: [react()],
    resolve: { alias },
    build: { outDir, emptyOutDir: true, minify: false, assetsInlineLimit: 0, chunkSizeWarningLimit: 4_096 },
  });
  return outDir;
}

/** @returns {Promise<string>} the built page's folder */
export const buildPage = () => buildApp(join(root, "tests/react/page"), join(root, "artifacts/react-hooks"));
