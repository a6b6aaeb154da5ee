// How a relay is run: its command, its health, its figures, and its end.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { readServeOptions, SERVE_HELP } from "../../dist/cli/serve-options.js";
import { eventually } from "../e2e/cache.mjs";
import { Api } from "../e2e/wire.mjs";
import { RelayProcess } from "./command.mjs";
import { JANE, OWN, relayed, relayTo } from "./harness.mjs";

const PODS = "/api/v1/pods";

test("options are what they say, and a mistake is told with its name", async () => {
  const read = (args, env = {}) => readServeOptions(args, env);
  const server = ["--server", "https://api.example.com:6443/clusters/a"];
  const { token, ...usual } = read(server);
  assert.deepEqual(usual, {
    server: new URL(server[1]),
    host: "127.0.0.1",
    port: 8080,
    tls: undefined,
    allowOrigins: [],
    maxWatches: 500,
    drainMs: 20_000,
    lingerMs: 300_000,
    reviewMs: 60_000,
    memoryBytes: 2_048 * 2 ** 20,
    exactLists: false,
  });
  assert.equal(await token(), undefined);
  assert.equal(await read(server, { WATCHCACHE_TOKEN: "from-env" }).token(), "from-env");
  assert.equal(await read([...server, "--token=given"], { WATCHCACHE_TOKEN: "from-env" }).token(), "given");
  assert.deepEqual(
    read([...server, "--allow-origin", "https://a.example.com/", "--allow-origin=*"]).allowOrigins,
    ["https://a.example.com/", "*"].map((it) => it.replace(/\/$/, "")),
  );
  for (const [args, expected] of [
    [[], /--server is missing/],
    [["--server", "api"], /--server is a URL of http or https, not api/],
    [["--server", "ftp://a"], /http or https/],
    [["--server", "https://user:secret@a"], /has no name and password/],
    [[...server, "--port", "70000"], /--port is a number from 0 to 65535, not 70000/],
    [[...server, "--max-watches", "0"], /--max-watches is a number from 1 to/],
    [[...server, "--drain-seconds", "soon"], /--drain-seconds/],
    [[...server, "--tls-cert", "a"], /go together/],
    [[...server, "--token", "a", "--token-file", "b"], /two ways of one/],
    [[...server, "--allow-origin", "https://a.example.com/page"], /--allow-origin is an origin/],
    [[...server, "--prot", "1"], /--prot/],
    [[...server, "more"], /more/],
  ])
    assert.throws(() => read(args), expected, args.join(" "));
});

test("the guide has each option, with the default that the command tells", () => {
  const guide = readFileSync(new URL("../../docs/relay.md", import.meta.url), "utf8");
  const table = guide.split("## Options")[1].split("\n## ")[0];
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...row.split("|")[1].matchAll(/--[a-z-]+/g)].map(([name]) => name));
  const told = [...SERVE_HELP.matchAll(/^  (--[a-z-]+)( .*)$/gm)];
  assert.deepEqual(named.sort(), told.map(([, name]) => name).sort());
  for (const [, name, text] of told) {
    const value = /\((\d[\d.]*)\)/.exec(text)?.[1];
    if (value !== undefined)
      assert.ok(
        rows.some((row) => row.includes(`${name}\``) && row.split("|")[2].includes(value)),
        `${name} ${value}`,
      );
  }
});

test("the command tells how it goes, and what is wrong", async () => {
  const run = async (...args) => {
    const relay = new RelayProcess(args, {});
    const [code] = await relay.ended;
    return [code, relay.said];
  };
  const help = await run("--help");
  assert.equal(help[0], 0);
  assert.match(help[1], /^Usage: watchcache serve --server URL/);
  const wrong = await run("--server", "nowhere");
  assert.equal(wrong[0], 2);
  assert.match(wrong[1], /^watchcache: --server is a URL[^]*\n\nUsage: watchcache serve/);
  const unread = await run("--server", "http://127.0.0.1:1", "--token-file", "/nowhere/token");
  assert.deepEqual([unread[0], /^watchcache: the token cannot be read: ENOENT/.test(unread[1])], [1, true]);
});

test("it is healthy while it runs, and ready once the server has answered", async (t) => {
  const relay = await relayTo("http://127.0.0.1:1");
  t.after(() => relay.close());
  const api = new Api(relay.url, undefined);
  assert.deepEqual(
    [(await api.get("/-/healthz")).status, (await api.get("/-/livez")).status, (await api.get("/-/readyz")).status],
    [200, 200, 503],
  );
  assert.equal((await api.get("/-/other")).status, 404);
  assert.equal((await api.get(PODS)).status, 503);
  const { jane } = await relayed(t);
  assert.deepEqual([(await jane.get("/-/readyz")).status, (await jane.get("/readyz")).status], [200, 200], "its own, and the server's");
});

test("its figures are Prometheus text, with those of the cache, and without a secret", async (t) => {
  const { jane, relay } = await relayed(t);
  await jane.list(PODS);
  const answer = await fetch(`${relay.url}/-/metrics`);
  const text = await answer.text();
  assert.match(answer.headers.get("content-type"), /^text\/plain; version=0\.0\.4/);
  for (const line of text.trimEnd().split("\n")) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)*\})? [-+.\dEeInf]+)$/);
  assert.match(text, /^watchcache_relay_requests_total\{by="relay",verb="list"\} 1$/m);
  assert.match(text, /^apiserver_watch_cache_initializations_total\{group="",resource="pods"\} 1$/m);
  assert.ok(![JANE, OWN].some((secret) => text.includes(secret)));
});

