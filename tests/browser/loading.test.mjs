// The WebAssembly does not load: the server answers 404, or a policy forbids it. Or it loads in an unusual place: twice in one page, in
// workers, in a frame that is made of a text.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchBrowser } from "../engines/launch.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm", html: "text/html" };

let server;
let browser;
/** How a path is answered, where not by the file: a status, or headers and a body. */
let answers;
let asked;

before(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    asked.push(pathname);
    const { status, headers, body } = answers[pathname] ?? {};
    // A second copy of the package has addresses of its own.
    const path = pathname.replace(/^\/copy\//, "/");
    const known = /^\/(dist|tests\/js\/lib)\/[\w/-]+\.\w+$/.test(path);
    const content =
      body ??
      (pathname === "/" ? "<!doctype html><title>loading</title>" : known ? await readFile(ROOT + path).catch(() => {}) : undefined);
    const type = TYPES[pathname.split(".")[1] ?? "html"] ?? "text/plain";
    response.writeHead(status ?? (content === undefined ? 404 : 200), { "content-type": type, ...headers });
    response.end(status === undefined ? content : "");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await launchBrowser();
});

after(async () => {
  await browser?.close();
  server?.close();
});

const WASM = "/dist/wasm/watchcache_bg.wasm";
const at = (path) => `http://127.0.0.1:${server.address().port}${path}`;
const loads = () => asked.filter((path) => path === WASM).length;

