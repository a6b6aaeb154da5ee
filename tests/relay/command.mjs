/**
 * `watchcache serve` as a process, as it is started by people.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { metricsOf } from "./harness.mjs";

const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A relay in a process of its own. */
export class RelayProcess {
  /** Where it listens. */
  url = "";
  /** All that it has said. */
  said = "";

  /** @param {readonly string[]} args @param {NodeJS.ProcessEnv} env */
  constructor(args, env) {
    this.child = spawn(process.execPath, [program, "serve", "--port", "0", ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    /** @type {Promise<[code: number | null, signal: string | null]>} */
    this.ended = /** @type {any} */ (once(this.child, "exit"));
    for (const stream of [this.child.stdout, this.child.stderr]) stream.setEncoding("utf8").on("data", (text) => (this.said += text));
  }

  /** @param {readonly string[]} args @param {NodeJS.ProcessEnv} [env] */
  static async start(args, env = {}) {
    const relay = new RelayProcess(args, env);
    const over = relay.ended.then(([code]) => {
      throw new Error(`watchcache serve ended with ${code}: ${relay.said}`);
    });
    over.catch(() => {});
    while (relay.url === "") {
      await Promise.race([once(relay.child.stdout, "data"), over]);
      relay.url = /^watchcache: (http\S+) relays /m.exec(relay.said)?.[1] ?? "";
    }
    return relay;
  }

  /** What it counts, by the whole name of a series. */
  metrics() {
    return metricsOf(this.url);
  }

  /** At once: what is tested is over. */
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}
