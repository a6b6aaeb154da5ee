// etcd's own Go client as a program (benches/etcd), and a line of its answer at a time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { buildProgram } from "../../tests/servers/harness/build.mjs";

/** Starts it. @param {string} root @param {string[]} args */
export async function startEtcdGo(root, args) {
  const command = await buildProgram({
    name: "etcd-go",
    module: join(root, "benches/etcd"),
    flags: "-s -w",
    cost: "about half a minute, once",
  });
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    /** The next line that it prints. */
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`etcd-go ${args[0]} ended`);
      return value;
    },
    write: (line) => child.stdin.write(`${line}\n`),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