test("what is no request of HTTP as it should be is refused, and the relay goes on", async (t) => {
  const { relay, jane } = await relayed(t);
  const said = async (text) => {
    const socket = connect(relay.port, "127.0.0.1");
    socket.end(text);
    let all = "";
    for await (const chunk of socket) all += chunk;
    return all.split("\r\n")[0];
  };
  assert.equal(
    await said("GET http://elsewhere.example.com/ HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"),
    "HTTP/1.1 400 Bad Request",
  );
  assert.equal(await said("GET /caf\u00e9 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"), "HTTP/1.1 400 Bad Request");
  assert.equal(
    await said("GET /api/v1/pods?watch=1 HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
    "HTTP/1.1 401 Unauthorized",
  );
  assert.equal((await jane.get(PODS)).status, 200);
});

test("before its end watches end one by one, in good order and over the time that was given", async (t) => {
  const { jane, relay, metrics } = await relayed(t, { relay: { drainMs: 1_000 } });
  const streams = await Promise.all(
    [1, 2].map(() => fetch(`${relay.url}${PODS}?watch=1&resourceVersion=0`, { headers: { authorization: `Bearer ${JANE}` } })),
  );
  const sockets = await Promise.all([1, 2, 3].map(() => jane.watch(PODS, { resourceVersion: "0" }).opened()));
  const since = Date.now();
  const ends = [...streams.map((stream) => stream.text()), ...sockets.map((socket) => socket.closed())].map(async (end) => [
    await end,
    Date.now() - since,
  ]);
  const drained = relay.drain();
  assert.equal(relay.drain(), drained, "once");
  assert.equal((await jane.get("/-/readyz")).status, 503);
  assert.equal((await metrics()).watchcache_relay_draining, 1);
  const refused = await jane.watch(PODS, { resourceVersion: "0" }).refusal();
  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  const late = await jane.get(PODS);
  assert.deepEqual([late.status, late.headers.get("connection")], [200, "close"], "lists are still answered");
  const told = await Promise.all(ends);
  await drained;
  assert.deepEqual(
    told.map(([end]) => end?.code ?? end),
    ["", "", 1000, 1000, 1000],
  );
  const times = told.map(([, ms]) => ms).sort((a, b) => a - b);
  assert.ok(times[0] < 500 && times[4] >= 800 && times[4] < 1_500, times.join());
  for (let i = 1; i < 5; i++) assert.ok(times[i] - times[i - 1] > 100, times.join());
  await assert.rejects(fetch(`${relay.url}/-/livez`));
});

test("when the server refuses the relay itself, its watches end, and callers are served by the server", async (t) => {
  const { server, tokens, jane, pod, metrics } = await relayed(t);
  await pod("a");
  const watch = await jane.watch(PODS, { resourceVersion: "0" }).opened();
  await watch.count(1);
  // A stream that ends within its first second would be followed by a list in any case.
  await sleep(1_100);
  tokens.splice(tokens.indexOf(OWN), 1);
  server.control.fault("drop");
  assert.equal((await watch.closed()).code, 1000);
  const before = (await metrics())['watchcache_relay_requests_total{by="server",verb="watch"}'] ?? 0;
  assert.equal((await jane.list(PODS)).items.length, 1);
  const again = await jane.watch(PODS, { resourceVersion: "0" }).opened();
  await again.count(1);
  assert.equal((await metrics())['watchcache_relay_requests_total{by="server",verb="watch"}'], before + 1);
  again.stop();
});

test("SIGTERM ends it with 0, and a token that was replaced in its file is used", async (t) => {
  const { server, tokens } = await relayed(t);
  const folder = mkdtempSync(join(tmpdir(), "watchcache-relay-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "token");
  tokens.push("first", "second");
  writeFileSync(file, "first\n");
  const relay = await RelayProcess.start(["--server", server.url, "--token-file", file, "--drain-seconds", "1"]);
  t.after(() => relay.kill());
  const api = new Api(relay.url, JANE);
  await api.list(PODS);
  writeFileSync(file, "second\n");
  tokens.splice(tokens.indexOf("first"), 1);
  const watch = await api.watch("/api/v1/configmaps", { resourceVersion: "0" }).opened();
  assert.equal((await relay.metrics())['watchcache_relay_requests_total{by="relay",verb="watch"}'], 1);
  relay.child.kill("SIGTERM");
  assert.equal((await watch.closed()).code, 1000);
  assert.deepEqual(await relay.ended, [0, null]);
  assert.ok(![JANE, "first", "second"].some((secret) => relay.said.includes(secret)), relay.said);
});

test("a second SIGTERM ends it at once", async (t) => {
  const { server } = await relayed(t);
  const relay = await RelayProcess.start(["--server", server.url, "--token", OWN, "--drain-seconds", "60"]);
  t.after(() => relay.kill());
  const api = new Api(relay.url, JANE);
  const watches = await Promise.all([1, 2].map(() => api.watch(PODS, { resourceVersion: "0" }).opened()));
  relay.child.kill("SIGTERM");
  await eventually(() => /watches are ended/.test(relay.said), "the first");
  await sleep(50);
  relay.child.kill("SIGTERM");
  assert.deepEqual(await relay.ended, [1, null]);
  await Promise.all(watches.map((watch) => watch.closed()));
});
