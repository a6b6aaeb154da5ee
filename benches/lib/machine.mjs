// Where and on what a run was taken.
import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem, type } from "node:os";

const git = (...args) => execFileSync("git", args, { encoding: "utf8" }).trim();

/** The checkout's commit, "+" behind it when what is measured differs from it. */
export function commit(root) {
  const measured = [
    "src",
    "Cargo.toml",
    "Cargo.lock",
    "package-lock.json",
    "benches/bench.mjs",
    "benches/bench-native.mjs",
    "benches/informer",
    "benches/lib",
    "benches/page",
    "benches/rows",
    "benches/native",
    "benches/go",
    "www/server",
    "scripts",
  ];
  return git("-C", root, "rev-parse", "--short=12", "HEAD") + (git("-C", root, "status", "--porcelain", "--", ...measured) ? "+" : "");
}

/** @param {string} [browser] its name and version */
export function machine(browser) {
  return {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.version,
    ...(browser && { browser }),
    loadAtStart: loadavg().map((load) => Math.round(load * 100) / 100),
  };
}
