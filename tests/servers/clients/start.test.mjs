/** `npm start -- --kubernetes`: a page of its server lists and watches a real cluster without a token, and nothing is left at its end. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, it } from "node:test";
import { WebSocket } from "ws";
import { root } from "../../../scripts/lib/project.mjs";

const program = join(root, "tests", "servers", "clients", "start-kubernetes.mjs");

/** A whole start, with a build that the machine has. */
const PATIENCE_MS = 120_000;

describe("npm start -- --kubernetes", () => {
  it("serves a real cluster that is filled and alive", async (t) => {
    // Both servers have their data in it, and so its path among their arguments.
    const folder = mkdtempSync(join(tmpdir(), "watchcache-start-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const ours = () =>
      execFileSync("ps", ["-A", "-o", "args="])
        .toString()
        .split("\n")
        .filter((line) => line.includes(folder));
    const child = spawn(process.execPath, [program, "--port", "0", "--pods", "20", "--rate", "40"], {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TMPDIR: folder },
    });
    const ended = once(child, "exit");
    const signal = AbortSignal.timeout(PATIENCE_MS);
    signal.addEventListener("abort", () => child.kill("SIGTERM"));
    try {
      let said = "";
      for await (const chunk of child.stdout.setEncoding("utf8")) {
        said += chunk;
        if (/^http\S+\/$/m.test(said)) break;
      }
      assert.match(said, /^20 pods on 3 nodes in \d+ namespaces, in a real kube-apiserver$/m);
      const url = /** @type {RegExpExecArray} */ (/^(http\S+)\/$/m.exec(said))[1];
      assert.ok(said.includes(`kubectl --server ${url} get pods -A\n`), said);
      assert.match((await (await fetch(`${url}/version`)).json()).gitVersion, /^v1\.\d+\.\d+$/);
      const { items, metadata } = await (await fetch(`${url}/api/v1/pods`)).json();
      assert.ok(items.length >= 15, String(items.length));
      assert.ok((await (await fetch(`${url}/demo/digest?resource=pods`)).json()).count >= 15);
      const path = `/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}`;
      const socket = new WebSocket(url.replace("http", "ws") + path, { origin: url });
      const [event] = await once(socket, "message", { signal });
      assert.equal(JSON.parse(String(event)).object.kind, "Pod");
      socket.terminate();
      assert.equal(ours().length, 2, ours().join("\n"));
    } finally {
      child.kill("SIGTERM");
    }
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual([ours(), readdirSync(folder)], [[], []]);
  });

  it("says in a sentence that it needs Go", async () => {
    const start = join(root, "scripts", "start.mjs");
    const path = (process.env.PATH ?? "").split(delimiter).filter((folder) => !/\bgo\b/.test(folder));
    const env = { ...process.env, PATH: [dirname(process.execPath), ...path].join(delimiter) };
    const child = spawn(process.execPath, [start, "--kubernetes"], { stdio: ["ignore", "pipe", "pipe"], env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (data) => (said += data));
    assert.notEqual((await once(child, "close"))[0], 0);
    assert.match(
      said,
      /^\s*watchcache: the real servers are built with Go and none was found: install Go [\d.]+ or newer from \S+, then run this again\.\s*$/,
    );
  });

  /** @param {...string} args @returns {Promise<[code: number, said: string]>} */
  const ended = async (...args) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (data) => (said += data));
    const [code] = await once(child, "close");
    return [code, said.trim()];
  };

  it("has no second server to forward to, and none with a history of its own", async () => {
    const own = "watchcache: --kubernetes starts a server of its own: leave --proxy, --cache, --token, --history and --bookmark-ms out.";
    assert.deepEqual(await ended("--proxy", "http://127.0.0.1:1"), [1, own]);
    assert.deepEqual(await ended("--history", "5"), [1, own]);
  });

  it("says what is wrong with an option, and which there are", async () => {
    assert.deepEqual(await ended("--pods", "x"), [
      1,
      'watchcache: --pods is a number from 0 to 200000, not "x". --help says what there is.',
    ]);
    const [code, said] = await ended("--help");
    assert.equal(code, 0);
    assert.match(said, /--kubernetes/);
  });
});
