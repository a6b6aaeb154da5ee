// Child processes. Each runs in a process group of its own, so that whatever it leaves behind (a browser, a driver) ends with it.
import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { CommandFailed } from "./fail.mjs";

const groups = new Set();
/** What is kept of a command's output, in characters: npm tells of each file that it packs, and a group of tests of each test. */
const MAX_OUTPUT = 1 << 23;

function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // the group is gone already
  }
}

process.on("exit", () => groups.forEach((pid) => endGroup(pid, "SIGKILL")));
for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
]) {
  process.on(signal, () => {
    groups.forEach((pid) => endGroup(pid, signal));
    // servers close their sockets on the signal; what is still there after two seconds is ended by the exit handler
    const giveUp = Date.now() + 2_000;
    setInterval(() => {
      if (groups.size === 0 || Date.now() > giveUp) process.exit(128 + number);
    }, 50);
  });
}

/** The first executable of that name on the PATH of `env`. */
export function which(name, env = process.env) {
  for (const folder of (env.PATH || "").split(delimiter)) {
    if (folder && isExecutable(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The trimmed standard output of a quick command, or undefined when it cannot run or fails. */
export function answer(command, args, env = process.env) {
  const done = spawnSync(command, args, { env, encoding: "utf8", timeout: 30_000 });
  return done.status === 0 ? done.stdout.trim() : undefined;
}

/**
 * Runs a command to its end and returns { code, output }, where output is the tail of both its streams.
 * @param options.quiet     show the output only when the command fails
 * @param options.collect   pass the output on and keep its tail as well (the tool then sees a pipe, not a terminal)
 * @param options.timeoutMs end the whole group after that time; the code is then 124, as with timeout(1)
 */
export function run(command, args, { cwd, env = process.env, quiet = false, collect = false, timeoutMs } = {}) {
  return new Promise((resolve, reject) => {
    const piped = quiet || collect;
    const child = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ["ignore", piped ? "pipe" : "inherit", piped ? "pipe" : "inherit"],
    });
    let output = "";
    let late = false;
    const timer = timeoutMs && setTimeout(() => ((late = true), endGroup(child.pid, "SIGKILL")), timeoutMs);
    const keep = (stream, to) =>
      stream?.on("data", (bytes) => {
        output = (output + bytes).slice(-MAX_OUTPUT);
        if (collect) to.write(bytes);
      });
    keep(child.stdout, process.stdout);
    keep(child.stderr, process.stderr);
    if (child.pid) groups.add(child.pid);
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new CommandFailed(`${command} could not be started (${error.code}).`));
    });
    let ended = false;
    const finish = (code, signal) => {
      if (ended) return;
      ended = true;
      groups.delete(child.pid);
      if (quiet && code !== 0) process.stderr.write(output);
      resolve({ code: late ? 124 : (code ?? (signal === "SIGINT" ? 130 : 1)), output });
    };
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      endGroup(child.pid, "SIGKILL");
      // Usually "close" follows at once; a process that left the group may hold the pipe open for ever.
      setTimeout(finish, 1_000, code, signal).unref();
    });
    child.on("close", finish);
  });
}

/** As `run`, but a failure throws. */
export async function must(command, args, options) {
  const done = await run(command, args, options);
  if (done.code !== 0) throw new CommandFailed(`\`${[command, ...args].join(" ")}\` failed with code ${done.code}.`);
  return done;
}

/** What the failed output of npm, cargo, rustup and apt has in common when the network is the reason. */
export function looksOffline(output) {
  return /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|could not resolve|couldn't resolve|temporary failure resolving|temporary failure in name resolution|failed to download|could not download|could not connect|couldn't connect|connection refused|network is unreachable|failed to fetch|operation timed out|spurious network error|dns error/i.test(
    output,
  );
}
