/** Scripts that Vite 7 has put together in its cache, such as `/node_modules/.vite/deps/`. What lay beside them stayed where it was. */
const OPTIMIZED = /(\/node_modules\/)\.[^/]+\/(?:.*\/)?deps\/[^/]+$/;

/**
 * Beside this file. Bundlers find it by this very expression; where one leaves the expression as it is, the file is looked for beside the
 * bundle. Nothing is set on the URL: that of Next is read-only.
 */
export function address(): URL {
  const url = new URL("./watchcache_bg.wasm", import.meta.url);
  return OPTIMIZED.test(url.href) ? new URL(url.href.replace(OPTIMIZED, "$1watchcache/dist/wasm/watchcache_bg.wasm")) : url;
}
