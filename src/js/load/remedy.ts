const ELSEWHERE = 'give its address or its bytes to init(), or import "watchcache/inline"';

/**
 * What a person can do about WebAssembly that could not be had or used: the last part of a message.
 *
 * @param address Where it was looked for: empty for bytes, which have no address, and undefined when none could be made.
 */
export function remedy(address: string | undefined): string {
  if (address === undefined)
    return `a bundle of this format does not know its own address: build an ES module (esbuild: --format=esm), ${ELSEWHERE}`;
  if (!address) return "these must be the bytes of the same package's watchcache_bg.wasm";
  if (address.startsWith("file:")) return 'files cannot be fetched, here or in Jest\'s jsdom: import "watchcache/inline"';
  if (/\/node_modules\/|\/deps\/[^/]+$/.test(address))
    return 'Vite has moved the scripts away from it: set optimizeDeps: { exclude: ["watchcache"] } in its configuration';
  return address.endsWith("/watchcache_bg.wasm")
    ? `copy node_modules/watchcache/dist/wasm/watchcache_bg.wasm to ${address} (esbuild and Rollup do not by themselves), ${ELSEWHERE}`
    : `the server must have ${address}, which the bundler has written beside the scripts; if it cannot, ${ELSEWHERE}`;
}
