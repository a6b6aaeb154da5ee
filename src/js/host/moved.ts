/** Scripts that Vite 7 has put together in its cache, such as `/node_modules/.vite/deps/`. What lay beside them stayed where it was. */
const MOVED = /(\/node_modules\/)\.[^/]+\/(?:.*\/)?deps\/[^/]+$/;

/**
 * Where a file of the package lies, if a script has moved away from it.
 *
 * @param address what lies in the folder of the script
 * @param file its path within `dist`
 */
export function leftBehind(address: string, file: string): URL | undefined {
  return MOVED.test(address) ? new URL(address.replace(MOVED, `$1watchcache/dist/${file}`)) : undefined;
}
