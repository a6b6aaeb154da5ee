// The browser has its turn between slices of work and draws in it, so frames go on while a view over many objects is built.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../../scripts/lib/project.mjs";
import { chromiumOnly } from "../engines/launch.mjs";
import { launch, open, serve } from "./harness.mjs";

/** So many that a view of them takes several times as long as Chromium lets a page starve, on a quick machine, too. */
const PODS = 50_000;
const FOLDER = join(root, "artifacts/turns");
/** After so long without a frame Chromium lets one go before everything else: what is slower than that only ever had this. */
const STARVED_MS = 100;

/** How long a page may starve is each engine's own. */
const OF_CHROMIUM = chromiumOnly("the limit that this looks for is Chromium's");

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  cpSync(join(root, "dist"), join(FOLDER, "dist"), { recursive: true });
  // Browsers ask for it, and say so where it is not.
  writeFileSync(join(FOLDER, "favicon.ico"), "");
  writeFileSync(join(FOLDER, "index.html"), '<!doctype html><script type="module" src="./page.js"></script>');
  writeFileSync(
    join(FOLDER, "page.js"),
    `import { createWatchCache } from "./dist/index.js";
     globalThis.pods = createWatchCache().resource("pods");
     await pods.synced();
     globalThis.ready = true;`,
  );
  server = await serve({ pods: PODS, rate: 0, root: FOLDER });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.close();
});

test("frames go on while a view over many objects is built", OF_CHROMIUM, async (t) => {
  const { page, said, close } = await open(browser, server.url);
  await page.waitForFunction(() => globalThis.ready === true);
  const rounds = [];
  for (const path of ["spec.nodeName", "status.podIP", "status.startTime", "spec.serviceAccountName", "status.hostIP", "spec.priority"])
    rounds.push(
      await page.evaluate(async (order) => {
        await new Promise((resolve) => setTimeout(resolve, 800));
        await new Promise((resolve) => requestAnimationFrame(resolve));
        /** @type {number[]} */
        const frames = [];
        let running = true;
        requestAnimationFrame(function look() {
          frames.push(performance.now());
          if (running) requestAnimationFrame(look);
        });
        const began = performance.now();
        const view = globalThis.pods.view({ orderBy: [{ path: order }], window: { offset: 0, limit: 20 } });
        await new Promise((resolve) => view.subscribe(() => view.getSnapshot().loaded && resolve(undefined)));
        running = false;
        return { ms: performance.now() - began, frames: frames.length };
      }, path),
    );
  t.diagnostic(JSON.stringify(rounds));
  // On a busy machine frames come late as well; that they never come more often than this is another thing.
  const each = rounds.map(({ ms, frames }) => ms / frames);
  assert.ok(Math.max(...rounds.map(({ ms }) => ms)) > STARVED_MS, "there was enough to do");
  assert.ok(Math.min(...each) < STARVED_MS / 2, `a frame each ${each.map(Math.round)} ms`);
  assert.deepEqual(said, []);
  await close();
});
