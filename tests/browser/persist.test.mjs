// Warm starts in a real browser: what is kept, who may see it, and what is left when the storage fails.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { chromiumOnly, except, launchBrowser } from "../engines/launch.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TOKEN = "a-canary-of-the-page";
/** Tabs of one profile. */
const TABS = except({ webkit: "its driver opens one page at a time" });

let browser;
before(async () => (browser = await launchBrowser()));
after(() => browser?.close());

/** A server with a token, and what opens pages of one profile on it. */
async function profile(t, settings = {}) {
  const server = await startServer({ port: 0, pods: 300, rate: 0, tokens: [TOKEN], root, ...settings });
  t.after(() => server.close());
  const context = await browser.newContext();
  t.after(() => context.close());
  /** A page whose cache keeps what it holds. Without `synced` it does not wait for the server. */
  const open = async (options = {}, { names = ["pods"], synced = true, before = () => {}, origin = server.url } = {}) => {
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => message.type() === "warning" && said.push(message.text()));
    await page.goto(`${origin}/dist/`, { waitUntil: "commit" }).catch(() => {});
    await page.evaluate(before);
    await page.evaluate(
      async ([given, token, names, synced]) => {
        const { createWatchCache, forgetPersisted } = await import("/dist/index.js");
        const [lists, { fetch }] = [[], globalThis];
        globalThis.fetch = (asked, ...rest) => {
          const { pathname, searchParams } = new URL(asked.url ?? asked, location.href);
          // One that asks for a single object wants to know the version alone.
          if (/^\/api/.test(pathname) && !searchParams.has("watch") && searchParams.get("limit") !== "1") lists.push(pathname);
          return fetch(asked, ...rest);
        };
        const cache = createWatchCache({ identity: "jane", persist: {}, auth: () => ({ token }), ...given });
        const resources = names.map((name) => cache.resource(name));
        const [pods] = resources;
        Object.assign(globalThis, { cache, pods, resources, lists, forgetPersisted, told: [], blanks: 0 });
        const view = pods.view();
        view.subscribe(() => {
          if (view.rows.length === 0 && globalThis.told.length > 0) globalThis.blanks++;
          globalThis.told.push(view.rows.length);
        });
        globalThis.view = view;
        for (const resource of resources.slice(1)) resource.view();
        if (synced) for (const resource of resources) await resource.synced();
      },
      [options, TOKEN, names, synced],
    );
    return Object.assign(page, { said, lists: () => page.evaluate(() => globalThis.lists) });
  };
  return { server, context, open };
}

/** What stands in the database. @param {import("playwright-core").Page} page */
const kept = (page) =>
  page.evaluate(async () => {
    const request = indexedDB.open("watchcache");
    const database = await new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    try {
      if (!database.objectStoreNames.contains("states")) return { states: [], blocks: [], text: "" };
      const transaction = database.transaction(["states", "blocks"]);
      const all = (name, what) =>
        new Promise((resolve) => {
          const asked = transaction.objectStore(name)[what]();
          asked.onsuccess = () => resolve(asked.result);
        });
      const [states, heads, blocks, bytes] = await Promise.all([
        all("states", "getAllKeys"),
        all("states", "getAll"),
        all("blocks", "getAllKeys"),
        all("blocks", "getAll"),
      ]);
      const ours = heads.filter((state) => state?.head instanceof Uint8Array && state.head.length > 16);
      const text = [...ours.map(({ head }) => head), ...bytes].map((part) => new TextDecoder("latin1").decode(part)).join("\n");
      return { states, blocks, text, versions: ours.map(({ head }) => JSON.parse(new TextDecoder().decode(head).slice(16)).version) };
    } finally {
      database.close();
    }
  });

/** Until it holds, of what stands in the database. */
async function untilKept(page, holds) {
  for (const deadline = Date.now() + 20_000; ; await page.waitForTimeout(100)) {
    const found = await kept(page);
    if (await holds(found, page)) return found;
    assert.ok(Date.now() < deadline, `waited in vain: ${JSON.stringify({ ...found, text: found.text.length })}`);
  }
}

const rows = () =>
  globalThis.view.rows.map(({ metadata: { namespace, name, resourceVersion } }) => [`${namespace}/${name}`, resourceVersion]);
