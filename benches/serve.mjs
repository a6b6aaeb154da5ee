#!/usr/bin/env node
// `npm start -- --bench`: a page that runs the benchmarks in the visitor's own browser. It needs what `npm run build` builds.
//   --port N   port to listen on (a free one)
import { parseArgs } from "node:util";
import { bundlePage } from "./lib/bundle.mjs";
import { startPageServer } from "./lib/page-server.mjs";
import { main, SetupError, say } from "../scripts/lib/fail.mjs";
import { root } from "../scripts/lib/project.mjs";

function parse() {
  const { port } = parseArgs({ options: { port: { type: "string", default: "0" } } }).values;
  if (!/^\d+$/.test(port) || Number(port) > 65_535) throw new SetupError(`--port takes a number up to 65535, not ${port}.`);
  return Number(port);
}

await main(async () => {
  const port = parse();
  say("bundling the benchmarks with their peers");
  const server = await startPageServer(await bundlePage(root), port);
  console.log(`${server.url}/tab.html`);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void server.close().then(() => process.exit(0)));
});
