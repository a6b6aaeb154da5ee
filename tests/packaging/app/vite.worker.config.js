import { defineConfig } from "vite";

export default defineConfig({
  build: { rollupOptions: { input: "worker.js", output: { entryFileNames: "[name].js" } } },
});
