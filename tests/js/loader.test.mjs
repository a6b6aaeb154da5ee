// A WebAssembly that does not come at once: the loader under a mocked clock, and the whole package in processes over real connections.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { backoff } from "../../dist/load/backoff.js";
import { Loader } from "../../dist/load/loader.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PODS = new URL("lib/pod.mjs", import.meta.url).href;
const bytes = await readFile(new URL("../../dist/wasm/watchcache_bg.wasm", import.meta.url));

/** Lets what is due come: the answers of the fetch below come in promises alone. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Waits for what is compiled: engines do so beside the thread, in a time of their own, whatever the mocked clock says. */
async function compiled(loader) {
  const end = process.hrtime.bigint() + 10_000_000_000n;
  while (loader.state.phase === "loading" && process.hrtime.bigint() < end) await settle();
}

/** A loader under a mocked clock, whose server answers as `answer` says. */
function underClock(t, answer) {
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 });
  mock.method(globalThis, "fetch", async (url, { cache, signal }) => {
    requests.push({ at: Date.now() - 1_000_000, cache });
    return answer(signal);
  });
  mock.method(Math, "random", () => 0); // the shortest waits there are
  mock.method(performance, "now", () => Date.now()); // a machine that never sleeps
  t.after(() => mock.restoreAll());
  t.after(() => mock.timers.reset());
  const requests = [];
  const adopted = [];
  const loader = new Loader({ check() {}, adopt: async (module) => void adopted.push(module) });
  const entry = { bundled: () => "http://page.invalid/w.wasm" };
  const pass = async (ms) => {
    const end = Date.now() + ms;
    for (;;) {
      for (let i = 0; i < 5; i++) await settle();
      if (Date.now() >= end) return;
      mock.timers.tick(100);
    }
  };
  return { loader, entry, requests, adopted, pass };
}

const down = () => new Response("", { status: 404 });
const up = () => new Response(bytes.subarray(0, 8), { headers: { "content-type": "application/wasm" } });

// `Backoff` of the core is asked the same in src/reflector/backoff.rs.
test("the waits are those of the core: they double from 800 ms to 30 seconds, and chance adds up to as much again", () => {
  const bases = [800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000];
  for (const random of [0, 0.25, 0.999]) {
    const waits = bases.map((_, failed) => backoff(failed + 1, random));
    assert.deepEqual(
      waits,
      bases.map((base) => base * (1 + random)),
    );
  }
});

test("the waits grow, and all who want it wait for the same tries", async (t) => {
  const { loader, entry, requests, adopted, pass } = underClock(t, () => answer());
  let answer = down;
  let changes = 0;
  const off = [1, 2, 3].map(() => loader.want(() => changes++, entry));
  await pass(60_000);
  assert.deepEqual(
    requests.map(({ at }) => at),
    [0, 800, 2_400, 5_600, 12_000, 24_800, 50_400],
  );
  // A cache on the way may hold an older answer.
  assert.deepEqual([...new Set(requests.slice(1).map(({ cache }) => cache))], ["no-cache"]);
  const { phase, attempt, retryAt, error } = loader.state;
  assert.deepEqual([phase, attempt, retryAt, error.code], ["waiting", 7, 1_080_400, "network"]);
  assert.equal(changes, 3 * 14 - 2, "of the first try two of them came too late");
  answer = up;
  await pass(30_000);
  assert.deepEqual([loader.state, adopted.length], [{ phase: "loaded", attempt: 0 }, 1]);
  for (const end of off) end();
});

test("in its first minute a server that is down is asked ten times at most, whatever a listener does", async (t) => {
  const { loader, entry, requests, pass } = underClock(t, down);
  const ends = new Set();
  const listener = () => {
    loader.tryNow(entry, true);
    loader.load(undefined, entry).catch(() => {});
    // A user that comes and goes, like a component that renders again.
    for (const end of ends) end();
    ends.clear();
    ends.add(loader.want(() => {}, entry));
  };
  const all = loader.want(listener, entry);
  for (let i = 0; i < 600; i++) {
    await pass(100);
    listener();
  }
  assert.ok(requests.length >= 5 && requests.length <= 10, `${requests.length} requests`);
  all();
  for (const end of ends) end();
});