const held = async (page) => JSON.stringify(await page.evaluate(rows));
const due = (server) => JSON.stringify(server.control.digest("pods", "").items);
/** Until the page shows what the server has. */
async function untilHeld(page, server) {
  const deadline = Date.now() + 15_000;
  while ((await held(page)) !== due(server) && Date.now() < deadline) await page.waitForTimeout(20);
  assert.equal(await held(page), due(server));
}
/** What the page holds is all that the server has, and is kept. */
const isWhole = (server) => async (found, page) =>
  (await held(page)) === due(server) && found.versions?.includes(await page.evaluate(() => globalThis.pods.resourceVersion));

test("a reload shows rows while the server is away, and goes on from there without a list", async (t) => {
  const { server, open } = await profile(t);
  const first = await open();
  await untilKept(first, isWhole(server));
  assert.ok((await first.lists()).length > 0);
  await first.close();
  server.control.step(50);
  server.control.fault("status", { on: "all", code: 503 });

  const opened = Date.now();
  const page = await open({}, { synced: false });
  await page.waitForFunction(() => globalThis.view.rows.length > 0);
  const early = await page.evaluate(() => globalThis.pods.status);
  assert.equal(early.stale, true);
  assert.ok(early.staleSince < opened && early.staleSince > opened - 60_000, String(early.staleSince));
  assert.notEqual(early.phase, "live");
  const synced = page.evaluate(() =>
    Promise.race([globalThis.pods.synced().then(() => "synced"), new Promise((resolve) => setTimeout(resolve, 500, "waits"))]),
  );
  assert.equal(await synced, "waits");
  assert.equal(await page.evaluate(() => globalThis.pods.hasSynced), false);
  // Who waits for the server's word hears that it does not come while the resource is paused.
  const ends = await page.evaluate(() => {
    const waiting = [globalThis.pods.synced(), globalThis.pods.list({ resourceVersion: "0" })];
    globalThis.pods.pause();
    const late = new Promise((resolve) => setTimeout(resolve, 1_000, "waits"));
    return Promise.all(
      [...waiting, globalThis.pods.synced()].map((wait) =>
        Promise.race([
          wait.then(
            () => "",
            ({ message }) => message,
          ),
          late,
        ]),
      ),
    );
  });
  for (const end of ends) assert.match(end, /paused/);

  server.control.fault("clear");
  await page.evaluate(() => globalThis.pods.resume());
  await page.waitForFunction(() => globalThis.pods.status.phase === "live" && !globalThis.pods.status.stale);
  await untilHeld(page, server);
  assert.equal(await page.evaluate(() => globalThis.blanks), 0);
  assert.deepEqual(await page.lists(), []);
  assert.deepEqual(page.said, []);
});

test("a version that the server has forgotten is listed, and only differences show", async (t) => {
  const { server, open } = await profile(t);
  const first = await open();
  await untilKept(first, isWhole(server));
  await first.close();
  server.control.step(50);
  server.control.fault("expire");
  const page = await open();
  await untilHeld(page, server);
  assert.equal(await page.evaluate(() => globalThis.blanks), 0);
  assert.ok((await page.lists()).length > 0);
});

test("another identity, another server and other fields see nothing of it; secrets and credentials are in no byte", async (t) => {
  const { server, open } = await profile(t);
  const secret = { metadata: { name: "s", namespace: "default" }, stringData: { password: "canary-of-a-secret" } };
  const made = await fetch(`${server.url}/api/v1/namespaces/default/secrets`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ apiVersion: "v1", kind: "Secret", ...secret }),
  });
  const names = made.status === 201 ? ["pods", "secrets"] : ["pods"];
  const first = await open({}, { names });
  const found = await untilKept(first, isWhole(server));
  assert.equal(found.states.length, 1, JSON.stringify(found.states));
  for (const canary of [TOKEN, "canary-of-a-secret", btoa("canary-of-a-secret")]) assert.ok(!found.text.includes(canary), canary);
  await first.close();
  server.control.fault("status", { on: "all", code: 503 });
  for (const other of [{ identity: "joe" }, { server: `${server.url}/other` }, { strip: ["spec"] }]) {
    const page = await open(other, { synced: false });
    await page.waitForFunction(() => ["reconnecting", "failed"].includes(globalThis.pods.status.phase));
    assert.equal(await page.evaluate(() => globalThis.view.rows.length), 0, JSON.stringify(other));
    await page.close();
  }
});

