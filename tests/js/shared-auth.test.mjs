// Who says who asks, where many tabs have one stream: each for itself, and none holds up another.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../../www/server/index.mjs";
import { eventually } from "../e2e/cache.mjs";
import { hub, portTo } from "../e2e/shared.mjs";
import { FIRST_MS, LATER_MS, besideFrozen, isQuiet, isSynced, keyOf, opened, shared, tabsOf } from "./lib/tabs.mjs";

test("a tab without an auth shares what the others see, and asks as nobody only where all do", async (t) => {
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["jane's"] });
  t.after(() => server.close());
  const worker = hub();
  const open = (options) => opened(t, { ...shared, server: server.url, worker: () => portTo(worker), ...options });
  const nobody = open();
  await assert.rejects(nobody.pods.synced(), { code: "unauthorized" });
  const jane = open({ auth: () => ({ headers: new Headers({ authorization: "Bearer jane's" }) }) });
  await jane.pods.synced();
  // The newest is one that cannot say who asks.
  await open().cache.resource("nodes").synced();
  assert.equal(jane.pods.size, 3);
  await nobody.pods.synced();
});

test("a tab that comes while others are refused hears what the server says to its own credentials", async (t) => {
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["new"] });
  t.after(() => server.close());
  const worker = hub();
  const open = (token) => opened(t, { ...shared, server: server.url, worker: () => portTo(worker), auth: () => ({ token }) });
  const old = open("old");
  await assert.rejects(old.pods.synced(), { code: "unauthorized" });
  await assert.rejects(open("older").pods.synced(), { code: "unauthorized" });
  const renewed = open("new");
  const phases = [];
  renewed.pods.addEventListener("status", () => phases.push(renewed.pods.status.phase));
  await renewed.pods.synced();
  assert.ok(!phases.includes("needs-auth"), phases.join());
  await old.pods.synced();
});

test("tabs whose credentials are refused hold up no other, neither its streams nor its requests", async (t) => {
  const { server, asked, refusals, open } = await tabsOf(t);
  const tabs = [open("good"), open("old"), open("older")];
  for (const { use } of tabs) await isSynced(use("pods"));
  await isSynced(tabs[0].use("nodes"));
  for (const { cache } of tabs) {
    const pods = cache.resource("pods");
    const key = await keyOf(pods);
    await pods.list({ resourceVersion: "", limit: 1 });
    await pods.get(key);
    await pods.patch(key, { metadata: { labels: { by: "good" } } }, { type: "merge" });
  }
  const { watches } = server.control.status().counts;
  server.control.fault("drop");
  await eventually(() => server.control.status().counts.watches >= watches + 2, "both watches are opened anew");
  await eventually(() => tabs.every(({ cache }) => cache.resource("pods").status.phase === "live"), "all tabs are live");
  assert.deepEqual(refusals, []);
  assert.deepEqual(
    asked.filter((name) => name !== "good"),
    ["older", "old"],
    "whoever was refused is asked again where nobody else answers",
  );
});

test("a refusal counts against whoever gave what was refused, whenever it comes", async (t) => {
  const late = {};
  const came = new Promise((resolve) => (late.comes = resolve));
  const held = new Promise((resolve) => (late.letGo = resolve));
  const of = (request, name) => String(request).includes(name);
  const { asked, refusals, open } = await tabsOf(t, undefined, {
    fetch: async (request, init) => {
      const response = await fetch(request, init);
      if (response.status === 401 && of(request, "/nodes")) await (late.comes(), held);
      return response;
    },
  });
  const good = open("good");
  await isSynced(good.use("pods"));
  const old = open("old");
  const nodes = old.use("nodes");
  await came;
  // Many at once, of which each is asked for before the first is refused.
  await Promise.all(["services", "configmaps", "namespaces", "events"].map((name) => isSynced(good.use(name))));
  late.letGo();
  await isSynced(nodes);
  asked.length = 0;
  await good.cache.resource("pods").list({ resourceVersion: "", limit: 1 });
  assert.deepEqual([asked, refusals], [["good"], []]);
});

