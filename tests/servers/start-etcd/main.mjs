#!/usr/bin/env node
// `npm start -- --etcd`: a cluster of three real members of etcd, some traffic in it, and a page that shows its keys.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { SetupError, main, say } from "../../../scripts/lib/fail.mjs";
import { requireGo } from "../../../scripts/lib/go.mjs";
import { root } from "../../../scripts/lib/project.mjs";
import { EtcdCluster } from "../harness/etcd-cluster.mjs";

const PREFIX = "/demo/";
const NAMESPACES = ["checkout", "orders", "search", "stock"];
const KEYS = 200;
/** How long a killed leader stays away. */
const AWAY_MS = 3_000;
const TYPES = {
  ".html": "text/html",
  ".mjs": "text/javascript",
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".map": "application/json",
};

/** @type {EtcdCluster} */
let etcd;

const keyOf = (/** @type {number} */ i) => `${PREFIX}${NAMESPACES[i % NAMESPACES.length]}/instance-${Math.floor(i / NAMESPACES.length)}`;
const valueOf = (/** @type {number} */ i, /** @type {number} */ step) => ({
  address: `10.0.${i >> 6}.${i & 63}:8080`,
  load: Math.round(50 + 40 * Math.sin(i + step / 9)) / 100,
});

/** Keys that change, and sometimes come and go. */
async function traffic() {
  for (let step = 0; ; step++) {
    const i = (step * 37) % KEYS;
    try {
      if (step % 12 === 11) await etcd.remove(keyOf(i));
      else await etcd.put(keyOf(i), valueOf(i, step), step % 3);
    } catch {
      // That member is away.
    }
    await sleep(100);
  }
}

async function killLeader() {
  const leader = (await Promise.any([0, 1, 2].map((member) => etcd.leader(member)))) ?? 0;
  say(`killing the leader, member ${leader}`);
  await etcd.members[leader].kill();
  await sleep(AWAY_MS);
  await etcd.members[leader].start();
  say(`member ${leader} is back`);
}

/** @param {string} path @returns {string | undefined} */
function fileOf(path) {
  if (path === "/" || path === "/page.mjs")
    return join(fileURLToPath(new URL(".", import.meta.url)), path === "/" ? "page.html" : "page.mjs");
  const file = normalize(path);
  return file.startsWith("/dist/") ? join(root, file) : undefined;
}

await main(async () => {
  const given = process.argv.slice(2);
  const at = given.indexOf("--port");
  const port = at < 0 ? 0 : Number(given[at + 1]);
  if ((at < 0 ? given.length : given.length - 2) > 0 || !Number.isInteger(port))
    throw new SetupError("--etcd takes --port NUMBER, and nothing else.");
  requireGo(); // before anything that takes long
  let killing = Promise.resolve();
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? "/", "http://page").pathname;
    if (path === "/settings") return response.end(JSON.stringify({ endpoints: etcd.urls, prefix: PREFIX }));
    if (path === "/kill" && request.method === "POST") {
      killing = killing.then(killLeader).catch((error) => say(error.message));
      return response.writeHead(202).end();
    }
    const file = fileOf(path);
    const body = file && (await readFile(file).catch(() => undefined));
    if (body === undefined) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": TYPES[extname(/** @type {string} */ (file))] ?? "text/plain" }).end(body);
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined)));
  const page = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;
  // The page asks the members itself, so they have to allow its origin.
  etcd = await EtcdCluster.start({ members: 3, flags: [`--cors=${page}`] });
  for (let i = 0; i < KEYS; i++) await etcd.put(keyOf(i), valueOf(i, 0));
  void traffic();
  process.stdout.write(`${KEYS} keys below ${PREFIX} in etcd, at ${etcd.urls.join(", ")}\n${page}/\n`);
  // What ends with this process ends the members and removes their folders, also while one of them is being started.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
});
