// Where things are: the checkout, the pinned versions, and the one tool cache outside the checkout.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const versions = JSON.parse(readFileSync(join(root, "scripts", "versions.json"), "utf8"));

/** The folder that holds every tool which setup installs. `WATCHCACHE_TOOLS` names another place. */
export function toolCache(env = process.env) {
  return env.WATCHCACHE_TOOLS ? resolve(env.WATCHCACHE_TOOLS) : join(homedir(), ".cache", "watchcache");
}

/** True when dotted version `have` is `want` or newer. */
export function atLeast(have, want) {
  const left = have.split(".").map((part) => parseInt(part, 10) || 0);
  const right = want.split(".").map((part) => parseInt(part, 10) || 0);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] || 0) - (right[i] || 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
