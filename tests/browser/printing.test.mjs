// What `console.log` shows in Chromium, which calls no getters: the previews that its DevTools print, by the DevTools protocol.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm", html: "text/html" };
const PAGE = '<!doctype html><title>printing</title><script type="module" src="/tests/browser/printing-page.js"></script>';

let server;
let browser;

before(async () => {
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const known = /^\/(dist|tests\/browser|tests\/js\/lib)\/[\w/-]+\.\w+$/.test(pathname);
    const body = pathname === "/" ? PAGE : known ? await readFile(ROOT + pathname).catch(() => undefined) : undefined;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": TYPES[pathname.split(".")[1] ?? "html"] ?? "text/plain" });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch(launchOptions());
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** What the console prints of one argument before anybody opens it. */
function line({ type, value, description, preview }) {
  if (type === "string") return value;
  if (preview === undefined) return description;
  const members = preview.properties.map(
    ({ name, value, type, subtype }) => `${name}: ${type === "string" ? `"${value}"` : value || subtype || type}`,
  );
  return `${preview.description} {${[...members, ...(preview.overflow ? ["…"] : [])].join(", ")}}`;
}

test("the console shows types, keys, versions and counts, and no number of ours", async () => {
  const page = await (await browser.newContext()).newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  const protocol = await page.context().newCDPSession(page);
  const printed = {};
  protocol.on("Runtime.consoleAPICalled", ({ args: [name, ...args] }) => (printed[name.value] = args.map(line).join(" ")));
  await protocol.send("Runtime.enable");
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  await page.waitForFunction(() => globalThis.ready !== undefined);
  const { decoded } = await page.evaluate(() => globalThis.ready);
  assert.deepEqual(errors, []);
  assert.equal(decoded, 0, "nothing was decoded for the console");

  assert.equal(printed["list"], 'List {items: Proxy(Array), resourceVersion: "102", raw: accessor, Symbol(count): 2}');
  assert.equal(printed["items"], "Proxy(Array) {0: Undecoded, 1: Undecoded}");
  assert.match(printed["resource"], /^Resource \{#resource: "pods", #phase: "live", /);
  assert.match(printed["cache"], /^WatchCache \{#resources: Map\(1\), /);
  assert.equal(printed["deletion"], 'DeletedObject {#notification: InformerEvent, key: "a/y", finalStateUnknown: false}');
  assert.match(printed["event"], /^WatchEvent \{#type: "ADDED", #key: undefined, #version: undefined, /);
  assert.match(printed["event that was read"], /^WatchEvent \{#type: "ADDED", #key: "a\/x", #version: "101", /);
  assert.match(printed["notification"], /^InformerEvent \{#type: "add", /);
  assert.match(printed["watcher"], /^Watcher \{#watcher: \w+, ended: Promise/);
  assert.match(printed["informer"], /^Informer \{/);
  assert.match(printed["registration"], /^HandlerRegistration \{/);
  assert.equal(printed["texts"], "ADDED a/x @101 add a/x @101 delete a/y @103");
  // Counts of collections have names; what is left are texts, and numbers would be ids and places.
  for (const [name, text] of Object.entries(printed)) assert.doesNotMatch(text, /#\w+: -?\d/, `${name}: ${text}`);
});
