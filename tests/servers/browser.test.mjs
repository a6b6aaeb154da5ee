/** The package in a page, against kube-apiserver: the browser's own fetch and WebSocket, through a proxy on the page's origin. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";
import { after, before, describe, it } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { root } from "../../scripts/lib/project.mjs";
import { Place } from "../e2e/target.mjs";
import { concurrently } from "../e2e/wire.mjs";
import { Proxy } from "./harness/proxy.mjs";
import { kubeApiServerTarget } from "./kube-apiserver-target.mjs";

const TYPES = /** @type {Record<string, string>} */ ({ ".js": "text/javascript", ".wasm": "application/wasm" });

/** What a careful application allows its page: nothing inline, no eval, only its own origin. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:";

/**
 * Serves an empty page at / and the built package under /dist/; the rest is the apiserver's.
 * @type {import("./harness/proxy.mjs").ProxyOptions["serve"]}
 */
function servePage(request, response) {
  const { pathname } = new URL(request.url ?? "/", "http://page");
  if (pathname === "/") {
    response
      .writeHead(200, { "content-type": "text/html", "content-security-policy": POLICY })
      .end('<!doctype html><link rel="icon" href="data:,"><title>pods</title>');
    return true;
  }
  if (!pathname.startsWith("/dist/")) return false;
  const type = TYPES[extname(pathname)];
  const path = normalize(join(root, pathname));
  if (!type || !path.startsWith(join(root, "dist"))) response.writeHead(404).end();
  else response.writeHead(200, { "content-type": type }).end(readFileSync(path));
  return true;
}

describe("kube-apiserver, from a page", () => {
  /** @type {Awaited<ReturnType<typeof kubeApiServerTarget>>} */
  let target;
  /** @type {Proxy} */
  let origin;
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    target = await kubeApiServerTarget();
    origin = await Proxy.start({ upstream: target.cluster.secureUrl, ca: () => target.cluster.certificate, serve: servePage });
    browser = await chromium.launch(launchOptions());
  });
  after(async () => {
    await browser?.close();
    await origin?.close();
    await target?.stop();
  });

  it("lists, watches with its token, and goes on after a drop and a crash", async () => {
    const place = await Place.create(target);
    await concurrently(120, (i) => place.create(`pod-${i}`, { labels: { app: "web" } }));
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(String(error)));
    await page.goto(origin.url);

    /** Waits until the page holds exactly what the server lists. */
    const agrees = async () => {
      const truth = (await place.api.list(place.pods)).items.map((o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort();
      await page.waitForFunction((expected) => globalThis["rows"]?.().join() === expected, truth.join(), { timeout: 30_000 });
      return truth.length;
    };

    await page.evaluate(
      async ({ token, namespace }) => {
        const { createWatchCache } = await import(/** @type {any} */ ("/dist/index.js"));
        const cache = createWatchCache({ auth: () => ({ token }), pageSize: 50, retry: { initialMs: 50, capMs: 500 } });
        const pods = cache.resource({ version: "v1", resource: "pods", namespace });
        const view = pods.view();
        view.subscribe(() => {});
        Object.assign(globalThis, {
          pods,
          rows: () => view.rows.map((/** @type {any} */ o) => `${o.metadata.name}@${o.metadata.resourceVersion}`).sort(),
        });
        await pods.synced();
      },
      { token: target.token, namespace: place.namespace },
    );
    assert.equal(await agrees(), 120);
    assert.deepEqual(complaints, [], "nothing to complain about while all is well");

    await concurrently(30, (i) => place.label(`pod-${i}`, { app: "api" }));
    await place.delete("pod-7");
    await agrees();

    origin.drop();
    await concurrently(30, (i) => place.create(`late-${i}`));
    await agrees();

    await target.crash();
    await place.delete("late-3");
    assert.equal(await agrees(), 148);
    assert.equal(await page.evaluate(() => globalThis["pods"].status.phase), "live");
    // The browser itself reports each connection that failed; the package adds nothing to that.
    for (const line of complaints) assert.match(line, /WebSocket connection to|Failed to load resource/);
    await page.close();
  });
});