test("what is forgotten is gone, and a page that is open writes nothing more", TABS, async (t) => {
  const { server, open } = await profile(t);
  const page = await open();
  await untilKept(page, isWhole(server));
  const joe = await open({ identity: "joe" });
  await untilKept(joe, ({ states }) => states.length === 2);
  await joe.evaluate(() => globalThis.forgetPersisted("jane"));
  const left = await kept(joe);
  assert.deepEqual(new Set([...left.states, ...left.blocks].map(([identity]) => identity)), new Set(["joe"]));
  server.control.step(50);
  await page.waitForTimeout(5_000);
  assert.ok(!(await kept(joe)).states.some(([identity]) => identity === "jane"));
  assert.deepEqual(page.said, []);
  // Who signs in again is kept again.
  await page.close();
  const again = await open();
  await untilKept(again, ({ states }) => states.some(([identity]) => identity === "jane"));
});

test("who signs in again at a worker that has not ended yet is kept again", TABS, async (t) => {
  const { server, open } = await profile(t);
  const page = await open({ mode: "shared" });
  await untilKept(page, isWhole(server));
  await page.evaluate(() => globalThis.cache.close());
  await page.evaluate(() => globalThis.forgetPersisted("jane"));
  assert.deepEqual((await kept(page)).states, []);
  const again = await open({ mode: "shared" });
  await page.close();
  await untilKept(again, isWhole(server));
  assert.deepEqual(again.said, []);
});

test("what is forgotten is not kept by the next worker either, nor where the only tab comes back", TABS, async (t) => {
  const { server, open } = await profile(t);
  const page = await open({ mode: "shared", worker: "/tests/browser/obedient-worker.js" });
  await untilKept(page, isWhole(server));
  const other = await open({ identity: "joe", persist: undefined });
  await other.evaluate(() => globalThis.forgetPersisted("jane"));
  const isNotKept = async () => {
    server.control.step(50);
    await untilHeld(page, server);
    await page.waitForTimeout(4_000);
    assert.deepEqual((await kept(other)).states, []);
  };
  await other.evaluate(() => new BroadcastChannel("tests").postMessage("end"));
  await page.waitForFunction(() => globalThis.pods.status.phase === "reconnecting");
  await isNotKept();
  await page.evaluate(() => void dispatchEvent(new Event("pagehide")));
  // Longer than a worker outlives its last tab.
  await page.waitForTimeout(6_000);
  await page.evaluate(() => void dispatchEvent(new Event("pageshow")));
  await isNotKept();
  // Who signs in again is kept again, once that tab is gone.
  await page.close();
  await page.context().pages()[0].waitForTimeout(6_000);
  const again = await open({ mode: "shared" });
  await untilKept(again, isWhole(server));
});

test("a cache whose identity was forgotten keeps nothing that it opens later either", async (t) => {
  const { server, open } = await profile(t);
  const page = await open();
  await untilKept(page, isWhole(server));
  await page.evaluate(() => globalThis.forgetPersisted("jane"));
  await page.evaluate(() => globalThis.cache.resource("nodes").synced());
  await page.waitForTimeout(4_000);
  assert.deepEqual((await kept(page)).states, []);
  assert.deepEqual(page.said, []);
});

test("a cache that was open when its identity was forgotten keeps nothing of what it uses first afterwards", TABS, async (t) => {
  const { server, open } = await profile(t);
  const page = await open({ persist: undefined });
  await page.evaluate(async (token) => {
    const { createWatchCache } = await import("/dist/index.js");
    const cache = createWatchCache({ identity: "jane", persist: {}, auth: () => ({ token }) });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await globalThis.forgetPersisted("jane");
    await cache.resource("nodes").synced();
  }, TOKEN);
  await page.waitForTimeout(4_000);
  assert.deepEqual((await kept(page)).states, []);
  assert.deepEqual(page.said, []);
  // Who signs in after that is kept.
  const again = await open();
  await untilKept(again, isWhole(server));
});

test("who signs in again is kept by a worker that was used first after the last time, by a page that is put away", TABS, async (t) => {
  const { server, open } = await profile(t);
  const page = await open({ identity: "joe", persist: undefined });
  await page.evaluate(async (token) => {
    const { createWatchCache } = await import("/dist/index.js");
    const cache = createWatchCache({ mode: "shared", identity: "jane", persist: {}, auth: () => ({ token }) });
    await new Promise((resolve) => setTimeout(resolve, 10));
    await globalThis.forgetPersisted("jane");
    await cache.resource("pods").synced();
    dispatchEvent(new Event("pagehide"));
  }, TOKEN);
  const again = await open({ mode: "shared" });
  await untilKept(again, isWhole(server));
  assert.deepEqual(again.said, []);
});

