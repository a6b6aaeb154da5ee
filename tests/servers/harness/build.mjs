/**
 * Builds the real servers of the end-to-end suite from their Go modules, once. A binary is kept in the tool cache under
 * the hash of everything that decides it. So an unchanged checkout never builds twice, and two checkouts share one build.
 * @module
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SetupError, main, say } from "../../../scripts/lib/fail.mjs";
import { requireGo } from "../../../scripts/lib/go.mjs";
import { root, toolCache } from "../../../scripts/lib/project.mjs";
import { looksOffline, run } from "../../../scripts/lib/run.mjs";

/** The folder of the Go modules. */
const SERVERS = join(root, "tests", "servers");

/**
 * A server that can be built.
 * @typedef {"kube-apiserver" | "etcd"} ServerName
 */

/** What a first build costs, said before it starts. */
const COST = { "kube-apiserver": "a few minutes and 2 GB of Go modules, once", etcd: "about half a minute, once" };

/**
 * The version of a required module, read from a go.mod.
 * @param {string} goMod text of the go.mod
 * @param {string} module
 */
export function requiredVersion(goMod, module) {
  const line = goMod.split("\n").find((l) =>
    l
      .replace(/^require\s+/, "")
      .trim()
      .startsWith(`${module} v`),
  );
  if (!line) throw new SetupError(`${module} is not required by go.mod.`);
  return line
    .replace(/^require\s+/, "")
    .trim()
    .split(/\s+/)[1];
}

/**
 * Linker flags that put the module's version where the server looks for it, as the project's own release builds do.
 * Without them `/version` of kube-apiserver says v0.0.0.
 * @param {ServerName} name
 * @param {string} goMod
 */
function linkerFlags(name, goMod) {
  if (name === "etcd") return "-s -w";
  const version = requiredVersion(goMod, "k8s.io/kubernetes");
  const [major, minor] = version.slice(1).split(".");
  const set = (/** @type {string} */ key, /** @type {string} */ value) =>
    ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].map((p) => `-X ${p}.${key}=${value}`).join(" ");
  return `-s -w ${set("gitVersion", version)} ${set("gitMajor", major)} ${set("gitMinor", minor)}`;
}

/**
 * Path of a server's binary; builds it when the tool cache has none for these module files.
 * @param {ServerName} name
 * @returns {Promise<string>}
 */
export async function buildServer(name) {
  const module = join(SERVERS, name);
  return buildProgram({ name, module, flags: linkerFlags(name, readFileSync(join(module, "go.mod"), "utf8")), cost: COST[name] });
}

/**
 * Path of the binary of a Go module with one file, kept in the tool cache.
 * @param {{ name: string, module: string, flags: string, cost: string }} program `module`: its folder; `cost`: of a first build, said before it starts
 * @returns {Promise<string>}
 */
export async function buildProgram({ name, module, flags, cost }) {
  const files = ["go.mod", "go.sum", "main.go"].map((f) => readFileSync(join(module, f)));
  const hash = createHash("sha256");
  for (const part of [...files, flags, process.platform, process.arch]) hash.update(part).update("\0");
  const folder = join(toolCache(), "servers", hash.digest("hex").slice(0, 16));
  const binary = join(folder, process.platform === "win32" ? `${name}.exe` : name);
  if (existsSync(binary)) return binary;

  const go = requireGo();
  say(`building ${name} with ${go.version} for ${go.platform} into ${folder}: ${cost}`);
  mkdirSync(folder, { recursive: true });
  // Renamed when complete, so that an interrupted or a parallel build never leaves half a binary behind.
  const partial = `${binary}.${process.pid}.partial`;
  const started = Date.now();
  try {
    const args = ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", flags, "-o", partial, "."];
    const { code, output } = await run("go", args, { cwd: module, env: { ...process.env, CGO_ENABLED: "0" }, quiet: true });
    if (code !== 0 && looksOffline(output)) {
      throw new SetupError(
        `Go could not fetch the modules of ${name}: connect to the network or name a mirror with \`go env -w GOPROXY=…\`, then run this again.`,
      );
    }
    if (code !== 0) throw new SetupError(`go build of ${name} failed: mend what it says above, then run this again.`);
    renameSync(partial, binary);
  } finally {
    rmSync(partial, { force: true });
  }
  say(`built ${name} in ${Math.round((Date.now() - started) / 1000)} s`);
  return binary;
}

// `node tests/servers/harness/build.mjs` builds both and prints where they are.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    for (const name of /** @type {ServerName[]} */ (["etcd", "kube-apiserver"])) console.log(`${name}: ${await buildServer(name)}`);
  });
}
