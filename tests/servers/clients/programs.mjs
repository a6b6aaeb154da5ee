/**
 * The clients that are programs: kubectl in two versions, and informers of Go and Rust. What is built is kept in the tool cache.
 * @module
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { nativeEnvironment } from "../../../scripts/lib/env.mjs";
import { SetupError, say } from "../../../scripts/lib/fail.mjs";
import { isDebian } from "../../../scripts/lib/machine.mjs";
import { root, toolCache } from "../../../scripts/lib/project.mjs";
import { answer, run } from "../../../scripts/lib/run.mjs";
import { buildProgram, requiredVersion } from "../harness/build.mjs";

const here = join(root, "tests", "servers", "clients");

/** The newest kubectl, from the module that the published program is built from. */
export function newestKubectl() {
  const module = join(here, "kubectl");
  const version = requiredVersion(readFileSync(join(module, "go.mod"), "utf8"), "k8s.io/kubectl");
  const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;
  return buildProgram({ name: "kubectl", module, flags, cost: "about three minutes and 300 MB of Go modules, once" });
}

/** The informer of client-go. */
export function clientGo() {
  return buildProgram({ name: "client-go", module: join(here, "client-go"), flags: "-s -w", cost: "about a minute, once" });
}

const DEBIAN_PACKAGE = "kubernetes-client";

/**
 * Debian's kubectl, which is an old one. It is unpacked into the tool cache and not installed: another kubectl may be in its place.
 * @returns {Promise<{ path: string } | { missing: string }>}
 */
export async function debianKubectl() {
  if (!isDebian()) return { missing: "it comes from Debian's packages, and this is no Debian" };
  const version = /Candidate: (\S+)/.exec(answer("apt-cache", ["policy", DEBIAN_PACKAGE]) ?? "")?.[1];
  if (!version || version === "(none)") return { missing: `apt-get knows no package ${DEBIAN_PACKAGE}: run \`apt-get update\` once` };
  const folder = join(toolCache(), "servers", `${DEBIAN_PACKAGE}-${version.replace(/[^A-Za-z0-9.+-]/g, "_")}`);
  const path = join(folder, "usr", "bin", "kubectl");
  if (existsSync(path)) return { path };
  const partial = `${folder}.${process.pid}.partial`;
  mkdirSync(partial, { recursive: true });
  try {
    say(`fetching ${DEBIAN_PACKAGE} ${version} with apt-get: its kubectl is a client of the tests`);
    const fetched = await run("apt-get", ["download", `${DEBIAN_PACKAGE}=${version}`], { cwd: partial, quiet: true });
    const file = readdirSync(partial).find((name) => name.endsWith(".deb"));
    if (fetched.code !== 0 || !file) return { missing: "apt-get could not fetch it: connect to the network, then run this again" };
    const unpacked = await run("dpkg", ["-x", file, "."], { cwd: partial, quiet: true });
    if (unpacked.code !== 0) return { missing: "dpkg could not unpack it" };
    rmSync(folder, { recursive: true, force: true });
    renameSync(partial, folder);
    return { path };
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** The watcher of kube-rs. @returns {Promise<string>} */
export async function kubeRs() {
  const crate = join(here, "kube-rs");
  const hash = createHash("sha256");
  for (const file of ["Cargo.toml", "Cargo.lock", "src/main.rs"]) hash.update(readFileSync(join(crate, file))).update("\0");
  const folder = join(toolCache(), "servers", `kube-rs-${hash.digest("hex").slice(0, 16)}`);
  const binary = join(folder, "release", "kube-rs");
  if (existsSync(binary)) return binary;
  say(`building the watcher of kube-rs into ${folder}: about two minutes, once`);
  const args = ["build", "--release", "--locked", "--target-dir", folder];
  const { code } = await run("cargo", args, { cwd: crate, env: nativeEnvironment(), quiet: true });
  if (code !== 0) throw new SetupError("cargo could not build the watcher of kube-rs: mend what it says above, then run this again.");
  // What is left of the build is ten times the program.
  for (const name of readdirSync(join(folder, "release")))
    if (name !== "kube-rs") rmSync(join(folder, "release", name), { recursive: true });
  return binary;
}
