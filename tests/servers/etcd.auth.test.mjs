/** `watchcache/etcd` where etcd wants to know who asks: tokens that expire and are revoked, rights, and that nobody sees a secret. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { init } from "watchcache";
import { Recorder, eventually } from "../e2e/cache.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";
import { EtcdTraffic, openEtcd } from "./harness/etcd-client.mjs";

const PREFIX = "/app/";
const TTL_SECONDS = 1;
const PASSWORD = "canary-pässword+/=&?0123456789";

/** @type {EtcdCluster} */
let etcd;
before(async () => {
  await init();
  etcd = await EtcdCluster.start({ flags: [`--auth-token-ttl=${TTL_SECONDS}`] });
  await etcd.enableAuth({ root: "of root", bob: PASSWORD }, PREFIX);
});
after(() => etcd?.stop());

const setPassword = (password) => etcd.call("/v3/auth/user/changepw", { name: "bob", password });

/** A cache that asks as bob. @param {import("node:test").TestContext} t */
function openAsBob(t, more = {}, settings = {}) {
  const traffic = new EtcdTraffic();
  const { fetch, WebSocket } = traffic;
  const user = { username: "bob", password: PASSWORD };
  return { traffic, ...openEtcd(t, { endpoints: etcd.url, prefix: PREFIX, ...user, fetch, WebSocket, ...more }, settings) };
}

const isIn = (resource, phase, code) => () =>
  resource.status.phase === phase && (code === undefined || resource.status.error?.code === code);
const reaches = (resource, phase, code) =>
  eventually(isIn(resource, phase, code), () => `${phase} ${code}, not ${resource.status.phase} ${resource.status.error?.code}`);

test("a token that has expired is renewed unseen: by requests, and by a watch that opens", async (t) => {
  const { resource, source, traffic } = openAsBob(t, { heartbeatMs: 60_000 });
  await etcd.put(`${PREFIX}a`, 1);
  await resource.synced();
  await reaches(resource, "live");
  const phases = new Set();
  resource.addEventListener("status", () => phases.add(resource.status.phase));
  const renewals = () => traffic.to("/authenticate").length;
  assert.equal(renewals(), 1, "list and watch share a token");

  await sleep(TTL_SECONDS * 1000 + 1500); // etcd looks every second
  const signal = new AbortController().signal;
  await Promise.all(Array.from({ length: 10 }, () => source.currentResourceVersion(signal)));
  assert.equal(renewals(), 2, "all that need a new one share it");

  await sleep(TTL_SECONDS * 1000 + 1500);
  traffic.cut();
  await etcd.put(`${PREFIX}b`, 1);
  await eventually(() => resource.peek("b"), "what was put meanwhile");
  assert.equal(renewals(), 3);
  assert.ok(!phases.has("needs-auth") && !phases.has("failed"), [...phases].join());
});

test("who gives up waits alone: others get the token that was asked for together", async (t) => {
  const { source } = openAsBob(t);
  const gone = new AbortController();
  const first = source.currentResourceVersion(gone.signal);
  const second = source.currentResourceVersion(new AbortController().signal);
  gone.abort(new Error("not needed any more"));
  await assert.rejects(first, /not needed any more/);
  assert.match(await second, /^\d+$/);
});

test("a token that is revoked while the watch runs: rows stay, and the watch is back when the password is", async (t) => {
  const { resource, traffic } = openAsBob(t, { heartbeatMs: 150 });
  t.after(() => setPassword(PASSWORD));
  await etcd.put(`${PREFIX}a`, 1);
  await resource.synced();
  await reaches(resource, "live");
  const rows = resource.size;
  // Another password revokes all tokens of its user. The same one again does, too.
  await setPassword(PASSWORD);
  const before = traffic.to("/authenticate").length;
  await eventually(() => traffic.to("/authenticate").length > before, "a heartbeat that asks for another token");
  await etcd.put(`${PREFIX}a`, 2);
  await eventually(() => resource.peek("a").value === 2, "the same watch");
  assert.equal(traffic.sockets.length, 1, "which had no need to end");

  await setPassword("another");
  await reaches(resource, "needs-auth", "unauthorized");
  assert.equal(resource.size, rows);
  const asked = traffic.asked.length;
  await sleep(300);
  assert.ok(traffic.asked.length - asked < 40, `it waits between tries: ${traffic.asked.length - asked}`);
  await setPassword(PASSWORD);
  await etcd.put(`${PREFIX}a`, 3);
  resource.resume();
  await reaches(resource, "live");
  await eventually(() => resource.peek("a").value === 3, "what was put meanwhile");
});

