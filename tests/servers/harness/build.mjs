/**
 * Builds the real servers of the end-to-end suite from their Go modules, once: a binary is kept in the tool cache under
 * the hash of everything that decides it, so an unchanged checkout never builds twice and two checkouts share one build.
 * @module
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The folder of the Go modules. */
const SERVERS = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Go that both modules ask for, as `[major, minor]`. */
const GO_NEEDED = [1, 26];

/**
 * A server that can be built.
 * @typedef {"kube-apiserver" | "etcd"} ServerName
 */

/** What a first build costs, said before it starts. */
const COST = { "kube-apiserver": "about four minutes and 2 GB of Go modules the first time", etcd: "about half a minute the first time" };

/** A reason a person can act upon; printed without a stack trace. */
export class SetupError extends Error {
  name = "SetupError";
}

/** The tool cache: outside the checkout, moved by `WATCHCACHE_TOOLS`. */
export function toolCache() {
  return process.env.WATCHCACHE_TOOLS || join(homedir(), ".cache", "watchcache");
}

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
 * Linker flags that put the module's version where the server looks for it, as the project's own release builds do;
 * without them `/version` of kube-apiserver says v0.0.0.
 * @param {ServerName} name
 * @param {string} goMod
 */
function linkerFlags(name, goMod) {
  if (name === "etcd") return "-s -w";
  const version = requiredVersion(goMod, "k8s.io/kubernetes");
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version);
  const set = (key, value) =>
    ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].map((p) => `-X ${p}.${key}=${value}`).join(" ");
  return `-s -w ${set("gitVersion", version)} ${set("gitMajor", major)} ${set("gitMinor", minor)}`;
}

/** The version of the Go on the path, or a {@link SetupError} that says how to get one. */
function goVersion() {
  const remedy = `install Go ${GO_NEEDED.join(".")} or newer (https://go.dev/doc/install), put it on PATH and run this again. \`npm test\` does not need it.`;
  const out = spawnSync("go", ["env", "GOVERSION", "GOOS", "GOARCH"], { encoding: "utf8" });
  if (out.error || out.status !== 0) throw new SetupError(`The real servers are built with Go and there is none: ${remedy}`);
  const [version, os, arch] = out.stdout.trim().split("\n");
  const found = /^go(\d+)\.(\d+)/.exec(version);
  const toolchain = spawnSync("go", ["env", "GOTOOLCHAIN"], { encoding: "utf8" }).stdout.trim();
  // From 1.21 on, Go fetches the toolchain that a module asks for, unless told to stay local.
  const oldest = toolchain === "local" ? GO_NEEDED : [1, 21];
  if (found && (Number(found[1]) < oldest[0] || (Number(found[1]) === oldest[0] && Number(found[2]) < oldest[1]))) {
    throw new SetupError(`The real servers need Go ${GO_NEEDED.join(".")} and this is ${version}: ${remedy}`);
  }
  return { version, platform: `${os}/${arch}` };
}

/**
 * Path of a server's binary; builds it when the tool cache has none for these module files.
 * @param {ServerName} name
 * @param {{ log?: (line: string) => void }} [options] `log` hears what is done and why
 * @returns {Promise<string>}
 */
export async function buildServer(name, { log = (line) => console.log(line) } = {}) {
  const module = join(SERVERS, name);
  const files = ["go.mod", "go.sum", "main.go"].map((f) => readFileSync(join(module, f)));
  const flags = linkerFlags(name, files[0].toString());
  const hash = createHash("sha256");
  for (const part of [...files, flags, process.platform, process.arch]) hash.update(part).update("\0");
  const folder = join(toolCache(), "servers", hash.digest("hex").slice(0, 16));
  const binary = join(folder, process.platform === "win32" ? `${name}.exe` : name);
  if (existsSync(binary)) return binary;

  const go = goVersion();
  log(`Building ${name} with ${go.version} for ${go.platform} into ${folder}: ${COST[name]}, seconds afterwards.`);
  mkdirSync(folder, { recursive: true });
  // Renamed when complete, so that an interrupted or a parallel build never leaves half a binary behind.
  const partial = `${binary}.${process.pid}.partial`;
  const started = Date.now();
  try {
    await run("go", ["build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", flags, "-o", partial, "."], module, name);
    renameSync(partial, binary);
  } finally {
    rmSync(partial, { force: true });
  }
  log(`Built ${name} in ${Math.round((Date.now() - started) / 1000)} s.`);
  return binary;
}

/**
 * @param {string} command @param {string[]} args @param {string} cwd @param {string} name
 * @returns {Promise<void>}
 */
function run(command, args, cwd, name) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, CGO_ENABLED: "0" } });
    let tail = "";
    child.stderr.on("data", (data) => (tail = (tail + data).slice(-4000)));
    child.on("error", (error) => reject(new SetupError(`Cannot run ${command}: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      const network = /dial tcp|no such host|i\/o timeout|connection refused|TLS handshake/.test(tail);
      const remedy = network
        ? "The Go modules could not be fetched: check the network, or GOPROXY, and run this again."
        : "See Go's own words above.";
      reject(new SetupError(`Building ${name} failed (${signal ?? `exit ${code}`}):\n${tail.trim()}\n${remedy}`));
    });
  });
}

// `node tests/servers/harness/build.mjs` builds both and prints where they are.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    for (const name of /** @type {ServerName[]} */ (["etcd", "kube-apiserver"])) console.log(`${name}: ${await buildServer(name)}`);
  } catch (error) {
    console.error(error instanceof SetupError ? error.message : error);
    process.exitCode = 1;
  }
}
