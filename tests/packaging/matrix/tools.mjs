// An app's tools as child processes: commands that end, and development servers that are ended.
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { run } from "../../../scripts/lib/run.mjs";
import { toolEnvironment } from "./install.mjs";

/** Runs a tool of the app to its end. Returns { code, output }. */
export function tool(folder, [command, ...args], { env = {}, timeoutMs = 180_000 } = {}) {
  return run(command, args, { cwd: folder, env: { ...toolEnvironment(folder), ...env }, quiet: true, timeoutMs });
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function answers(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(30_000) })).ok;
  } catch {
    return false;
  }
}

/** Starts a server and waits until it answers. Returns { url, close, said }. */
export async function startServing(folder, command, { env = {}, patience = 120_000 } = {}) {
  const port = await freePort();
  const [program, ...args] = command(port);
  // A group of its own: most of these tools have children. An open standard input: some end with it.
  const child = spawn(program, args, { cwd: folder, env: { ...toolEnvironment(folder), ...env }, detached: true, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output = (output + bytes).slice(-16_384)));
  const ended = new Promise((resolve) => child.once("close", resolve));
  let gone = false;
  child.once("error", (error) => ((output += error.message), (gone = true)));
  void ended.then(() => (gone = true));
  const close = async () => {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // it has ended by itself
    }
    await ended;
  };
  const url = `http://127.0.0.1:${port}/`;
  const until = Date.now() + patience;
  while (!(await answers(url))) {
    if (gone || Date.now() > until) {
      await close();
      throw new Error(`${command(port).join(" ")} does not answer:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { url, close, said: () => output };
}
