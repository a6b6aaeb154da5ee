// What the tests of `watchcache/compat/openshift` share: two servers, one page with both subjects in Chromium, and what may be asked of them.
import assert from "node:assert/strict";
import { after, afterEach, before } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../../scripts/lib/browser.mjs";
import { startServer } from "../../../www/server/index.mjs";
import { servePage } from "./install.mjs";

export const NAMES = ["original", "ours"];
/** The original waits half a second for each look at its socket, and 15 after a broken one. */
const PATIENCE_MS = 25_000;

export let server;
/** Another cluster, of a provider in the page. */
export let other;
let site;
let browser;
export let page;
/** What the page said that nobody expects. */
export const said = [];
const EXPECTED = [
  "Attempted to create multiple websockets",
  "Failed to load resource",
  "WebSocket",
  "is gone with no deletion timestamp",
  "The result function returned its own inputs",
  "there is no cache here",
  // What it was is told apart from this.
  "The above error occurred in the <",
];

before(async () => {
  server = await startServer({ port: 0, pods: 0, rate: 0 });
  other = await startServer({ port: 0, pods: 0, rate: 0 });
  site = await servePage({ kubernetes: server.url, other: other.url });
  browser = await chromium.launch(launchOptions());
  page = await browser.newPage();
  const hear = (text) => EXPECTED.some((words) => text.includes(words)) || said.push(text);
  page.on("pageerror", (error) => hear(String(error.stack)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && hear(message.text()));
  await page.goto(site.url);
  await page.waitForFunction(() => "show" in globalThis);
  for (const name of ["a", "b"]) await request("POST", "/api/v1/namespaces", { metadata: { name } });
});

after(async () => {
  await browser?.close();
  await site?.close();
  await server?.close();
  await other?.close();
});

/** No test sees what another one made. */
afterEach(async () => {
  server.control.fault("clear");
  for (const namespace of ["a", "b"]) {
    const { items } = await request("GET", configMaps(namespace));
    for (const { metadata } of items) await remove(namespace, metadata.name);
  }
});

export async function request(method, path, body, type = "application/json") {
  const response = await fetch(server.url + path, {
    method,
    ...(body && { headers: { "content-type": type }, body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}

export const configMaps = (namespace) => `/api/v1/namespaces/${namespace}/configmaps`;
export const short = ({ metadata: { namespace, name, resourceVersion } }, kind = "v1/ConfigMap") =>
  `${kind} ${namespace ? `${namespace}/` : ""}${name}@${resourceVersion}`;

/** @returns {Promise<string>} as components are given it: `v1/ConfigMap a/x@7` */
export async function create(namespace, name, labels = { app: "web" }) {
  return short(await request("POST", configMaps(namespace), { metadata: { name, labels }, data: { n: "0" } }));
}
export async function label(namespace, name, labels) {
  return short(await request("PATCH", `${configMaps(namespace)}/${name}`, { metadata: { labels } }, "application/merge-patch+json"));
}
export const remove = (namespace, name) => request("DELETE", `${configMaps(namespace)}/${name}`);

export const CONFIG_MAPS = { groupVersionKind: { version: "v1", kind: "ConfigMap" }, isList: true };
export const configMap = (namespace, name) => ({ groupVersionKind: { version: "v1", kind: "ConfigMap" }, namespace, name });
export const list = (data) => ({ data: [...data].sort(), loaded: true, error: "none" });

let components = 0;
/** A name that no component had. */
export const another = (what) => `${what} ${++components}`;
/** One component of each subject, until the test ends. */
export async function both(t, spec, options) {
  const ids = NAMES.map((name) => another(name));
  const render = (spec) =>
    Promise.all(ids.map((id, i) => page.evaluate((given) => globalThis.show(...given), [id, NAMES[i], spec, options])));
  const end = () => Promise.all(ids.map((id) => page.evaluate((id) => globalThis.end(id), id)));
  t.after(end);
  await render(spec);
  return {
    ids,
    render,
    end,
    given: (i) => page.evaluate((id) => globalThis.given(id), ids[i]),
    /** Waits until it is given to each of them; of two expected values the first is the original's. */
    async have(expected, ours = expected) {
      for (const [i, wanted] of [expected, ours].entries()) {
        await eventually(() => this.given(i), wanted, `${NAMES[i]} of ${JSON.stringify(spec)}`);
      }
    },
  };
}

export async function eventually(read, wanted, what) {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const seen = await read();
    try {
      return assert.deepEqual(seen, wanted, what);
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Both do the same call, one after the other. */
export async function calls(call, options, pick = "(value) => value") {
  const answers = [];
  for (const name of NAMES) {
    const given = typeof options === "function" ? await options(name) : options;
    answers.push(
      await page.evaluate(([name, call, given, pick]) => globalThis.call(name, call, given, eval(pick)), [name, call, given, pick]),
    );
  }
  return answers;
}

export const streams = () => server.control.status().streams.length;