test("what somebody else has removed is not written in parts", async (t) => {
  const { server, open } = await profile(t);
  const page = await open();
  await untilKept(page, isWhole(server));
  await page.evaluate(async () => {
    const request = indexedDB.open("watchcache");
    await new Promise((resolve) => (request.onsuccess = resolve));
    const transaction = request.result.transaction(["states", "blocks"], "readwrite");
    for (const name of ["states", "blocks"]) transaction.objectStore(name).clear();
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    request.result.close();
  });
  server.control.step(3);
  await untilHeld(page, server);
  await page.waitForTimeout(4_000);
  // A head without all of its blocks would be of no use, and would take the room of others.
  const found = await kept(page);
  assert.deepEqual([found.states, found.blocks], [[], []]);
  assert.deepEqual(page.said, []);
});

test("any block that is not what was written costs a list, and nothing else", async (t) => {
  const { server, open } = await profile(t);
  const first = await open();
  await untilKept(first, isWhole(server));
  await first.evaluate(async () => {
    const request = indexedDB.open("watchcache");
    await new Promise((resolve) => (request.onsuccess = resolve));
    const transaction = request.result.transaction("blocks", "readwrite");
    const store = transaction.objectStore("blocks");
    const cursor = store.openCursor();
    cursor.onsuccess = () => {
      const { value, key } = cursor.result;
      value[value.length - 1] ^= 1;
      store.put(value, key);
    };
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    request.result.close();
  });
  await first.close();
  const page = await open();
  await untilHeld(page, server);
  assert.ok((await page.lists()).length > 0);
  assert.deepEqual(page.said, []);
  // It is written anew, as a whole.
  await page.close();
  const third = await open({}, { synced: false });
  await untilKept(third, isWhole(server));
});

test("a source of one's own is kept where it is named, and goes on from its version", async (t) => {
  const { open } = await profile(t);
  const start = async (page) =>
    page.evaluate(async () => {
      const { createWatchCache } = await import("/dist/index.js");
      const { memorySource } = await import("/dist/memory/index.js");
      const source = memorySource();
      for (const name of ["a", "b"]) await source.create({ body: JSON.stringify({ metadata: { name } }) }).catch(() => {});
      const lists = [];
      const { list } = source;
      source.list = (...given) => (lists.push(given[0].limit), list.apply(source, given));
      const cache = createWatchCache({ identity: "jane", persist: { resources: ["mine"] } });
      const mine = cache.resource({ source, id: "mine" });
      Object.assign(globalThis, { pods: mine, mine: { lists, cache } });
      await mine.synced();
      return (await mine.list({ resourceVersion: "0" })).items.map(({ metadata }) => metadata.name);
    });
  const first = await open({ persist: { resources: [] } });
  assert.deepEqual(await start(first), ["a", "b"]);
  await untilKept(first, ({ states }) => states.length === 1);
  await first.close();
  const page = await open({ persist: { resources: [] } });
  assert.deepEqual(await start(page), ["a", "b"]);
  assert.deepEqual(
    (await page.evaluate(() => globalThis.mine.lists)).filter((limit) => limit !== 1),
    [],
  );
});

test("of two pages one writes, and the other takes over when that is gone", TABS, async (t) => {
  const { server, open } = await profile(t);
  const [one, two] = [await open(), await open()];
  await untilKept(one, isWhole(server));
  await one.close();
  server.control.step(20);
  await untilKept(two, isWhole(server));
});

test("a page that has no room by its own options leaves the others to keep", TABS, async (t) => {
  const { server, open } = await profile(t);
  const small = await open({ persist: { maxBytes: 1_000 } });
  for (const deadline = Date.now() + 15_000; small.said.length === 0; await small.waitForTimeout(50)) assert.ok(Date.now() < deadline);
  const large = await open();
  await untilKept(large, isWhole(server));
  assert.deepEqual([small.said.length, large.said], [1, []]);
});

test("what is none of ours is taken for nothing, and keeps nobody from keeping", async (t) => {
  const { server, open } = await profile(t);
  const first = await open();
  const { states } = await untilKept(first, isWhole(server));
  await first.evaluate(async (key) => {
    const request = indexedDB.open("watchcache");
    await new Promise((resolve) => (request.onsuccess = resolve));
    const transaction = request.result.transaction("states", "readwrite");
    const store = transaction.objectStore("states");
    const strangers = [
      null,
      "a text",
      { head: new Uint8Array(4), order: [1, 2], bytes: 4, at: 1 },
      { head: "{}", order: new Uint32Array(1) },
    ];
    strangers.forEach((stranger, at) => store.put(stranger, [key[0], `${key[1]} ${at}`]));
    store.put({ order: "none" }, key);
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    request.result.close();
  }, states[0]);
  await first.close();
  const page = await open();
  assert.ok((await page.lists()).length > 0);
  await untilKept(page, async (found, page) => found.states.length === 1 && isWhole(server)(found, page));
  assert.deepEqual(page.said, []);
});

