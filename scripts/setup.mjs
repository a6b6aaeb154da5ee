#!/usr/bin/env node
// Everything that is missing, for `npm start` and `npm test` alike; each step is a script of its own.
//   --no-browser   leaves out the browser, which only the tests need
import { pathToFileURL } from "node:url";
import { main } from "./lib/fail.mjs";
import { requireCargo } from "./lib/rust.mjs";
import { setupBrowser } from "./setup-browser.mjs";
import { requireNode, setupNode } from "./setup-node.mjs";
import { setupRust } from "./setup-rust.mjs";

export async function setup({ browser = true } = {}) {
  // The prerequisites first: nobody should wait for npm only to hear that there is no cargo.
  requireNode();
  requireCargo();
  if (browser) await setupBrowser();
  await setupNode();
  await setupRust();
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => setup({ browser: !process.argv.includes("--no-browser") }));
}
