/**
 * Informers of others on the embedded server and on kube-apiserver: client-go, kube-rs and client-node. Each lists, watches, and sees an object
 * come, change and go. Then it is told that what it knows is too old, and ends with the state of the server.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { after, before, describe, it } from "node:test";
import { turnNow } from "../../../scripts/lib/turn.mjs";
import { clientGo, kubeRs } from "./programs.mjs";
import { bothSides } from "./sides.mjs";

const PATIENCE_MS = 60_000;
const CLIENTS = ["client-node", "client-go", "kube-rs"];
/** A run takes client-node and one of the others, the next one with each commit. */
const chosen = process.env.MATRIX === "all" ? CLIENTS : ["client-node", CLIENTS[1 + (turnNow() % 2)]];

/** @type {Record<string, () => Promise<string[]>>} */
const COMMANDS = {
  "client-node": async () => [process.execPath, fileURLToPath(new URL("./client-node.mjs", import.meta.url))],
  "client-go": async () => [await clientGo()],
  "kube-rs": async () => [await kubeRs()],
};

/** A client that runs. */
class Client {
  /** @type {string[]} */
  lines = [];
  #wake = () => {};

  /** @param {string[]} command @param {string} url @param {string} namespace */
  constructor([path, ...args], url, namespace) {
    this.child = spawn(path, [...args, url, namespace], { stdio: ["pipe", "pipe", "pipe"] });
    let rest = "";
    this.child.stdout.setEncoding("utf8").on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop() ?? "";
      this.lines.push(...lines);
      this.#wake();
    });
    this.said = "";
    this.child.stderr.setEncoding("utf8").on("data", (data) => (this.said += data));
    this.ended = new Promise((resolve) => this.child.once("close", resolve));
    void this.ended.then(() => this.#wake());
  }

  /** The next line that is this, from one on. @param {string} line @param {number} [from] @returns {Promise<number>} the line after it */
  async until(line, from = 0) {
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const at = this.lines.indexOf(line, from);
      if (at >= 0) return at + 1;
      assert.ok(
        this.child.exitCode === null && Date.now() < deadline,
        `waited for ${line}, and saw ${this.lines.join(" | ")}\n${this.said}`,
      );
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 250);
        this.#wake = () => (clearTimeout(timer), resolve(undefined));
      });
    }
  }

  async state() {
    const from = this.lines.length;
    this.child.stdin.write("\n");
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const found = this.lines.slice(from).find((line) => line.startsWith("STATE"));
      if (found) return found.slice(6);
      assert.ok(Date.now() < deadline, "no state came");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop() {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** @param {string} url */
function writer(url) {
  const at = (name = "") => `${url}/api/v1/namespaces/informed/configmaps${name && `/${name}`}`;
  /** @param {string} method @param {string} path @param {unknown} [body] @param {string} [type] */
  const send = async (method, path, body, type = "application/json") => {
    const response = await fetch(path, { method, body: JSON.stringify(body), headers: { "content-type": type } });
    const answer = await response.json();
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  };
  return {
    namespace: () => send("POST", `${url}/api/v1/namespaces`, { metadata: { name: "informed" } }),
    create: (/** @type {string} */ name, n = "1") => send("POST", at(), { metadata: { name }, data: { n } }),
    update: (/** @type {string} */ name, /** @type {string} */ n) =>
      send("PATCH", at(name), { data: { n } }, "application/merge-patch+json"),
    delete: (/** @type {string} */ name) => send("DELETE", at(name)),
    /** The version of now. @returns {Promise<string>} */
    version: async () => (await (await fetch(at())).json()).metadata.resourceVersion,
    /** What a watch from a version begins with. @param {string} version @returns {Promise<any>} */
    async firstEvent(version) {
      const text = await (await fetch(`${at()}?watch=1&timeoutSeconds=2&resourceVersion=${version}`)).text();
      return JSON.parse(text.split("\n")[0]);
    },
    /** What there is, as the clients write it. @returns {Promise<string>} */
    async state() {
      const { items } = await (await fetch(at())).json();
      return items.map((/** @type {any} */ { metadata, data }) => `${metadata.name}=${data?.n ?? ""}`).join(",");
    },
  };
}

describe("informers on both servers", () => {
  /** @type {Awaited<ReturnType<typeof bothSides>>} */
  let sides;
  before(async () => {
    sides = await bothSides();
    for (const side of [sides.embedded, sides.real]) await writer(side.url).namespace();
  });
  after(() => sides?.stop());

  for (const name of CLIENTS) {
    for (const which of /** @type {const} */ (["embedded", "real"])) {
      it(`${name} on ${which === "real" ? "kube-apiserver" : "the embedded server"}`, async (t) => {
        if (!chosen.includes(name)) return t.skip("another one's turn; MATRIX=all runs all of them");
        const side = sides[which];
        const write = writer(side.url);
        await write.create(`${name}-a`);
        const client = new Client(await COMMANDS[name](), side.url, "informed");
        try {
          await client.until("SYNCED");
          await client.until(`ADDED ${name}-a=1`);
          await write.create(`${name}-b`);
          await client.until(`ADDED ${name}-b=1`);
          await write.update(`${name}-b`, "2");
          await client.until(`MODIFIED ${name}-b=2`);
          await write.delete(`${name}-b`);
          await client.until(`DELETED ${name}-b=2`);
          assert.equal(await client.state(), await write.state());
          // What it knows is too old from here on; it has to list again.
          const gone = client.lines.length;
          const version = await write.version();
          await side.expire();
          assert.equal((await write.firstEvent(version)).object.code, 410);
          await write.update(`${name}-a`, "3");
          await write.create(`${name}-c`);
          await client.until(`MODIFIED ${name}-a=3`, gone);
          await client.until(`ADDED ${name}-c=1`, gone);
          await write.delete(`${name}-c`);
          await client.until(`DELETED ${name}-c=1`, gone);
          assert.equal(await client.state(), await write.state());
          // Once each, and nothing else. What a list tells comes in any order.
          const seen = client.lines.filter((line) => /^(ADDED|MODIFIED|DELETED) /.test(line) && line.includes(`${name}-`));
          assert.deepEqual(
            [...seen.slice(0, 4), ...seen.slice(4, 6).sort().reverse(), ...seen.slice(6)],
            [
              `ADDED ${name}-a=1`,
              `ADDED ${name}-b=1`,
              `MODIFIED ${name}-b=2`,
              `DELETED ${name}-b=2`,
              `MODIFIED ${name}-a=3`,
              `ADDED ${name}-c=1`,
              `DELETED ${name}-c=1`,
            ],
          );
        } finally {
          await client.stop();
        }
      });
    }
  }
});