for (const stage of ["head", "body"]) {
  test(`an answer whose ${stage} never comes is given up, and asked for anew`, async (t) => {
    const { loader, entry, requests, adopted, pass } = underClock(t, (signal) => answer(signal));
    const never = (signal, end) => signal.addEventListener("abort", () => end(signal.reason));
    const stuck = new Map([
      ["head", (signal) => new Promise((_, reject) => never(signal, reject))],
      [
        "body",
        (signal) => {
          const body = new ReadableStream({ start: (controller) => never(signal, (reason) => controller.error(reason)) });
          return new Response(body, { headers: { "content-type": "application/wasm" } });
        },
      ],
    ]);
    let answer = stuck.get(stage);
    loader.want(() => {}, entry);
    await pass(119_900);
    assert.deepEqual([loader.state.phase, requests.length], ["loading", 1]);
    await pass(200);
    assert.deepEqual([loader.state.phase, loader.state.error.code], ["waiting", "network"]);
    assert.match(loader.state.error.message, /no whole answer came within 120 seconds/);
    answer = up;
    await pass(2_000);
    await compiled(loader);
    assert.deepEqual([loader.state.phase, requests.length, adopted.length], ["loaded", 2, 1]);
  });
}

test("an early try is granted at once; without a user nothing is asked for", async (t) => {
  const { loader, entry, requests, pass } = underClock(t, down);
  const end = loader.want(() => {}, entry);
  await pass(15_000);
  const before = requests.length;
  loader.tryNow(entry);
  await pass(100);
  assert.equal(requests.length, before + 1);
  end();
  await pass(3_600_000 / 10);
  assert.equal(requests.length, before + 1);
  // The wait has been over for long, so the next user need not wait.
  const again = loader.want(() => {}, entry);
  await pass(100);
  assert.equal(requests.length, before + 2);
  again();
  loader.want(() => {}, entry)();
  loader.tryNow(entry);
  await pass(1_000);
  assert.equal(requests.length, before + 2);
});

test("an answer that is no WebAssembly fails once, and only resume tries again", async (t) => {
  const page = () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } });
  let answer = page;
  const { loader, entry, requests, pass } = underClock(t, () => answer());
  loader.want(() => {}, entry);
  await pass(600_000);
  // The second request goes past all caches, because what they hold may be old.
  assert.deepEqual(
    requests.map(({ cache }) => cache),
    ["default", "reload"],
  );
  const { error } = loader.state;
  assert.deepEqual([loader.state.phase, error.code, error.retryable], ["failed", "decode", false]);
  assert.match(error.message, /answered with text\/html/);
  loader.tryNow(entry);
  await pass(1_000);
  assert.equal(requests.length, 2, "a page that wakes up has no other server");
  answer = up;
  loader.tryNow(entry, true);
  await pass(100);
  await compiled(loader);
  assert.equal(loader.state.phase, "loaded");
});

test("what is no source fails once, whatever it came by", async (t) => {
  for (const value of [5, {}, "/no/page.wasm"]) {
    const { loader, requests, pass } = underClock(t, down);
    const entry = { bundled: () => value };
    loader.want(() => {}, entry);
    await pass(600_000);
    const { phase, error, attempt } = loader.state;
    assert.deepEqual([phase, error.code, error.retryable, attempt, requests.length], ["failed", "invalid", false, 1, 0]);
    mock.restoreAll();
    mock.timers.reset();
  }
});

test("a file that only an HTTP cache has broken is loaded past that cache", async (t) => {
  const { loader, entry, requests, pass } = underClock(t, () => (requests.length === 1 ? new Response("old") : up()));
  loader.want(() => {}, entry);
  await pass(100);
  await compiled(loader);
  assert.deepEqual([loader.state.phase, requests.length], ["loaded", 2]);
});

test("a script that has no address is told what helps, once", async (t) => {
  const { loader, requests, pass } = underClock(t, down);
  // As the package's own entry in a worker that is made of a text.
  const entry = { bundled: () => new URL("./wasm/watchcache_bg.wasm", "blob:http://page.invalid/1") };
  loader.want(() => {}, entry);
  await pass(600_000);
  const { phase, error } = loader.state;
  assert.deepEqual([phase, error.code, error.retryable, requests.length], ["failed", "network", false, 0]);
  assert.match(error.message, /init\(\), or import "watchcache\/inline"/);
});

