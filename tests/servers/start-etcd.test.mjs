/** The page of `npm start -- --etcd`, in a browser of its own: its keys live, its filter, a write, and a leader that is killed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { root } from "../../scripts/lib/project.mjs";

test("the page shows the keys live, also while the leader is killed", { timeout: 90_000 }, async (t) => {
  const server = spawn(process.execPath, [join(root, "tests/servers/start-etcd/main.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  t.after(async () => {
    server.kill("SIGTERM");
    assert.equal(await ended, 0, "it ends in good order");
  });
  let url = "";
  for await (const line of createInterface(server.stdout)) if ((url = line).startsWith("http")) break;
  const browser = await chromium.launch(launchOptions());
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1000, height: 720 } });
  /** @type {string[]} */
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(url);
  await page.waitForFunction(() => document.querySelector("#phase")?.textContent === "live");
  const revision = async () => Number(/revision (\d+)/.exec(await page.locator("#summary").innerText())?.[1]);
  const isBeyond = (/** @type {number} */ before) =>
    page.waitForFunction(
      (least) => Number(/revision (\d+)/.exec(document.querySelector("#summary")?.textContent ?? "")?.[1]) > least,
      before,
      { timeout: 20_000 },
    );
  await isBeyond(await revision());
  assert.equal(await page.locator("tbody tr").count(), 25);
  await page.locator("#touch").click();
  await page.locator("#search").fill("touched");
  await page.waitForFunction(() => document.querySelector("tbody")?.textContent?.includes("touched"));
  assert.match(await page.locator("tbody").innerText(), /touched\s+\d+\s+\d+\s+\{"times":1\}/);
  await page.locator("#search").fill("");
  await page.locator("#kill").click();
  const before = await revision();
  await isBeyond(before + 5);
  await page.waitForFunction(() => document.querySelector("#phase")?.textContent === "live");
  mkdirSync(join(root, "artifacts"), { recursive: true });
  await page.screenshot({ path: join(root, "artifacts/etcd.png") });
  assert.deepEqual(problems, []);
});
