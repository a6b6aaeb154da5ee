// `npm start` on a machine where nothing is missing: it prints an address, serves page and API there, and leaves nothing running.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { root } from "../../scripts/lib/project.mjs";

const start = (t, ...args) => listening(t, spawn(process.execPath, [join(root, "scripts/start.mjs"), ...args], { stdio: STDIO }));
const STDIO = ["ignore", "pipe", "inherit"];

async function listening(t, child) {
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = line.match(/http:\/\/[\d.]+:\d+/)?.[0];
    if (url && !line.startsWith("Forwarding")) return { child, ended, url };
  }
  throw new Error(`it ended with code ${await ended} before it printed an address`);
}

const refused = (url) =>
  fetch(url).then(
    () => false,
    (error) => error.cause?.code === "ECONNREFUSED",
  );

test("page and API have one origin, and a signal ends both", async (t) => {
  const { child, ended, url } = await start(t, "--port", "0", "--pods", "20", "--rate", "0");
  const page = await fetch(url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<script type="module"/);
  const pods = await (await fetch(`${url}/api/v1/pods?limit=1`)).json();
  assert.equal(pods.items.length + pods.metadata.remainingItemCount, 20);

  child.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.ok(await refused(url), "nobody listens there any more");
});

test("who ends npm ends the server, too", async (t) => {
  const args = ["start", "--", "--port", "0", "--pods", "5", "--rate", "0"];
  const { child, url } = await listening(t, spawn("npm", args, { cwd: root, stdio: STDIO }));
  child.kill("SIGTERM");
  for (const end = Date.now() + 10_000; !(await refused(url)); await new Promise((resolve) => setTimeout(resolve, 100))) {
    assert.ok(Date.now() < end, "the server is left behind");
  }
});

test("--proxy shows another server's objects", async (t) => {
  const cluster = await start(t, "--port", "0", "--pods", "7", "--rate", "0");
  const { child, ended, url } = await start(t, "--port", "0", "--proxy", cluster.url);
  const pods = await (await fetch(`${url}/api/v1/pods`)).json();
  assert.equal(pods.items.length, 7);
  for (const one of [{ child, ended }, cluster]) {
    one.child.kill("SIGTERM");
    assert.equal(await one.ended, 143);
  }
});

test("--help tells of all modes, whichever is asked for, and builds and installs nothing for it", () => {
  // Neither cargo nor Go is on this path, so whatever would set up or build ends with another code.
  const env = { PATH: dirname(process.execPath), HOME: "/nonexistent", WATCHCACHE_TOOLS: "/nonexistent" };
  for (const mode of [[], ["--kubernetes"], ["--etcd"], ["--bench"], ["--kubernetes", "--etcd"]]) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts/start.mjs"), ...mode, "--help"], {
      env,
      encoding: "utf8",
    });
    assert.deepEqual([status, stderr], [0, ""], mode.join(" "));
    for (const told of ["--port N", "--kubernetes", "--etcd", "--bench"]) assert.ok(stdout.includes(told), told);
    assert.ok(!stdout.includes("watchcache:"), "it says that it does something else");
  }
});

test("an argument that the server refuses ends the command with its words", async () => {
  const child = spawn(process.execPath, [join(root, "scripts/start.mjs"), "--port", "eighty"], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => (said += bytes));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 1);
  assert.match(said, /--port .*eighty/);
});
