import { resolve } from "node:path";

export default {
  mode: "production",
  entry: "./app.js",
  output: { path: resolve("dist"), filename: "app.js" },
  devServer: { static: "dist" },
};
