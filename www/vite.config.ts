import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  plugins: [react()],
  // An app of your own installs the package from npm and leaves this line out.
  resolve: {
    alias: {
      "watchcache/react": here("../dist/react/index.js"),
      "watchcache/worker.js": here("../dist/worker.js"),
      watchcache: here("../dist/index.js"),
    },
  },
  worker: { format: "es" },
  build: {
    outDir: here("dist"),
    emptyOutDir: true,
    // Files stay files: the page's Content-Security-Policy allows no data: URLs.
    assetsInlineLimit: 0,
  },
});
