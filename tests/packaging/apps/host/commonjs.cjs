// A program of CommonJS. Nothing in the package waits at its top level, so `require` takes it.
const watchcache = require("watchcache");

async function main() {
  const { assertLive, server } = await import("./host.js");
  const { liveRows } = await import("./rows.js");
  assertLive(await liveRows(watchcache, server));
}

main();