test("wrong credentials, none, and no rights are told, and etcd is not asked in vain", async (t) => {
  const wrong = openAsBob(t, { password: "wrong" });
  wrong.resource.synced().catch(() => {});
  await reaches(wrong.resource, "needs-auth", "unauthorized");
  assert.ok(
    wrong.traffic.asked.every(({ url }) => url.endsWith("/authenticate")),
    "without a token nothing else is asked",
  );
  const none = openAsBob(t, { username: undefined, password: undefined });
  none.resource.synced().catch(() => {});
  await reaches(none.resource, "needs-auth", "unauthorized");
  assert.match(none.resource.status.error.message, /user name is empty/);
  const outside = openAsBob(t, { prefix: "/other/" });
  await assert.rejects(outside.resource.synced(), { code: "forbidden" });
  assert.equal(outside.resource.status.phase, "failed");
  assert.equal(outside.traffic.to("/authenticate").length, 1, "another token would not help");
  await assert.rejects(outside.resource.create({ metadata: { name: "a" }, value: 1 }), { code: "forbidden" });
});

test("rights that are taken while the watch runs end it as forbidden; rows stay", async (t) => {
  const { resource } = openAsBob(t, { heartbeatMs: 150 });
  const range = { key: Buffer.from(PREFIX).toString("base64"), range_end: Buffer.from("/app0").toString("base64") };
  await etcd.put(`${PREFIX}a`, 1);
  await resource.synced();
  await reaches(resource, "live");
  await etcd.call("/v3/auth/role/revoke", { role: "bob", ...range });
  await reaches(resource, "failed", "forbidden");
  assert.ok(resource.size > 0);
  await etcd.call("/v3/auth/role/grant", { name: "bob", perm: { permType: "READWRITE", ...range } });
  resource.resume();
  await reaches(resource, "live");
});

/** How a secret may look to whoever finds it. @param {string} secret */
const forms = (secret) => [
  secret.slice(0, 12),
  encodeURIComponent(secret).slice(0, 14),
  Buffer.from(secret).toString("base64").slice(0, 14),
  Buffer.from(secret).toString("base64url").slice(0, 14),
];
const shown = (value) =>
  inspect(value, { depth: 8, showHidden: true, getters: true, maxStringLength: Infinity, maxArrayLength: Infinity }) +
  (value instanceof Error ? `${value.stack}${JSON.stringify(value)}${inspect(value.cause)}` : "");

test("law_12_secrets: neither password nor token shows anywhere, whatever goes wrong", async (t) => {
  /** @type {string[]} */
  const told = [];
  const tell = (...what) => void told.push(...what.map(shown));
  const logger = { debug: tell, info: tell, warn: tell, error: tell };
  // What etcd cannot answer in this time is an error of ours.
  const { resource, source, cache, traffic } = openAsBob(t, { heartbeatMs: 100 }, { logger });
  t.after(() => setPassword(PASSWORD));
  for (const type of ["status", "sync", "relist", "overflow", "error"])
    resource.addEventListener(type, (event) => tell(event, event.detail));
  await resource.synced();
  await reaches(resource, "live");
  const seen = new Recorder(resource.watch({ resourceVersion: "0" }));
  const look = () => tell(resource.status, cache.stats(), cache.metrics(), cache, resource, source, seen.events, seen.error);
  const underWay = [];
  const ask = () => {
    const signal = AbortSignal.timeout(300);
    const asks = [
      source.list({}, signal),
      source.get({ name: "a" }, signal),
      resource.create({ metadata: { name: `new-${underWay.length}` }, value: 1 }, { signal }),
      resource.delete("nothing", { signal }),
      resource.update("a", (held) => ({ ...held, value: 5 }), { signal }),
      source.watch({ resourceVersion: "1", allowWatchBookmarks: true, timeoutSeconds: 1 }, signal)[Symbol.asyncIterator]().next(),
    ];
    underWay.push(...asks.map((asked) => asked.then(tell, tell)));
    look();
  };
  ask();
  for (const trouble of [
    () => traffic.cut(),
    () => etcd.members[0].kill(),
    () => etcd.members[0].start(),
    () => reaches(resource, "live"),
    () => setPassword("another"),
    () => etcd.call("/v3/auth/disable", {}),
    () => etcd.call("/v3/auth/enable", {}),
    () => setPassword(PASSWORD),
    () => etcd.compact(),
  ]) {
    await trouble();
    ask();
    await sleep(150);
    ask();
    resource.resume();
  }
  await Promise.all(underWay);
  await reaches(resource, "live");
  look();
  const tokens = traffic.to("/authenticate").flatMap(({ answer }) => answer?.token ?? []);
  assert.ok(tokens.length >= 2 && /unauthorized/.test(told.join()), `there was trouble: ${tokens.length} tokens`);
  assert.match(told.join(), /fetch failed|the connection to etcd was closed/);
  assert.ok(
    traffic.asked.some(({ headers }) => headers.get("authorization") === tokens[0]),
    "the tokens were used",
  );
  const urls = [...traffic.asked, ...traffic.sockets].map(({ url }) => url);
  for (const form of [PASSWORD, ...tokens].flatMap(forms))
    for (const text of [...told, ...urls]) {
      const at = text.indexOf(form);
      assert.ok(at < 0, JSON.stringify(text.slice(Math.max(0, at - 200), at + 200)));
    }
});
