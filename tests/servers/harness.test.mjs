/** The harness itself: what it starts it can break, and nothing is left when it is done. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "../e2e/wire.mjs";
import { requiredVersion } from "./harness/build.mjs";
import { Cluster } from "./harness/cluster.mjs";
import { ManagedProcess, freePorts } from "./harness/processes.mjs";
import { Proxy } from "./harness/proxy.mjs";

/** Whether a process runs; one that is dead and only waits to be reaped by its parent does not. @param {number} pid */
function alive(pid) {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** @param {() => boolean} condition @param {string} what */
async function eventually(condition, what) {
  for (let i = 0; i < 400; i++) {
    if (condition()) return;
    await sleep(25);
  }
  assert.fail(`in vain: ${what}`);
}

describe("processes", () => {
  const log = join(tmpdir(), `watchcache-harness-${process.pid}.log`);

  it("a process that ends before it is ready says why", async () => {
    const it = new ManagedProcess({
      name: "doomed",
      command: process.execPath,
      args: ["-e", "console.error('no such flag'); process.exit(3)"],
      cwd: tmpdir(),
      logFile: log,
      ready: async () => false,
    });
    await assert.rejects(it.start(), /^Error: doomed ended before it was ready \(exit 3\):\n(.*\n)*no such flag/);
  });

  it("a process that never gets ready is ended", async () => {
    const it = new ManagedProcess({
      name: "sleeper",
      command: process.execPath,
      args: ["-e", "process.on('SIGTERM', () => process.exit()); setInterval(() => {}, 1000)"],
      cwd: tmpdir(),
      logFile: log,
      ready: async () => false,
      readyMs: 200,
    });
    const started = it.start();
    const pid = Number(it.pid);
    await assert.rejects(started, /sleeper was not ready within 0\.2 s/);
    assert.equal(alive(pid), false);
  });

  it("a process that ignores SIGTERM is killed, and can be started again", async () => {
    const it = new ManagedProcess({
      name: "stubborn",
      command: process.execPath,
      args: ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"],
      cwd: tmpdir(),
      logFile: log,
      ready: async () => true,
    });
    await it.start();
    const first = Number(it.pid);
    await assert.rejects(it.start(), /runs already/);
    await it.stop({ graceMs: 100 });
    assert.equal(alive(first), false);
    await it.start();
    assert.notEqual(it.pid, first);
    await it.kill();
    assert.equal(it.pid, undefined);
    await it.stop();
  });

  it("what a test started dies with it, however it ends", async () => {
    const script = join(tmpdir(), `watchcache-harness-${process.pid}.mjs`);
    writeFileSync(
      script,
      `import { ManagedProcess } from ${JSON.stringify(new URL("./harness/processes.mjs", import.meta.url).href)};
       const it = new ManagedProcess({ name: "child", command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], cwd: ".", logFile: ${JSON.stringify(log)}, ready: async () => true });
       await it.start();
       console.log(it.pid);
       if (process.argv[2] === "throw") throw new Error("a failed test");
       if (process.argv[2] === "exit") process.exit(0);`,
    );
    for (const how of ["throw", "exit", "SIGTERM", "SIGINT"]) {
      const parent = spawn(process.execPath, [script, how], { stdio: ["ignore", "pipe", "ignore"] });
      const ended = new Promise((resolve) => parent.once("exit", (code, signal) => resolve(signal ?? code)));
      const pid = Number(await new Promise((resolve) => parent.stdout.once("data", (data) => resolve(String(data)))));
      assert.ok(pid > 0);
      if (how.startsWith("SIG")) {
        parent.kill(/** @type {NodeJS.Signals} */ (how));
        assert.equal(await ended, how, "the signal keeps its meaning");
      } else {
        assert.equal(await ended, how === "exit" ? 0 : 1);
      }
      await eventually(() => !alive(pid), `the child of a parent ended by ${how} is gone`);
    }
  });

  it("free ports are free and differ", async () => {
    const ports = await freePorts(5);
    assert.equal(new Set(ports).size, 5);
    await Promise.all(
      ports.map(async (port) => {
        const server = createServer();
        await new Promise((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", () => resolve(undefined)));
        server.close();
      }),
    );
  });
});

describe("proxy", () => {
  it("passes method, path, headers and body on, and answers 502 when nobody is there", async () => {
    const [port] = await freePorts(1);
    const echo = createServer((request, response) => {
      let body = "";
      request.on("data", (data) => (body += data));
      request.on("end", () => {
        response.writeHead(207, { "x-seen": String(request.headers.authorization) });
        response.end(JSON.stringify([request.method, request.url, request.headers.host, body]));
      });
    });
    const proxy = await Proxy.start({ upstream: `http://127.0.0.1:${port}` });
    try {
      assert.equal((await fetch(proxy.url)).status, 502);
      await new Promise((resolve) => echo.listen(port, "127.0.0.1", () => resolve(undefined)));
      const answer = await fetch(`${proxy.url}/a?b=%20c`, { method: "PATCH", body: "text", headers: { authorization: "Bearer x" } });
      assert.equal(answer.status, 207);
      assert.equal(answer.headers.get("x-seen"), "Bearer x");
      assert.deepEqual(await answer.json(), ["PATCH", "/a?b=%20c", `127.0.0.1:${port}`, "text"]);
    } finally {
      await proxy.close();
      echo.closeAllConnections();
      echo.close();
    }
  });
});

describe("cluster", () => {
  /** @type {Cluster} */
  let cluster;
  /** @type {Api} */
  let api;
  before(async () => {
    cluster = await Cluster.start();
    api = new Api(cluster.url, cluster.tokens.admin);
  });
  after(() => cluster?.stop());

  it("is the version that go.mod names", async () => {
    const goMod = readFileSync(new URL("./kube-apiserver/go.mod", import.meta.url), "utf8");
    assert.equal((await api.must("GET", "/version")).gitVersion, requiredVersion(goMod, "k8s.io/kubernetes"));
    const etcdMod = readFileSync(new URL("./etcd/go.mod", import.meta.url), "utf8");
    const etcd = await (await fetch(`${cluster.etcdUrl}/version`)).json();
    assert.equal(`v${etcd.etcdserver}`, requiredVersion(etcdMod, "go.etcd.io/etcd/server/v3"));
  });

  it("without etcd a consistent read fails, with it again it works", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    await api.create(path, { metadata: { name: "kept" } });
    await cluster.etcd.kill();
    const answer = await api.request("GET", path, { query: { timeout: "2s" } });
    assert.ok(answer.status >= 500, answer.text);
    await cluster.etcd.start();
    for (let i = 0; ; i++) {
      const again = await api.get(`${path}/kept`);
      if (again.status === 200) break;
      assert.ok(i < 100, again.text);
      await sleep(100);
    }
  });

  it("a frozen watch stays open and says nothing, a new one does", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    const { resourceVersion } = (await api.list(path)).metadata;
    const frozen = await api.watch(path, { resourceVersion }).opened();
    cluster.proxy.freeze();
    const other = await api.watch(path, { resourceVersion }).opened();
    await api.create(path, { metadata: { name: "unheard" } });
    await other.count(1);
    assert.deepEqual(frozen.events, []);
    assert.equal(frozen.end, undefined);
    frozen.stop();
    other.stop();
  });

  it("stopping leaves no process, no port and no folder", async () => {
    const pids = [cluster.etcd.pid, cluster.apiserver.pid].map(Number);
    const dir = cluster.dir;
    assert.ok(pids.every(alive));
    await cluster.stop();
    assert.deepEqual(pids.map(alive), [false, false]);
    assert.equal(existsSync(dir), false);
    for (const url of [cluster.etcdUrl, cluster.secureUrl]) {
      await assert.rejects(
        new Promise((resolve, reject) => connect(Number(new URL(url).port), "127.0.0.1", () => resolve(undefined)).once("error", reject)),
        /ECONNREFUSED/,
      );
    }
  });
});
