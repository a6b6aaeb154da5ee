#!/usr/bin/env node
// Node is new enough and node_modules holds what package-lock.json says; otherwise `npm ci`.
import { existsSync, lstatSync, readFileSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { CommandFailed, SetupError, main, say } from "./lib/fail.mjs";
import { atLeast, root, versions } from "./lib/project.mjs";
import { looksOffline, run } from "./lib/run.mjs";

export function requireNode() {
  const have = process.versions.node;
  if (!atLeast(have, versions.node)) {
    throw new SetupError(
      `Node ${have} is too old, ${versions.node} or newer is needed: install it from https://nodejs.org, then run this again.`,
    );
  }
}

/** True when every package of the lock file is installed in its version, by npm's own record of what it installed. */
export function isInstalled() {
  const record = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const have = JSON.parse(readFileSync(record, "utf8")).packages;
  return Object.entries(wanted).every(([path, entry]) => path === "" || entry.optional || have[path]?.version === entry.version);
}

/** `npm ci` empties the folder first: where that is a link to another checkout's packages, only the link may go. */
function unlinkShared() {
  const folder = join(root, "node_modules");
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(folder);
}

export async function setupNode() {
  requireNode();
  if (isInstalled()) return;
  say("installing the npm packages of package-lock.json into node_modules: page, bundler, test tools");
  unlinkShared();
  const done = await run("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], { cwd: root, collect: true });
  if (done.code === 0) return;
  if (looksOffline(done.output)) {
    throw new SetupError(
      "npm could not reach its registry: connect to the network or name a mirror with `npm config set registry`, then run this again.",
    );
  }
  throw new CommandFailed("`npm ci` failed: mend what it says above, then run this again.");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(setupNode);
