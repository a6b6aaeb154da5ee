/** Scripts that Vite 7 has put together in its cache, such as `/node_modules/.vite/deps/`. What lay beside them stayed where it was. */
const OPTIMIZED = /(\/node_modules\/)\.[^/]+\/(?:.*\/)?deps\/[^/]+$/;

/**
 * Beside this file. Bundlers find it by this very expression; where one leaves the expression as it is, the file is looked for beside the
 * bundle. Nothing is set on the URL: that of Next is read-only.
 */
const beside = () => new URL("./watchcache_bg.wasm", import.meta.url);

/**
 * Where a file of the package lies, if this script has moved away from it. `import.meta.url` by itself would say it more simply: bundlers write the path of the
 * machine that builds in its place.
 *
 * @param file its path within `dist`
 */
export function leftBehind(file: string): URL | undefined {
  const { href } = beside();
  return OPTIMIZED.test(href) ? new URL(href.replace(OPTIMIZED, `$1watchcache/dist/${file}`)) : undefined;
}

export const address = (): URL => leftBehind("wasm/watchcache_bg.wasm") ?? beside();