// ------------------------------------------------------------------------------------------------------- the package, a process for each

/** A server of the WebAssembly that answers as `answer` says, by the number of the request. */
async function serve(t, answer) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(performance.now());
    const { status = 200, type = "application/wasm", body = bytes } = answer(asked.length) ?? {};
    response.writeHead(status, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return { asked, url: `http://127.0.0.1:${server.address().port}/watchcache_bg.wasm` };
}

/** What a program prints, that has the package, a resource of two pods and the WebAssembly's address. It ends when it has nothing to do. */
async function run(url, program) {
  const whole = `
    import { createWatchCache, init, initSync } from "watchcache";
    import { readFileSync } from "node:fs";
    import { memorySource } from "watchcache/memory";
    import { pod } from ${JSON.stringify(PODS)};
    const url = ${JSON.stringify(url)};
    const upstream = memorySource({ objects: [pod("a/x"), pod("a/y")] });
    const cache = createWatchCache({ flush: "microtask", logger: { debug() {}, info() {}, warn() {}, error() {} } });
    const pods = cache.resource({ source: upstream, id: "pods" });
    const file = ${JSON.stringify(fileURLToPath(new URL("../../dist/wasm/watchcache_bg.wasm", import.meta.url)))};
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const outcome = (promise) => promise.then(() => "well", ({ code }) => code);
    ${program}
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", whole], { cwd: ROOT, timeout: 60_000 });
  return stdout.trim().split("\n");
}

test("what waits goes on when the server comes back: readers, watchers, views, informers, promises", async (t) => {
  const { url, asked } = await serve(t, (request) => (request <= 2 ? { status: 404, type: "text/html", body: "" } : {}));
  const said = await run(
    url,
    `
      const first = outcome(init(url));
      const told = [];
      pods.addEventListener("status", ({ detail: { phase, attempt, retryAt, error } }) => {
        void pods.size;
        if (phase === "loading") told.push([phase, attempt, retryAt > Date.now(), error?.code]);
      });
      const view = pods.view();
      let changes = 0;
      view.subscribe(() => changes++);
      const informer = pods.informer();
      const added = [];
      informer.addEventHandler({ onAdd: ({ metadata }) => added.push(metadata.name) });
      const watcher = pods.watch();
      const waits = [informer.synced, pods.synced(), pods.list(), pods.get("a/x"), watcher.next()];
      console.log(await first);
      console.log((await Promise.all(waits.map(outcome))).join());
      await sleep(50);
      console.log(JSON.stringify(told.slice(0, 5)));
      console.log(pods.status.phase, pods.status.attempt, pods.status.error, view.total, added.join(), changes > 0);
      await cache.close();
    `,
  );
  const waiting = (attempt) => ["loading", attempt, true, "network"];
  const trying = (attempt) => ["loading", attempt, false, "network"];
  assert.equal(said[0], "network", "init() is one try");
  assert.equal(said[1], "well,well,well,well,well");
  const [first, ...rest] = JSON.parse(said[2]);
  assert.deepEqual(first, ["loading", 0, false, null]);
  assert.deepEqual(rest.slice(0, 3), [waiting(1), trying(1), waiting(2)]);
  assert.equal(said[3], "live 0 undefined 2 x,y true");
  assert.equal(asked.length, 3);
  assert.ok(asked[1] - asked[0] >= 790 && asked[2] - asked[1] >= 1590, `asked at ${asked.join()}`);
});

test("a promise keeps a program alive while the server is down; a closed cache does not", async (t) => {
  const { url, asked } = await serve(t, () => ({ status: 503, body: "" }));
  const said = await run(
    url,
    `
      init(url).catch(() => {});
      const waits = Promise.allSettled([pods.synced(), pods.list(), pods.informer().synced]);
      setTimeout(() => void cache.close(), 1_900).unref();
      console.log((await waits).map(({ reason }) => reason.code).join());
      console.log(await outcome(pods.synced()), pods.status.phase);
    `,
  );
  assert.deepEqual(said, ["closed,closed,closed", "closed closed"]);
  assert.ok(asked.length >= 2, `${asked.length} requests`);
});

test("resume tries again at once, for all resources of all caches", async (t) => {
  const { url, asked } = await serve(t, (request) => (request <= 3 ? { status: 500, body: "" } : {}));
  const said = await run(
    url,
    `
      const other = createWatchCache().resource({ source: upstream, id: "other" });
      await outcome(init(url));
      const waits = [pods.synced(), other.synced()];
      while (pods.status.attempt < 3) await sleep(10);
      const began = performance.now();
      pods.resume();
      await Promise.all(waits);
      console.log(performance.now() - began < 1_500);
      process.exit();
    `,
  );
  assert.deepEqual(said, ["true"]);
  assert.equal(asked.length, 4);
});

test("what can never succeed is told once, and nothing loops; a file that is not there is that", async (t) => {
  const { url, asked } = await serve(t, () => ({ type: "text/html", body: "<!doctype html>" }));
  const program = (address) => `
    init(${address}).catch(() => {});
    const told = [];
    pods.addEventListener("status", ({ detail }) => {
      void pods.size;
      told.push(detail.phase);
    });
    pods.addEventListener("error", () => pods.resume());
    const informer = pods.informer();
    const waits = [pods.synced(), pods.list(), informer.synced, pods.watch().next()];
    console.log((await Promise.all(waits.map(outcome))).join());
    await sleep(500);
    console.log(pods.status.phase, pods.status.error.code, pods.status.retryAt, informer.isStopped, told.length < 40);
  `;
  assert.deepEqual(await run(url, program("url")), ["decode,decode,decode,decode", "failed decode undefined true true"]);
  // Two requests for each try, and three early tries a minute.
  assert.ok(asked.length <= 8, `${asked.length} requests`);
  const missing = await run(url, program('new URL("file:///no/such/file.wasm")'));
  assert.deepEqual(missing, ["network,network,network,network", "failed network undefined true true"]);
});

test("the instance that comes first is adopted, while others are on their way", async (t) => {
  const { url } = await serve(t, () => {});
  const said = await run(
    url,
    `
      const bytes = readFileSync(file);
      const other = bytes.subarray(0, 8);
      const coming = [init(url), init(url), init(new URL(url)), init(fetch(url)), init(other), init(bytes), init()];
      initSync(bytes);
      console.log((await Promise.all(coming.map(outcome))).join());
      await pods.synced();
      const module = new WebAssembly.Module(bytes);
      console.log((await Promise.all([init(), init(url), init(bytes), init(module), init(other), init(fetch(url))].map(outcome))).join());
      initSync(module);
      console.log(pods.size, pods.peek("a/x").metadata.name, cache.stats().resources.length);
      await cache.close();
    `,
  );
  assert.deepEqual(said, ["well,well,well,well,invalid,well,well", "well,well,well,well,invalid,well", "2 x 1"]);
});

test("a host that instantiates large modules only in its own time: one instance, however many ask meanwhile", async (t) => {
  const { url } = await serve(t, () => {});
  const said = await run(
    url,
    `
      // As Chromium's main thread did for years.
      let instances = 0;
      WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
        construct() {
          throw new RangeError("WebAssembly.Instance is disallowed on the main thread");
        },
      });
      const { instantiate } = WebAssembly;
      WebAssembly.instantiate = async (...given) => {
        await sleep(50);
        instances += given[0] instanceof WebAssembly.Module && WebAssembly.Module.imports(given[0]).length > 100 ? 1 : 0;
        return instantiate(...given);
      };
      const bytes = readFileSync(file);
      const sync = () => {
        try {
          return initSync(bytes) ?? "well";
        } catch ({ code, message }) {
          return code + ": " + message.split(":")[0];
        }
      };
      console.log(sync());
      const coming = [init(bytes), init(url), init(new Uint8Array(bytes))];
      await sleep(40);
      console.log(sync());
      console.log((await Promise.all(coming.map(outcome))).join(), sync(), instances);
      await pods.synced();
      console.log(pods.size);
      await cache.close();
    `,
  );
  const refused = "invalid: this host does not load the WebAssembly at once";
  assert.equal(said[0], refused);
  assert.ok([refused, "invalid: init() is instantiating the WebAssembly already"].includes(said[1]), said[1]);
  assert.deepEqual(said.slice(2), ["well,well,well well 1", "2"]);
});
