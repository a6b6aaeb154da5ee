/**
 * Child processes that never outlive their test. Each one is known by its handle and ends on `stop`. It is killed when the
 * process that started it exits for whatever reason.
 * @module
 */
import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** @type {Set<ManagedProcess>} what runs now */
const running = new Set();

process.on("exit", () => {
  for (const it of running) it.kill();
});
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.once(signal, () => {
    for (const it of running) it.kill();
    process.kill(process.pid, signal); // the default action, now that our handler is gone
  });
}

/**
 * How a process is started; kept, so that it can be started again in the same way.
 * @typedef {object} ProcessSpec
 * @property {string} name for messages
 * @property {string} command
 * @property {readonly string[]} args
 * @property {string} cwd
 * @property {string} logFile gets stdout and stderr, of all starts
 * @property {() => Promise<boolean>} ready true when it serves; a rejection counts as "not yet"
 * @property {number} [readyMs] deadline of a start in milliseconds, default 60,000
 */

/** One server process that can be stopped, killed and started again. */
export class ManagedProcess {
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  /** @type {Promise<void>} */
  #exited = Promise.resolve();

  /** @param {ProcessSpec} spec */
  constructor(spec) {
    this.spec = spec;
  }

  get name() {
    return this.spec.name;
  }

  /** The process id while it runs. */
  get pid() {
    return this.#child?.pid;
  }

  /** Starts the process and waits until it is ready; on failure it is gone again and the error ends with its log. */
  async start() {
    if (this.#child) throw new Error(`${this.name} runs already (pid ${this.#child.pid})`);
    const { command, args, cwd, logFile, ready, readyMs = 60_000 } = this.spec;
    const log = openSync(logFile, "a");
    const child = spawn(command, args, { cwd, stdio: ["ignore", log, log] });
    closeSync(log);
    this.#child = child;
    running.add(this);
    let how = "";
    this.#exited = new Promise((resolve) => {
      const gone = (/** @type {string} */ why) => {
        how ||= why;
        if (this.#child === child) this.#child = undefined;
        running.delete(this);
        resolve();
      };
      child.once("error", (error) => gone(error.message));
      child.once("exit", (code, signal) => gone(signal ?? `exit ${code}`));
    });
    for (const deadline = Date.now() + readyMs; ; await sleep(50)) {
      if (how) throw new Error(`${this.name} ended before it was ready (${how}):\n${this.logTail()}`);
      if (await ready().catch(() => false)) return;
      if (Date.now() > deadline) {
        await this.stop();
        throw new Error(`${this.name} was not ready within ${readyMs / 1000} s:\n${this.logTail()}`);
      }
    }
  }

  /** SIGTERM, and SIGKILL when `graceMs` have passed. Resolves when the process is gone; nothing happens if none runs. */
  async stop({ graceMs = 10_000 } = {}) {
    const child = this.#child;
    if (!child) return this.#exited;
    child.kill("SIGTERM");
    child.kill("SIGCONT"); // whoever is paused hears of it only then
    const timer = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await this.#exited;
    clearTimeout(timer);
  }

  /** SIGKILL: no goodbye to any client. Resolves when the process is gone. */
  kill() {
    this.#child?.kill("SIGKILL");
    return this.#exited;
  }

  /** SIGSTOP: connections stay open, and nothing answers until `resume`. */
  pause() {
    this.#child?.kill("SIGSTOP");
  }

  /** SIGCONT. */
  resume() {
    this.#child?.kill("SIGCONT");
  }

  /** The last lines of the log. */
  logTail(lines = 15) {
    try {
      return readFileSync(this.spec.logFile, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
    } catch {
      return "(no log)";
    }
  }
}

/**
 * Ports of 127.0.0.1 that are free now and differ from each other.
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function freePorts(count) {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return /** @type {Promise<import("node:net").Server>} */ (
        new Promise((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", () => resolve(server)))
      );
    }),
  );
  const ports = servers.map((s) => /** @type {import("node:net").AddressInfo} */ (s.address()).port);
  await Promise.all(servers.map((s) => new Promise((resolve) => s.close(resolve))));
  return ports;
}
