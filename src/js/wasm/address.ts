import { leftBehind } from "../host/moved.js";

/**
 * Beside this file. Bundlers find it by this very expression; where one leaves the expression as it is, the file is looked for beside the
 * bundle. Nothing is set on the URL: that of Next is read-only.
 */
export function address(): URL {
  const url = new URL("./watchcache_bg.wasm", import.meta.url);
  return leftBehind(url.href, "wasm/watchcache_bg.wasm") ?? url;
}
