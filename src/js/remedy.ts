const ELSEWHERE = 'give its address or its bytes to init(), or import "watchcache/inline"';

/** Its address, whatever was asked; empty for bytes, which have none. */
function addressOf(asked: unknown): string {
  if (typeof asked === "string" || asked instanceof URL) return String(asked);
  return (asked as { url?: string }).url ?? "";
}

/**
 * What a person can do about WebAssembly that could not be had or used: the last part of a message.
 *
 * @param why What the host said.
 * @param asked What was asked for: an address, a request or its answer, or bytes; undefined when no address could be made.
 */
export function remedy(why: string, asked: unknown): string {
  if (/content security|\bCSP\b/i.test(why)) return "the page's policy must allow script-src 'wasm-unsafe-eval'";
  if (asked === undefined)
    return `a bundle of this format does not know its own address: build an ES module (esbuild: --format=esm), ${ELSEWHERE}`;
  const address = addressOf(asked);
  if (!address) return "these must be the bytes of the same package's watchcache_bg.wasm";
  if (address.startsWith("file:")) return 'files cannot be fetched, here or in Jest\'s jsdom: import "watchcache/inline"';
  if (/\/node_modules\/|\/deps\/[^/]+$/.test(address))
    return 'Vite has moved the scripts away from it: set optimizeDeps: { exclude: ["watchcache"] } in its configuration';
  return address.endsWith("/watchcache_bg.wasm")
    ? `copy node_modules/watchcache/dist/wasm/watchcache_bg.wasm to ${address} (esbuild and Rollup do not by themselves), ${ELSEWHERE}`
    : `the server must have ${address}, which the bundler has written beside the scripts; if it cannot, ${ELSEWHERE}`;
}
