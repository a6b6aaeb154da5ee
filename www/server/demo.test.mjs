import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseCommandLine, parseProxy } from "./options.mjs";
import { startServer } from "./index.mjs";
import { serverFor } from "./testing.mjs";

test("a_digest_is_the_list_at_that_very_version", async (t) => {
  const server = await serverFor(t, { pods: 60 });
  const list = (await server.api("/api/v1/pods?pretty=false")).body;
  const expected = list.items.map((/** @type {any} */ { metadata }) => [
    `${metadata.namespace}/${metadata.name}`,
    metadata.resourceVersion,
  ]);
  server.control.step(300);
  const past = (await server.api(`/demo/digest?resource=pods&resourceVersion=${list.metadata.resourceVersion}`)).body;
  assert.deepEqual(past, { resourceVersion: list.metadata.resourceVersion, count: expected.length, items: expected });
  const now = (await server.api("/demo/digest")).body;
  assert.notDeepEqual(now.items, past.items);
  assert.equal(now.resourceVersion, server.control.status().resourceVersion);
  const nodes = (await server.api("/demo/digest?resource=nodes")).body;
  assert.equal(nodes.items[0][0], "node-001");
});

test("a_digest_that_cannot_be_had", async (t) => {
  const server = await serverFor(t, { pods: 10, history: 5 });
  const version = server.control.status().resourceVersion;
  server.control.step(200);
  assert.equal((await server.api(`/demo/digest?resource=pods&resourceVersion=${version}`)).code, 410);
  assert.equal((await server.api("/demo/digest?resource=pods&resourceVersion=99999999")).code, 410);
  assert.equal((await server.api("/demo/digest?resource=pods&resourceVersion=x")).code, 400);
  assert.equal((await server.api("/demo/digest?resource=none")).code, 400);
});

test("status_counts", async (t) => {
  const server = await serverFor(t, { pods: 20 });
  await server.api("/api/v1/pods");
  const watch = await server.watch("/api/v1/namespaces/default/pods?watch=1&resourceVersion=0");
  const { body } = await server.api("/demo/status");
  assert.equal(body.mode, "embedded");
  assert.equal(body.objects.pods, 20);
  assert.deepEqual(body.streams, [{ transport: "websocket", resource: "pods", namespace: "default" }]);
  assert.equal(body.counts.lists, 1);
  assert.equal(body.counts.watches, 1);
  assert.ok(body.faults.usable.includes("staleReplica"));
  watch.close();
});

test("the_page_is_served_with_types_and_a_policy", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "page-"));
  t.after(() => rm(root, { recursive: true }));
  await mkdir(join(root, "assets"));
  await writeFile(join(root, "index.html"), "<!doctype html>");
  await writeFile(join(root, "assets", "core-1234.wasm"), "\0asm");
  await writeFile(join(root, "assets", "main-1234.js"), "export {};");
  const server = await serverFor(t, { root });
  const page = await server.api("/");
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'self'", "script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self' ws: wss:"])
    assert.ok(policy.split("; ").includes(part), part);
  assert.equal((await server.api("/assets/core-1234.wasm")).headers.get("content-type"), "application/wasm");
  const script = await server.api("/assets/main-1234.js");
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.match(script.headers.get("cache-control") ?? "", /immutable/);
  assert.equal((await server.api("/none.js")).code, 404);
  assert.equal((await server.api("/..%2f..%2fetc%2fpasswd")).code, 404);
  assert.equal((await server.api("/", { method: "POST", body: "x" })).code, 405);
});

test("without_a_built_page_the_root_says_so", async (t) => {
  const server = await serverFor(t, { root: join(tmpdir(), "there-is-no-such-directory") });
  const answer = await server.api("/");
  assert.equal(answer.code, 404);
  assert.match(answer.text, /^The page is not built/);
});

test("pages_of_this_machine_may_read_across_origins", async (t) => {
  const server = await serverFor(t);
  const local = await server.api("/api/v1/pods", { headers: { origin: "http://localhost:4000" } });
  assert.equal(local.headers.get("access-control-allow-origin"), "http://localhost:4000");
  const preflight = await server.api("/demo/faults/drop", { method: "OPTIONS", headers: { origin: "http://127.0.0.1:4000" } });
  assert.equal(preflight.code, 204);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Authorization/);
  assert.equal(
    (await server.api("/api/v1/pods", { headers: { origin: "https://elsewhere.example" } })).headers.get("access-control-allow-origin"),
    null,
  );
});

test("the_next_free_port_is_taken_only_when_asked", async (t) => {
  const first = await serverFor(t);
  const second = await startServer({ port: first.port, nextFreePort: true, pods: 0, rate: 0 });
  t.after(() => second.close());
  assert.ok(second.port > first.port);
  await assert.rejects(startServer({ port: first.port, pods: 0, rate: 0 }), { code: "EADDRINUSE" });
});

test("close_ends_streams_and_frees_the_port", async (t) => {
  const server = await serverFor(t, { pods: 5, rate: 50 });
  const watch = await server.watch("/api/v1/pods?watch=1&resourceVersion=0");
  await watch.next();
  await server.close();
  await watch.ended;
  const again = await startServer({ port: server.port, pods: 0, rate: 0 });
  await again.close();
});

test("close_does_not_wait_for_connections_that_never_carried_a_request", { timeout: 30_000 }, async (t) => {
  const server = await serverFor(t);
  const idle = connect(server.port, "127.0.0.1");
  idle.resume(); // without a reader its end is never seen
  await once(idle, "connect");
  await server.api("/demo/digest"); // by now the server has accepted it, too
  const gone = once(idle, "close");
  await server.close();
  await gone;
});

test("the_command_line", () => {
  assert.deepEqual(
    parseCommandLine([
      "--port",
      "0",
      "--pods",
      "10",
      "--rate",
      "5",
      "--seed",
      "3",
      "--history",
      "7",
      "--history-bytes",
      "8",
      "--bookmark-ms",
      "9",
      "--host",
      "::1",
      "--token",
      "a",
      "--token",
      "b",
    ]),
    {
      nextFreePort: true,
      port: 0,
      pods: 10,
      rate: 5,
      seed: 3,
      history: 7,
      historyBytes: 8,
      bookmarkMs: 9,
      host: "::1",
      tokens: ["a", "b"],
    },
  );
  assert.throws(() => parseCommandLine(["--pods", "many"]), { message: '--pods is a number from 0 to 200000, not "many"' });
  assert.throws(() => parseCommandLine(["--rate", "-3"]));
  assert.throws(() => parseCommandLine(["--unknown"]), /unknown/);
  assert.throws(() => parseProxy("localhost:8001"), /^TypeError: --proxy is the URL of an API server/);
  assert.equal(parseProxy("http://127.0.0.1:8001").port, "8001");
});
