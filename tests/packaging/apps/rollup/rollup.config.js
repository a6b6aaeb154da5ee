import { copyFileSync } from "node:fs";
import { nodeResolve } from "@rollup/plugin-node-resolve";

export default {
  input: "app.js",
  output: { dir: "dist", format: "es" },
  plugins: [
    nodeResolve(),
    {
      name: "wasm-beside-the-bundle",
      writeBundle: ({ dir }) => copyFileSync("node_modules/watchcache/dist/wasm/watchcache_bg.wasm", `${dir}/watchcache_bg.wasm`),
    },
  ],
};
