import { defineConfig } from "vite";

export default defineConfig({
  build: { rollupOptions: { input: "unused.js", output: { entryFileNames: "[name].js" } } },
});
