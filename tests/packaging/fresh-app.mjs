// A fresh app in a folder of its own, with the packed package from its tarball and nothing from the checkout.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nativeEnvironment } from "../../scripts/lib/env.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { must } from "../../scripts/lib/run.mjs";

const quiet = { quiet: true };
const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const locked = (name) => lock.packages[`node_modules/${name}`].version;

/** Packs the checkout as `npm publish` would. Returns the tarball and the list of files that npm put in. */
export async function pack(folder) {
  const { output } = await must("npm", ["pack", "--json", "--pack-destination", folder], { ...quiet, cwd: root });
  const [packed] = JSON.parse(output.slice(output.indexOf("[\n"), output.lastIndexOf("]") + 1));
  return { tarball: join(folder, packed.filename), files: packed.files.map((file) => file.path), size: packed.size };
}

/** Makes the app: package.json, the tarball, Vite, TypeScript and ws in the versions of the project's lock file, and the app's own files. */
export async function freshApp() {
  const folder = mkdtempSync(join(tmpdir(), "watchcache-app-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const packed = await pack(folder);
    cpSync(join(root, "tests", "packaging", "app"), folder, { recursive: true });
    const others = Object.fromEntries(["vite", "typescript", "ws"].map((name) => [name, locked(name)]));
    const dependencies = { watchcache: `file:${packed.tarball}`, ...others };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "fresh-app", private: true, type: "module", dependencies }));
    await must("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { ...quiet, cwd: folder });
    const bin = join(folder, "node_modules", ".bin");
    const tool = (name, ...args) => must(join(bin, name), args, { ...quiet, cwd: folder, env: nativeEnvironment() });
    return { folder, installed: join(folder, "node_modules", "watchcache"), ...packed, tool, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
