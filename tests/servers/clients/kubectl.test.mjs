/**
 * One script of kubectl commands, run on the embedded server and on kube-apiserver: the answers are the same, or listed with the reason.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { turnNow } from "../../../scripts/lib/turn.mjs";
import { DIFFERENCES, MEANWHILE, STEPS } from "./kubectl.steps.mjs";
import { debianKubectl, newestKubectl } from "./programs.mjs";
import { bothSides } from "./sides.mjs";

/** @typedef {import("./kubectl.steps.mjs").Step} Step */
/** @typedef {import("./sides.mjs").Side} Side */

const PATIENCE_MS = 20_000;
const CLIENTS = ["newest", "debian"];
/** A run takes one of the two, the next one with each commit. */
const chosen = process.env.MATRIX === "all" ? CLIENTS : [CLIENTS[turnNow() % CLIENTS.length]];

/**
 * What a server decides for itself, by names. The repair loop of kube-apiserver warns of a service of whose address it has not heard yet.
 * @param {string} text @param {Side} side
 */
function normalised(text, side) {
  return text
    .replaceAll(side.url, "SERVER")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UID")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replace(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "TIME")
    .replace(/("?resourceVersion"?: ?)"\d+"/g, '$1"VERSION"')
    .replace(/\b10\.(0|97)\.\d+\.\d+\b/g, "ADDRESS")
    .replace(/(?<=\s|\()(\d+[smhdy])+(?=\s|$|\))/g, "AGE")
    .replace(/^[EIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+\]/gm, "LOG")
    .replace(/^.* ClusterIPNotAllocated .*\n/gm, "")
    .replace(/ +/g, " ")
    .trimEnd();
}

/** @param {string} path of kubectl @param {Side} side */
function caller(path, side) {
  mkdirSync(side.home, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: side.home, KUBECONFIG: "/dev/null" };
  /**
   * @param {Step} step
   * @returns {Promise<string>} what it says, how it ends, and what others said meanwhile
   */
  return async function call(step) {
    const child = spawn(path, ["--server", side.url, ...step.args], { env, stdio: ["pipe", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    let [out, err] = ["", ""];
    let arrived = () => {};
    child.stdout.setEncoding("utf8").on("data", (data) => {
      out += data;
      arrived();
    });
    child.stderr.setEncoding("utf8").on("data", (data) => (err += data));
    const closed = new Promise((resolve) => child.once("close", (code, signal) => resolve(signal ?? code)));
    child.stdin.end(step.input === undefined ? "" : JSON.stringify(step.input));
    const meanwhile = [];
    if (step.lines) {
      const lines = () => out.split("\n").length - 1;
      const until = async (/** @type {number} */ count) => {
        while (lines() < count && child.exitCode === null && child.signalCode === null)
          await Promise.race([new Promise((resolve) => (arrived = () => resolve(undefined))), closed]);
      };
      await until(step.lines - (step.during?.length ?? 0));
      for (const [index, name] of (step.during ?? []).entries()) {
        const other = MEANWHILE.find((it) => it.name === name);
        assert.ok(other, name);
        meanwhile.push(await call(other));
        await until(step.lines - (step.during?.length ?? 0) + index + 1);
      }
      child.kill("SIGTERM");
    }
    const ended = await closed;
    clearTimeout(timer);
    const pick = step.pick ?? ((text) => text);
    return [`ended ${ended}`, pick(normalised(out, side)), normalised(err, side), ...meanwhile].filter(Boolean).join("\n");
  };
}

describe("kubectl on both servers", () => {
  /** @type {Awaited<ReturnType<typeof bothSides>>} */
  let sides;
  after(() => sides?.stop());

  for (const client of CLIENTS) {
    describe(client, () => {
      /** @type {string | undefined} */
      let path;
      let missing = chosen.includes(client) ? "" : "another one's turn; MATRIX=all runs both";
      before(async () => {
        if (missing) return;
        const found = client === "newest" ? { path: await newestKubectl() } : await debianKubectl();
        if ("missing" in found) missing = found.missing;
        else path = found.path;
        await sides?.stop();
        sides = await bothSides();
      });

      it("answers alike, step by step", async (t) => {
        if (!path) return t.skip(missing);
        const [embedded, real] = [caller(path, sides.embedded), caller(path, sides.real)];
        const listed = DIFFERENCES[client];
        const names = new Set(STEPS.map(({ name }) => name));
        assert.equal(names.size, STEPS.length, "each step has a name of its own");
        for (const name of Object.keys(listed)) assert.ok(names.has(name), `there is no step ${name}`);
        const problems = [];
        for (const step of STEPS) {
          const [mine, theirs] = await Promise.all([embedded(step), real(step)]);
          const ends = step.lines ? /^ended (SIGTERM|0|1)$/m : step.fails ? /^ended 1$/m : /^ended 0$/m;
          if (!ends.test(theirs)) problems.push(`${step.name}: kube-apiserver's answer is not what the script is about:\n${theirs}`);
          if (mine === theirs && listed[step.name]) problems.push(`${step.name}: does not differ any more: take it off the list\n${mine}`);
          if (mine !== theirs && !listed[step.name])
            problems.push(`${step.name}: kubectl ${step.args.join(" ")}\n--- embedded\n${mine}\n--- kube-apiserver\n${theirs}`);
        }
        assert.deepEqual(problems, [], problems.join("\n\n"));
      });
    });
  }
});
