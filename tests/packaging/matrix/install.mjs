// An app of the matrix in the work folder: what its lock file names from npm's cache, and the package from its tarball.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nativeEnvironment } from "../../../scripts/lib/env.mjs";
import { hashOf } from "../../../scripts/lib/hash.mjs";
import { root } from "../../../scripts/lib/project.mjs";
import { must } from "../../../scripts/lib/run.mjs";
import { hosts } from "./apps.mjs";

const APPS = "tests/packaging/apps";
const WORK = join(root, "tests/packaging/work");
const STAMP = "node_modules/.watchcache-lock";

/** What a tool of an app needs to be found, and to keep its counsel: no colours, no telemetry, no browser of its own. */
export function toolEnvironment(folder) {
  const env = nativeEnvironment();
  const quiet = { NO_COLOR: "1", BROWSER: "none", NEXT_TELEMETRY_DISABLED: "1", CI: "1" };
  // The test runner's own variable makes a runner below it believe that it is its child.
  const { NODE_TEST_CONTEXT: _, FORCE_COLOR: __, NODE_ENV: ___, ...rest } = env;
  return { ...rest, ...quiet, PATH: `${join(folder, "node_modules", ".bin")}:${env.PATH}` };
}

/** Packs the checkout as `npm publish` would. Returns the tarball's path. */
export async function packForMatrix() {
  mkdirSync(WORK, { recursive: true });
  const { output } = await must("npm", ["pack", "--json", "--pack-destination", WORK], { quiet: true, cwd: root });
  const [packed] = JSON.parse(output.slice(output.indexOf("[\n"), output.lastIndexOf("]") + 1));
  return join(WORK, packed.filename);
}

/**
 * Makes the app anew and returns its folder. What npm installed for the same lock file stays from run to run; all else is removed,
 * the caches that tools keep in node_modules included.
 */
export async function installApp(name, tarball) {
  const folder = join(WORK, name);
  const hash = hashOf([`${APPS}/${name}/package-lock.json`]);
  const kept = join(folder, STAMP);
  if (!existsSync(kept) || readFileSync(kept, "utf8") !== hash) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const entry of readdirSync(folder)) if (entry !== "node_modules") rmSync(join(folder, entry), { recursive: true });
  for (const from of ["shared", ...(hosts[name]?.from ?? []), name]) cpSync(join(root, APPS, from), folder, { recursive: true });
  for (const cache of [".vite", ".cache", "watchcache"]) rmSync(join(folder, "node_modules", cache), { recursive: true, force: true });
  // Not `npm ci`, which fails where a registry lacks what only other systems need. The lock file rules in both.
  await must("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefer-offline", tarball], { quiet: true, cwd: folder });
  writeFileSync(kept, hash);
  return folder;
}
