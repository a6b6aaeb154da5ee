// The chip's other words: a server that wants a token, one that says no, one that answers nonsense; and a cluster behind a proxy.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { REQUESTS, integrityAfter, keep, launch, live, open, says, serve } from "./harness.mjs";

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

test("signed out: a server that wants a token which the page has not", async () => {
  const server = await serve({ pods: 20, rate: 0, tokens: ["a-token"] });
  const { page, said, close } = await open(browser, server.url);
  try {
    await says(page, "chip", "signed out");
    await keep(page, "signed-out");
    // The browser itself reports the refused request; the page adds nothing.
    assert.deepEqual(
      said.filter((line) => !/^error: Failed to load resource: .*401/.test(line)),
      [],
    );
  } finally {
    await close();
    await server.close();
  }
});

test("server says no: its own message is shown", async () => {
  const server = await serve({ pods: 20, rate: 0 });
  server.control.fault("status", { code: 403 });
  const { page, said, close } = await open(browser, server.url);
  try {
    await says(page, "chip", /^server says no: .*403/);
    assert.deepEqual(
      said.filter((line) => !/^error: Failed to load resource: .*403/.test(line)),
      [],
    );
  } finally {
    await close();
    await server.close();
  }
});

test("--proxy: another server's pods, the integrity by its exact list, and no faults offered", REQUESTS, async () => {
  const cluster = await serve({ pods: 300, rate: 20 });
  const server = await serve({ proxy: cluster.url });
  const { page, said, hosts, close } = await open(browser, server.url);
  try {
    await live(page);
    assert.equal(await page.locator(".faults").count(), 0);
    const verdict = await integrityAfter(page, 0);
    assert.deepEqual([verdict.lost, verdict.duplicated, verdict.outOfOrder, verdict.objects.equal], [0, 0, 0, true]);
    const there = cluster.control.digest("pods", String(verdict.version));
    assert.equal(verdict.objects.here, there.count, "as many as the cluster had at that version");
    assert.deepEqual([...hosts], [new URL(server.url).host]);
    assert.deepEqual(said, []);
  } finally {
    await close();
    await server.close();
    await cluster.close();
  }
});

test("the integrity line says so when cache and server differ", REQUESTS, async () => {
  const server = await serve({ pods: 200, rate: 20 });
  const { page, said, close } = await open(browser, server.url);
  try {
    await live(page);
    // One object is held in another version, one is missing in the cache, one is there though the server has it no more.
    await page.route("**/demo/digest*", async (route) => {
      const response = await route.fetch();
      const digest = await response.json();
      digest.items[0][1] = "1";
      digest.items[1][0] = "nowhere/at-all";
      await route.fulfill({ response, json: digest });
    });
    const verdict = await integrityAfter(page, Number(server.control.status().resourceVersion));
    assert.deepEqual([verdict.lost, verdict.duplicated, verdict.outOfOrder], [2, 1, 0]);
    await page.unroute("**/demo/digest*");
    const later = await integrityAfter(page, Number(server.control.status().resourceVersion));
    assert.deepEqual([later.lost, later.duplicated, later.outOfOrder], [0, 0, 0]);
    assert.deepEqual(said, []);
  } finally {
    await close();
    await server.close();
  }
});