/** A page, whose functions find the package and a resource of two pods. */
async function open(t, { replies = {}, path = "/" } = {}) {
  answers = replies;
  asked = [];
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  page.on("pageerror", (error) => t.diagnostic(String(error)));
  await page.goto(at(path));
  await page.evaluate(() => {
    globalThis.podsOf = async (base = "") => {
      const { createWatchCache, ...rest } = await import(`${base}/dist/index.js`);
      const { memorySource } = await import("/dist/memory/index.js");
      const { pod } = await import("/tests/js/lib/pod.mjs");
      const cache = createWatchCache({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
      const source = memorySource({ objects: [pod("a/x"), pod("a/y")] });
      return { ...rest, cache, pods: cache.resource({ source, id: "pods" }) };
    };
  });
  return page;
}

test("404 while a component reads: a handful of requests; all that waits goes on when the page is online again", async (t) => {
  const page = await open(t, { replies: { [WASM]: { status: 404 } } });
  await page.evaluate(async () => {
    const { pods } = await globalThis.podsOf();
    const view = pods.view();
    const read = () => {
      void view.total;
      requestAnimationFrame(read);
    };
    read();
    pods.addEventListener("status", () => void pods.size);
    globalThis.pods = pods;
    globalThis.waits = Promise.all([pods.synced(), pods.informer().synced, pods.watch().next(), pods.list()]).then(() => pods.size);
  });
  await page.waitForTimeout(5_000);
  assert.ok(loads() >= 2 && loads() <= 4, `${loads()} requests in five seconds`);
  const { phase, attempt, retryAt, code } = await page.evaluate(() => ({
    ...globalThis.pods.status,
    code: globalThis.pods.status.error.code,
  }));
  assert.deepEqual([phase, attempt, code], ["loading", loads(), "network"]);
  assert.ok(retryAt > Date.now());
  answers = {};
  const total = await page.evaluate(() => {
    globalThis.dispatchEvent(new Event("online"));
    return Promise.race([globalThis.waits, new Promise((resolve) => setTimeout(resolve, 1_000, "late"))]);
  });
  assert.equal(total, 2);
  assert.equal(await page.evaluate(() => globalThis.pods.status.error), undefined);
});

test("a policy that forbids WebAssembly is told once, with its remedy, and nothing is asked for", async (t) => {
  const headers = { "content-security-policy": "script-src 'self' 'unsafe-inline'" };
  const page = await open(t, { replies: { "/": { headers, body: "<!doctype html><title>policy</title>" } } });
  const told = await page.evaluate(async () => {
    const { pods, init } = await globalThis.podsOf();
    const seen = [];
    for (const type of ["status", "error"]) {
      pods.addEventListener(type, ({ detail }) => {
        void pods.size;
        seen.push(`${type} ${detail.phase}`);
      });
    }
    const reasons = await Promise.allSettled([pods.synced(), pods.informer().synced, pods.watch().next(), init()]);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    seen.push("resume");
    pods.resume();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { seen, codes: reasons.map(({ reason }) => reason.code), message: pods.status.error.message };
  });
  assert.deepEqual(told.codes, ["decode", "decode", "decode", "decode"]);
  assert.match(told.message, /Content-Security-Policy forbids it: add 'wasm-unsafe-eval' to its script-src/);
  const before = told.seen.slice(0, told.seen.indexOf("resume"));
  assert.deepEqual(before, ["status loading", "status failed", "error failed"]);
  assert.ok(!told.seen.includes("status loading", before.length), "what nothing changes is not tried again");
  assert.equal(loads(), 0);
});

test("a policy that forbids the connection is told once, too, and is no network that might come back", async (t) => {
  const headers = { "content-security-policy": "connect-src 'none'" };
  const page = await open(t, { replies: { "/": { headers, body: "<!doctype html><title>policy</title>" } } });
  const { phase, attempt, message } = await page.evaluate(async () => {
    const { pods } = await globalThis.podsOf();
    await pods.synced().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return { ...pods.status, message: pods.status.error.message };
  });
  assert.deepEqual([phase, attempt, loads()], ["failed", 1, 0]);
  assert.match(message, /its connect-src must allow this address \(http:.*watchcache_bg\.wasm\)/);
});

test("a page instead of the WebAssembly is told once, and asked for again only by resume", async (t) => {
  const page = await open(t, { replies: { [WASM]: { headers: { "content-type": "text/html" }, body: "<!doctype html>" } } });
  await page.evaluate(async () => {
    globalThis.pods = (await globalThis.podsOf()).pods;
    globalThis.pods.view().subscribe(() => {});
    await globalThis.pods.synced().catch(() => {});
  });
  await page.waitForTimeout(2_000);
  assert.equal(loads(), 2);
  assert.match(await page.evaluate(() => globalThis.pods.status.error.message), /answered with text\/html/);
  answers = {};
  await page.evaluate(async () => {
    globalThis.pods.resume();
    await globalThis.pods.synced();
  });
});

test("init under way, and bytes given meanwhile: one instance, and later bytes are refused", async (t) => {
  const page = await open(t);
  const outcomes = await page.evaluate(async (wasm) => {
    const { init, initSync, pods } = await globalThis.podsOf();
    const bytes = new Uint8Array(await (await fetch(wasm)).arrayBuffer());
    const module = await WebAssembly.compile(bytes);
    const coming = [init(), init(bytes), init(wasm), init(bytes.subarray(0, 8))];
    let sync = "well";
    try {
      initSync(module);
    } catch (error) {
      sync = error.message;
    }
    const settled = await Promise.allSettled([...coming, pods.synced()]);
    const later = await Promise.allSettled([init(), init(wasm), init(bytes.subarray(0, 8))]);
    return [sync, ...[...settled, ...later].map(({ reason }) => reason?.code ?? "well"), pods.size];
  }, WASM);
  assert.deepEqual(outcomes, ["well", "well", "well", "well", "invalid", "well", "well", "well", "invalid", 2]);
});

test("two copies of the package in one page do not know each other", async (t) => {
  const page = await open(t);
  const sizes = await page.evaluate(async () => {
    const copies = await Promise.all([globalThis.podsOf(), globalThis.podsOf("/copy")]);
    await Promise.all(copies.map(({ pods }) => pods.synced()));
    await copies[0].cache.close();
    return copies.map(({ pods }) => pods.size);
  });
  assert.deepEqual(sizes, [0, 2]);
});

/** A module that answers with how many pods there are, or why not. */
const script = (base, { url = "", answer }) => `
  import { createWatchCache, init } from "${base}/dist/index.js";
  import { memorySource } from "${base}/dist/memory/index.js";
  import { pod } from "${base}/tests/js/lib/pod.mjs";
  const url = "${url}";
  if (url !== "") await init(url);
  const pods = createWatchCache().resource({ source: memorySource({ objects: [pod("a/x")] }), id: "pods" });
  await pods.synced();
  ${answer}(pods.size);
`;

test("a worker, one that is made of a text, and a frame that is, load it as a page does", async (t) => {
  const page = await open(t);
  const base = at("");
  answers["/worker.js"] = { body: script(base, { answer: "postMessage" }), headers: { "content-type": "text/javascript" } };
  const [plain, blob, srcdoc] = await page.evaluate(
    async ({ worker, frame }) => {
      const heard = (target) =>
        new Promise((resolve, reject) => {
          target.onmessage = ({ data }) => resolve(data);
          target.onerror = ({ message }) => reject(new Error(message));
        });
      const ofText = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
      const inFrame = new Promise((resolve) => addEventListener("message", ({ data }) => resolve(data)));
      const element = document.createElement("iframe");
      element.srcdoc = `<script type="module">${frame}</script>`;
      document.body.append(element);
      return Promise.all([heard(new Worker("/worker.js", { type: "module" })), heard(new Worker(ofText, { type: "module" })), inFrame]);
    },
    { worker: script(base, { answer: "postMessage" }), frame: script(base, { answer: "parent.postMessage" }) },
  );
  assert.deepEqual([plain, blob, srcdoc], [1, 1, 1]);
});
