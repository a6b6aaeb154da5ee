// The page of the benchmarks, as an application bundles it: the package and its peers, minified, the wasm a file of its own.
import { join } from "node:path";
import { build } from "vite";

/**
 * `@kubernetes/client-node` is written for Node. Its informer and its cache are plain JavaScript and are bundled as they are. One part is
 * bound to Node, the class that opens the watch's connection by `node-fetch` and `node:readline`. It is replaced by one that does the same
 * with what browsers have.
 */
function clientNodeForBrowsers(root) {
  return {
    name: "client-node-for-browsers",
    enforce: "pre",
    resolveId(source, importer) {
      if (source !== "./watch.js" || !importer?.endsWith("/@kubernetes/client-node/dist/informer.js")) return undefined;
      return join(root, "benches/page/peers/client-node-watch.js");
    },
  };
}

/** @param {string} root the checkout, built; returns the folder to serve */
export async function bundlePage(root) {
  const folder = join(root, "artifacts/bench-page");
  await build({
    root: join(root, "benches/page"),
    configFile: false,
    logLevel: "error",
    plugins: [clientNodeForBrowsers(root)],
    resolve: { alias: { "watchcache/etcd": join(root, "dist/etcd/index.js"), watchcache: join(root, "dist/index.js") } },
    build: {
      outDir: folder,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 5_000,
      // The page that `npm run bench` drives, and the one for visitors.
      rolldownOptions: { input: ["index.html", "tab.html"].map((name) => join(root, "benches/page", name)) },
    },
  });
  return folder;
}
