// Content hashes of a build's inputs: "built already?" is answered by what files say, not by when they were touched.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { root } from "./project.mjs";

const SKIP = new Set(["node_modules", "dist", "target", ".git", "artifacts", "work"]);

/** Every file under the paths (files or folders, relative to the checkout), sorted; generated folders are left out. */
export function filesUnder(paths, accept = () => true) {
  const found = [];
  const visit = (path) => {
    if (!existsSync(path)) return;
    if (statSync(path).isFile()) {
      if (accept(path)) found.push(relative(root, path).split(sep).join("/"));
      return;
    }
    for (const name of readdirSync(path)) if (!SKIP.has(name)) visit(join(path, name));
  };
  for (const path of paths) visit(join(root, path));
  return [...new Set(found)].sort();
}

/** One hash over the names and contents of the files, and over anything else the result depends on. */
export function hashOf(files, ...also) {
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(join(root, file)));
    hash.update("\0");
  }
  hash.update(JSON.stringify(also));
  return hash.digest("hex");
}

// Stamps stay out of dist, because dist is what gets published.
const stampFile = (name) => join(root, "target", "stamps", name);

export function isStamped(name, hash, outputs) {
  return (
    existsSync(stampFile(name)) && readFileSync(stampFile(name), "utf8") === hash && outputs.every((path) => existsSync(join(root, path)))
  );
}

export function stamp(name, hash) {
  mkdirSync(dirname(stampFile(name)), { recursive: true });
  writeFileSync(stampFile(name), hash);
}
