// An API server that a page may not ask: its own policy forbids it, or the server does not allow the page's origin. Browsers say "Failed to fetch".
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ENGINE, except, launchBrowser } from "../engines/launch.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What `fetch` says of a request that got no answer, or whose answer the page may not read. */
const NO_ANSWER = { chromium: "Failed to fetch", firefox: "NetworkError when attempting to fetch resource.", webkit: "Load failed" }[
  ENGINE
];
const SECRET = "a-secret";
let page;
let api;
let browser;
let policy;

const listening = (server) => new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = (server) => `http://127.0.0.1:${server.address().port}`;

before(async () => {
  page = createServer(async (request, response) => {
    const isScript = /^\/dist\/[\w/-]+\.(js|wasm)$/.test(request.url);
    if (!isScript && request.url !== "/") return response.writeHead(404).end();
    const type = request.url.endsWith(".wasm") ? "application/wasm" : isScript ? "text/javascript" : "text/html";
    response.writeHead(200, { "content-type": type, ...(policy && { "content-security-policy": policy }) });
    response.end(isScript ? await readFile(ROOT + request.url) : "<!doctype html><title>page</title>");
  });
  // It answers, without a word of CORS.
  api = createServer((_request, response) => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  await Promise.all([listening(page), listening(api)]);
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  page?.close();
  api?.close();
});

/** What the page's resource has to say after its first try. */
async function said(t, server) {
  const context = await browser.newContext();
  t.after(() => context.close());
  const tab = await context.newPage();
  await tab.goto(origin(page));
  return tab.evaluate(
    async ([server, SECRET]) => {
      const { createWatchCache } = await import("/dist/index.js");
      const cache = createWatchCache({ server, auth: () => ({ token: SECRET, query: { secret: SECRET } }) });
      const pods = cache.resource("pods");
      pods.view().subscribe(() => {});
      while (pods.status.phase !== "reconnecting") await new Promise((resolve) => setTimeout(resolve, 5));
      const { code, message } = pods.status.error;
      return { code, message };
    },
    [server, SECRET],
  );
}

test("a policy without the server in its connect-src is named, with the address", async (t) => {
  policy = "connect-src 'self'";
  const { code, message } = await said(t, origin(api));
  assert.equal(code, "network");
  assert.ok(message.startsWith(`the request to ${origin(api)}/api/v1/pods got no answer: `), message);
  assert.match(message, /: the page's Content-Security-Policy forbids it: its connect-src must allow this address$/);
});

test("a server that does not allow the page's origin is named, with what it must allow", async (t) => {
  policy = undefined;
  const { code, message } = await said(t, origin(api));
  assert.equal(code, "network");
  assert.equal(
    message,
    `the request to ${origin(api)}/api/v1/pods got no answer: ${NO_ANSWER}; where that server is up, it must allow the origin ${origin(page)} (CORS)`,
  );
});

test("the page's own origin needs no such leave", except({ webkit: "WebDriver has no requests fail there" }), async (t) => {
  policy = undefined;
  const context = await browser.newContext();
  t.after(() => context.close());
  const tab = await context.newPage();
  await tab.goto(origin(page));
  await tab.route("**/api/**", (route) => route.abort("connectionrefused"));
  const message = await tab.evaluate(async () => {
    const { createWatchCache } = await import("/dist/index.js");
    const pods = createWatchCache().resource("pods");
    pods.view().subscribe(() => {});
    while (pods.status.phase !== "reconnecting") await new Promise((resolve) => setTimeout(resolve, 5));
    return pods.status.error.message;
  });
  assert.equal(message, `the request to ${origin(page)}/api/v1/pods got no answer: ${NO_ANSWER}`);
});
