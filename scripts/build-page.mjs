#!/usr/bin/env node
// The demo page: www/ bundled by Vite into www/dist. Built only when the page, the package in dist or the lock file has changed.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, main, say } from "./lib/fail.mjs";
import { filesUnder, hashOf, isStamped, stamp } from "./lib/hash.mjs";
import { root } from "./lib/project.mjs";
import { must } from "./lib/run.mjs";

const OUTPUT = "www/dist/index.html";

export async function buildPage({ force = false } = {}) {
  if (!existsSync(join(root, "dist/index.js"))) {
    throw new CommandFailed("the page needs the package in dist: run `node scripts/build.mjs` first.");
  }
  const own = filesUnder(["www"], (path) => !path.includes("/www/server/"));
  const hash = hashOf([...own, ...filesUnder(["dist", "package-lock.json"])]);
  if (!force && isStamped("page", hash, [OUTPUT])) return;
  say("building the demo page with Vite");
  await must("vite", ["build", "www"], { cwd: root, env: nativeEnvironment() });
  if (!existsSync(join(root, OUTPUT))) throw new CommandFailed(`vite did not write ${OUTPUT}.`);
  stamp("page", hash);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(() => buildPage({ force: process.argv.includes("--force") }));
}