test("without storage, with a newer database or with too little room a cache works, and says so once", async (t) => {
  const { server, open } = await profile(t);
  const cases = {
    "this host has no IndexedDB": () => {
      delete globalThis.indexedDB;
      Object.defineProperty(globalThis, "indexedDB", { value: undefined });
    },
    "(existing|requested) version|version requested": async () => {
      const request = indexedDB.open("watchcache", 99);
      await new Promise((resolve) => (request.onsuccess = resolve));
      request.result.close();
    },
  };
  for (const [words, before] of Object.entries(cases)) {
    const page = await open({}, { names: ["pods", "nodes"], before });
    await untilHeld(page, server);
    await page.waitForTimeout(2_500);
    assert.equal(page.said.length, 1, page.said.join("\n"));
    assert.match(page.said[0], new RegExp(`is not kept for the next start: .*(${words})`, "s"));
    await page.close();
  }
});

test("a table is not kept: its rows would come back without their columns", async (t) => {
  const { open } = await profile(t);
  const names = [{ resource: "pods", version: "v1", as: "Table" }, "nodes"];
  const first = await open({}, { names });
  const { states } = await untilKept(first, ({ states }) => states.some(([, name]) => name.includes("nodes")));
  assert.equal(states.length, 1, JSON.stringify(states));
  await first.close();
  const page = await open({}, { names });
  const seen = await page.evaluate(() => [globalThis.pods.columns?.length > 0, globalThis.pods.size, globalThis.told.length > 0]);
  assert.deepEqual(seen, [true, 300, true]);
  assert.deepEqual(page.said, []);
});

test("where the origin has no room left, that is said once, by its name", chromiumOnly("only its DevTools set a quota"), async (t) => {
  const { server, open, context } = await profile(t);
  const other = await context.newPage();
  const devtools = await context.newCDPSession(other);
  await devtools.send("Storage.overrideQuotaForOrigin", { origin: server.url, quotaSize: 20_000 });
  const page = await open();
  await page.waitForTimeout(3_500);
  assert.deepEqual(page.said, ["watchcache: what is held is not kept for the next start: QuotaExceededError"]);
  await untilHeld(page, server);
});

for (const mode of ["inline", "shared"]) {
  const INSECURE = chromiumOnly("what of this machine counts as a safe origin differs");
  test(`a page that came over plain HTTP keeps and shares as well: ${mode}`, INSECURE, async (t) => {
    const { server, open } = await profile(t);
    const origin = server.url.replace("127.0.0.1", "0.0.0.0");
    const first = await open({ mode }, { origin });
    assert.deepEqual(await first.evaluate(() => [isSecureContext, globalThis.cache.stats().mode]), [false, mode]);
    await untilKept(first, isWhole(server));
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    server.control.fault("status", { on: "all", code: 503 });
    const page = await open({ mode }, { origin, synced: false });
    await page.waitForFunction(() => globalThis.view.rows.length > 0);
    assert.equal(await page.evaluate(() => globalThis.pods.status.stale), true);
    assert.deepEqual(page.said, []);
  });
}

test("more than maxBytes is not kept, and that is said once", async (t) => {
  const { server, open } = await profile(t);
  const page = await open({ persist: { maxBytes: 1_000 } });
  await page.waitForTimeout(3_500);
  assert.equal((await kept(page)).states.length, 0);
  assert.equal(page.said.length, 1, page.said.join("\n"));
  assert.match(page.said[0], /it would take \d+ bytes, and maxBytes is 1000/);
  await untilHeld(page, server);
});

test("the worker of a shared cache keeps for all tabs: the next one shows rows while the server is away", TABS, async (t) => {
  const { server, open } = await profile(t);
  const first = await open({ mode: "shared" });
  assert.equal(await first.evaluate(() => globalThis.cache.stats().mode), "shared");
  const found = await untilKept(first, isWhole(server));
  assert.equal(found.states.length, 1);
  await first.close();
  // The worker ends with its last tab.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  server.control.step(20);
  server.control.fault("status", { on: "all", code: 503 });
  const page = await open({ mode: "shared" }, { synced: false });
  await page.waitForFunction(() => globalThis.view.rows.length > 0);
  assert.equal(await page.evaluate(() => globalThis.pods.status.stale), true);
  server.control.fault("clear");
  await page.evaluate(() => globalThis.pods.resume());
  await untilHeld(page, server);
});