test("where all are refused each is asked once per try, and whoever signs in later is asked at once", async (t) => {
  for (const comes of ["a new tab", "a tab that was refused"]) {
    let token = "old";
    const { asked, open } = await tabsOf(t, { retry: { initialMs: 600_000 } });
    const tabs = [open("first", () => token), open("second"), open("third")];
    const all = tabs.flatMap(({ use }) => [use("pods"), use("nodes")]);
    const [pods, nodes] = all;
    const isTold = () => all.every(({ status }) => status.phase === "needs-auth");
    await eventually(isTold, "needs-auth is told");
    await isQuiet(asked);
    asked.length = 0;
    pods.resume();
    await eventually(() => asked.length >= 3 && isTold(), "the try is over");
    await isQuiet(asked);
    assert.deepEqual(asked.sort(), ["first", "second", "third"]);
    // A request is repeated once: its token may have been old.
    await assert.rejects(pods.list({ resourceVersion: "" }), { code: "unauthorized" });
    asked.length = 0;
    if (comes === "a new tab") open("good").use("pods");
    else {
      token = "good";
      for (const resource of [pods, nodes]) resource.resume();
    }
    await eventually(
      () => [pods, nodes].every(({ status }) => status.phase === "live"),
      () => `${comes}: ${nodes.status.phase}`,
    );
    assert.equal(pods.size, 3);
  }
});

test("a tab that comes is asked at once, however many came before it in vain and however often they asked for a try", async (t) => {
  for (const [what, token, code] of [
    ["refused", () => "old", "unauthorized"],
    ["cannot say", () => Promise.reject(new Error("not signed in")), "network"],
  ]) {
    const { asked, open } = await tabsOf(t, { retry: { initialMs: 600_000 } });
    const tabs = [];
    for (let number = 1; number <= 5; number++) {
      tabs.push(open(`${what} ${number}`, token).use("pods"));
      await eventually(() => asked.includes(`${what} ${number}`), `number ${number} is asked`);
      await eventually(() => tabs.every(({ status }) => status.error?.code === code && status.retryAt !== undefined), "they are told");
      await isQuiet(asked);
      tabs[0].resume();
    }
    await isSynced(open("good").use("pods"));
    for (const pods of tabs) await isSynced(pods);
  }
});

test("who gives nothing is asked once per try, too, where the server refuses what another one gives", async (t) => {
  const { asked, open } = await tabsOf(t, { retry: { initialMs: 600_000 } });
  const pods = open("old").use("pods");
  const isTold = () => pods.status.phase === "needs-auth";
  await eventually(isTold, "needs-auth is told");
  const out = open("out", () => Promise.reject(new Error("not signed in")));
  out.use("pods");
  await eventually(() => asked.includes("out") && isTold(), "the newest is asked, too");
  await isQuiet(asked);
  asked.length = 0;
  await assert.rejects(out.cache.resource("pods").get("default/x"), { code: "unauthorized" });
  assert.deepEqual(asked.splice(0), ["out", "old"]);
  pods.resume();
  await eventually(() => asked.length >= 2 && isTold(), "the try is over");
  await isQuiet(asked);
  assert.deepEqual(asked, ["out", "old"]);
});

test("a tab that is frozen costs one try ten seconds, and is then asked last", async (t) => {
  const { open, tokens, awake, gets } = await besideFrozen(t);
  tokens.awake = () => "old";
  assert.deepEqual(await gets(awake), ["unauthorized", "frozen", "awake", FIRST_MS]);
  assert.deepEqual(await gets(awake), ["unauthorized", "awake", "frozen", LATER_MS]);
  // Whoever was refused may have signed in since.
  tokens.awake = () => "good";
  assert.deepEqual(await gets(awake), ["got", "awake"]);
  // Somebody comes while another one is asked.
  tokens.awake = async () => {
    await isSynced(open("new", () => "good").use("pods"));
    return "old";
  };
  assert.deepEqual(await gets(awake), ["got", "awake", "new"]);
});

