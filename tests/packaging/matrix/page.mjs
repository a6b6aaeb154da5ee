// An app of the matrix in Chromium: what it must show, and what it must not say.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { launchOptions } from "../../../scripts/lib/browser.mjs";
import { startServer } from "../../../www/server/index.mjs";

const NAMESPACE = "shop";
const collection = (url) => `${url}/api/v1/namespaces/${NAMESPACE}/pods`;

/** The embedded API server, quiet: with no traffic, what is on it is what the test did. */
export const serve = (options) => startServer({ port: 0, pods: 60, rate: 0, ...options });

export async function podNames(url) {
  const { items } = await (await fetch(collection(url))).json();
  return items.map((pod) => pod.metadata.name).sort();
}

export async function createPod(url, name) {
  const spec = { nodeName: "node-01", containers: [{ name: "main", image: "example.com/main:1" }] };
  const body = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: NAMESPACE }, spec });
  const answer = await fetch(collection(url), { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(answer.status, 201, await answer.text());
}

/** Lets the server's answer through with another content security policy. */
const withPolicy = (policy) => async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, headers: { ...response.headers(), "content-security-policy": policy } });
};

/** Opens an address in a browser of its own. What its console calls an error, and every request that failed, is in `noise`. */
export async function openPage(url, { policy, ...options } = {}) {
  const browser = await chromium.launch(launchOptions());
  const page = await browser.newPage(options);
  const noise = [];
  page.on("console", (message) => message.type() === "error" && noise.push(message.text()));
  page.on("pageerror", (error) => noise.push(String(error)));
  page.on("response", (response) => response.status() >= 400 && noise.push(`${response.status()} ${response.url()}`));
  // Browsers ask every page for it, and none of the apps has one.
  await page.route("**/favicon.ico", (route) => route.fulfill({ status: 204 }));
  if (policy !== undefined) await page.route(url, withPolicy(policy));
  await page.goto(url);
  return { page, noise, close: () => browser.close() };
}

const text = (page, selector) =>
  page
    .locator(selector)
    .textContent({ timeout: 1_000 })
    .catch(() => "");

/** The rows are there, one that is created appears, and the console has nothing to complain about. */
export async function showsLiveRows(url, api, options) {
  const names = await podNames(api);
  assert.ok(names.length > 5, "the server has pods in the namespace");
  const { page, noise, close } = await openPage(url, options);
  try {
    const shown = () => page.locator("#pods li").allTextContents();
    const wait = (total) =>
      // Before a view is loaded its total may be there without its rows.
      page.waitForFunction(
        (wanted) =>
          document.querySelector("#total")?.textContent === String(wanted) && document.querySelectorAll("#pods li").length === wanted,
        total,
        { timeout: 60_000 },
      );
    try {
      await wait(names.length);
    } catch {
      assert.fail(`no rows; the app says: ${await text(page, "#error")}; the console says: ${noise.join("\n")}`);
    }
    assert.deepEqual(await shown(), names);
    await createPod(api, "aaa-fresh");
    await wait(names.length + 1);
    assert.deepEqual(await shown(), ["aaa-fresh", ...names]);
    assert.deepEqual(noise, [], "the console has nothing to complain about");
  } finally {
    await close();
  }
}

/** Pages of the app find the worker's script, in both ways to start it, and show its rows. */
export async function findsTheWorker(url, options) {
  for (const mode of ["shared", "worker"]) {
    const { page, noise, close } = await openPage(`${url}${url.includes("?") ? "&" : "?"}mode=${mode}`, options);
    try {
      await page.waitForFunction(() => document.querySelectorAll("#pods li").length > 5, undefined, { timeout: 60_000 });
      assert.equal(await text(page, "#mode"), mode, noise.join("\n"));
      assert.deepEqual(noise, [], "the console has nothing to complain about");
    } finally {
      await close();
    }
  }
}

/** The app shows no rows, and says why. Returns what it says. */
export async function saysWhy(url, options) {
  const { page, close } = await openPage(url, options);
  try {
    await page.waitForFunction(() => document.querySelector("#error")?.textContent !== "", undefined, { timeout: 60_000 });
    return await text(page, "#error");
  } finally {
    await close();
  }
}