test("a tab that has thawed is asked as any other, and one that is frozen where it is the only one", async (t) => {
  const { tokens, awake, frozen, gets, asleep, passes, thaws } = await besideFrozen(t);
  tokens.awake = () => "old";
  assert.deepEqual(await gets(awake), ["unauthorized", "frozen", "awake", FIRST_MS]);
  thaws();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await gets(awake), ["got", "frozen"]);
  await awake.cache.close();
  // One question alone that it never answers says nothing of the next.
  const given = [new Promise(() => {}), "good"];
  tokens.frozen = () => given.shift();
  const both = [gets(frozen), gets(frozen)];
  await Promise.race(both);
  passes();
  await Promise.all(both);
  // Nobody else can be asked, so it is waited for as in a page of its own.
  let answers;
  tokens.frozen = asleep(new Promise((resolve) => (answers = () => resolve("good"))));
  const got = gets(frozen);
  assert.equal(await Promise.race([got, sleep(200, "waits")]), "waits");
  answers();
  assert.deepEqual(await got, ["got", "frozen", FIRST_MS]);
});

test("a tab that cannot say who asks holds up no other", async (t) => {
  for (const auth of [
    () => Promise.reject(new Error("not signed in")),
    () => {
      throw new Error("not signed in");
    },
    () => undefined,
    () => ({ headers: { "a b": "c" } }),
  ]) {
    const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["jane's"] });
    t.after(() => server.close());
    const worker = hub();
    const open = (auth) => opened(t, { ...shared, server: server.url, worker: () => portTo(worker), auth });
    const signedIn = open(() => ({ token: "jane's" }));
    await isSynced(signedIn.pods);
    t.after(signedIn.pods.view().subscribe(() => {}));
    const out = open(auth);
    // It shares what the other one sees.
    await isSynced(out.pods);
    await isSynced(out.cache.resource("nodes"));
    const { watches } = server.control.status().counts;
    server.control.fault("drop");
    await eventually(() => server.control.status().counts.watches > watches, "the watch is opened anew");
    await eventually(
      () => signedIn.pods.status.phase === "live",
      () => JSON.stringify(signedIn.pods.status),
    );
    await signedIn.pods.patch(await keyOf(signedIn.pods), { metadata: { labels: { by: "jane" } } }, { type: "merge" });
  }
});

test("where nobody can say who asks, the next one who can is asked at once", async (t) => {
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["jane's"] });
  t.after(() => server.close());
  const worker = hub();
  const open = (auth) => opened(t, { ...shared, retry: { initialMs: 600_000 }, server: server.url, worker: () => portTo(worker), auth });
  const out = open(() => Promise.reject(new Error("not signed in")));
  t.after(out.pods.view().subscribe(() => {}));
  const { error } = /** @type {any} */ (await eventually(() => out.pods.status.error && out.pods.status, "it is told"));
  assert.match(error.message, /not signed in/);
  await open(() => ({ token: "jane's" })).pods.synced();
  await out.pods.synced();
});

test("where nobody answers at all, the next one who does is asked at once", async (t) => {
  const real = globalThis.setTimeout;
  // The time that a frozen tab is given passes soon.
  t.mock.method(globalThis, "setTimeout", (call, ms, ...rest) => real(call, ms === 10_000 ? 50 : ms, ...rest));
  const server = await startServer({ port: 0, pods: 3, rate: 0, tokens: ["jane's"] });
  t.after(() => server.close());
  const worker = hub();
  const open = (auth) => opened(t, { ...shared, retry: { initialMs: 600_000 }, server: server.url, worker: () => portTo(worker), auth });
  const frozen = open(() => new Promise(() => {}));
  t.after(frozen.pods.view().subscribe(() => {}));
  frozen.pods.synced().catch(() => {});
  await sleep(500);
  assert.equal(frozen.pods.status.error, undefined, "as in a page of its own");
  await isSynced(open(() => ({ token: "jane's" })).pods);
  await isSynced(frozen.pods);
});
