// A row opens its pod: as YAML, with what changed, with its events, and as it was last when it is gone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { PHONE, REQUESTS, byId, digits, keep, launch, live, open, rows, serve } from "./harness.mjs";

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ pods: 60, rate: 0 }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A live page, closed at the end, which has said nothing. @param {(visit: Awaited<ReturnType<typeof open>>) => Promise<void>} body @param {object} [options] */
async function visit(body, options) {
  const opened = await open(browser, server.url, options);
  try {
    await live(opened.page);
    await body(opened);
    assert.deepEqual(opened.said, []);
  } finally {
    await opened.close();
  }
}

/** @param {string} path @param {object} [init] @returns {Promise<any>} */
async function api(path, { method = "GET", body } = /** @type {any} */ ({})) {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const answer = await fetch(server.url + path, { method, headers: { "content-type": type }, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Opens the row under the cursor's next place, by the keyboard. @param {import("playwright-core").Page} page */
async function openNext(page) {
  await page.keyboard.press("j");
  await page.locator('.body [aria-selected="true"]').waitFor();
  const row = page.locator('.body [aria-selected="true"]');
  const [name, namespace] = [await row.locator(".name").innerText(), await row.locator(".namespace").innerText()];
  await page.keyboard.press("Enter");
  await byId(page, "yaml").waitFor();
  return { name, path: `/api/v1/namespaces/${namespace}/pods/${name}`, namespace };
}

/** @param {import("playwright-core").Page} page @param {string} text */
const yamlHas = (page, text) =>
  page.waitForFunction((part) => document.querySelector('[data-testid="yaml"]')?.textContent?.includes(part), text);

/** The entries of what changed, the newest first: [text, then field by field]. @param {import("playwright-core").Page} page @param {number} count */
async function versionEntries(page, count) {
  await page.waitForFunction((least) => document.querySelectorAll('[data-testid="version-entry"]').length >= least, count);
  return byId(page, "version-entry").evaluateAll((entries) =>
    entries.map((entry) => ({
      version: Number(entry.getAttribute("data-version")),
      did: entry.querySelector("p")?.textContent ?? "",
      changes: [...entry.querySelectorAll(".change")].map((change) =>
        [".path", "del", "ins"].map((part) => change.querySelector(part)?.textContent ?? null),
      ),
    })),
  );
}

test("Enter opens the pod as the server has it, focus moves in, and Escape brings it back", () =>
  visit(async ({ page }) => {
    const { name, path } = await openNext(page);
    const drawer = page.locator("dialog.drawer");
    assert.equal(await drawer.getAttribute("open"), "");
    const title = await drawer.getAttribute("aria-labelledby");
    assert.match(await page.locator(`[id="${title}"]`).innerText(), new RegExp(`^${name}`));
    assert.ok(await page.evaluate(() => document.querySelector("dialog.drawer")?.contains(document.activeElement)), "focus is inside");
    // The page's keys are not the drawer's: it scrolls by them.
    await page.keyboard.press("j");
    assert.ok(await page.evaluate(() => document.querySelector("dialog.drawer")?.contains(document.activeElement)), "and stays there");

    const { metadata, ...pod } = await api(path);
    delete metadata.managedFields;
    assert.deepEqual(parse(await byId(page, "yaml").innerText()), { ...pod, metadata });
    await keep(page, "drawer");

    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog.drawer") === null);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "grid");
    // It closes as well while the focus is on the table.
    await page.keyboard.press("Enter");
    await drawer.waitFor();
    await page.locator('[role="grid"]').focus();
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog.drawer") === null);
  }));

test("what changed is told field by field, as it comes and from the window, and the server is not asked for it", REQUESTS, () =>
  visit(async ({ page, requests }) => {
    const { path } = await openNext(page);
    assert.deepEqual(await versionEntries(page, 0), []);
    const held = await api(path);
    const lists = requests.filter((request) => request.includes("/pods")).length;
    const failed = await api(`${path}/status`, { method: "PATCH", body: { status: { phase: "Failed" } } });
    await yamlHas(page, "phase: Failed");
    const annotated = await api(path, { method: "PATCH", body: { metadata: { annotations: { "example.com/why": "a test" } } } });
    await yamlHas(page, "example.com/why: a test");
    const expected = [
      { version: Number(annotated.metadata.resourceVersion), changes: [['metadata.annotations["example.com/why"]', null, "a test"]] },
      { version: Number(failed.metadata.resourceVersion), changes: [["status.phase", held.status.phase, "Failed"]] },
    ];
    /** What a patch writes beside its own fields is the server's business. @param {Awaited<ReturnType<typeof versionEntries>>} entries */
    const told = (entries) => entries.map(({ version, changes }) => ({ version, changes }));
    const live = await versionEntries(page, 2);
    // Of the first change of all there is no version before it in the window.
    assert.match(live[1].did, /changed/);
    assert.deepEqual(told(live)[0], expected[0]);

    await page.keyboard.press("Escape");
    await page.keyboard.press("Enter");
    const again = await versionEntries(page, 2);
    assert.deepEqual(told(again)[0], expected[0]);
    await api(`${path}/status`, { method: "PATCH", body: { status: { phase: held.status.phase } } });
    const third = await versionEntries(page, 3);
    assert.deepEqual(third[0].changes, [["status.phase", "Failed", held.status.phase]]);
    assert.equal(requests.filter((request) => request.includes("/pods")).length, lists, "all of it came from the cache");
  }),
);

test("deleted meanwhile: it says when, and keeps the last version", () =>
  visit(async ({ page }) => {
    const { path, name } = await openNext(page);
    const last = await byId(page, "yaml").innerText();
    assert.equal(await byId(page, "drawer-state").getAttribute("data-gone"), "false");
    await api(path, { method: "DELETE" });
    await page.locator('[data-testid="drawer-state"][data-gone="true"]').waitFor();
    await page.waitForFunction(() => /^deleted at/.test(document.querySelector('[data-testid="drawer-state"]')?.textContent ?? ""));
    const state = await byId(page, "drawer-state").innerText();
    assert.match(state, /^deleted at \d\d:\d\d:\d\d by version [\d\s]+; this is its last version$/);
    assert.equal(digits(state.split("version")[1]), Number(server.control.status().resourceVersion));
    const [first] = await versionEntries(page, 1);
    assert.match(first.did, /deleted/);
    assert.deepEqual({ ...parse(await byId(page, "yaml").innerText()), metadata: undefined }, { ...parse(last), metadata: undefined });
    assert.ok(!(await rows(page)).some((row) => row.name === name), "the table has it no more");
    await keep(page, "drawer-deleted");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog.drawer") === null);
  }));

test("its events come, are counted, and are of this pod alone", REQUESTS, () =>
  visit(async ({ page, requests }) => {
    const { path, name, namespace } = await openNext(page);
    await page.locator("dialog.drawer", { hasText: "none so far" }).waitFor();
    const { uid } = (await api(path)).metadata;
    const events = `/api/v1/namespaces/${namespace}/events`;
    /** @param {string} reason @param {string} of */
    const tell = (reason, of) =>
      api(events, {
        method: "POST",
        body: {
          metadata: { name: `${name}.${reason.toLowerCase()}`, namespace },
          involvedObject: { kind: "Pod", namespace, name, uid: of },
          ...{ type: "Warning", reason, message: "it was told to", count: 1, lastTimestamp: new Date().toISOString() },
        },
      });
    await tell("Other", "of-another-one");
    await tell("Unhealthy", uid);
    await byId(page, "pod-event").waitFor();
    assert.match(await byId(page, "pod-event").innerText(), /Unhealthy it was told to$/);
    await api(`${events}/${name}.unhealthy`, { method: "PATCH", body: { count: 2 } });
    await page.waitForFunction(() => /×2$/.test(document.querySelector('[data-testid="pod-event"]')?.textContent ?? ""));
    assert.equal(await byId(page, "pod-event").count(), 1);
    const asked = requests.filter((request) => request.includes("/events"));
    assert.ok(
      asked.length > 0 && asked.every((request) => decodeURIComponent(request).includes(`involvedObject.uid=${uid}`)),
      asked.join(),
    );
  }),
);

test("a click opens, another click another one; on a phone it covers the page, which is out of reach then", PHONE, async () => {
  await visit(async ({ page }) => {
    for (const index of [3, 5]) {
      const row = page.locator(`.body [aria-rowindex="${index}"]`);
      const name = await row.locator(".name").innerText();
      await row.locator(".phase").first().click();
      await page.locator("dialog.drawer h2", { hasText: name }).waitFor();
    }
    // The table is narrower beside the drawer: the longest phase still stands in its column.
    const [name, namespace] = await Promise.all(
      [".name", ".namespace"].map((part) => page.locator(`.body [aria-rowindex="5"] ${part}`).innerText()),
    );
    await api(`/api/v1/namespaces/${namespace}/pods/${name}/status`, { method: "PATCH", body: { status: { phase: "Succeeded" } } });
    const phase = page.locator('.body [aria-rowindex="5"] .cell.phase', { hasText: "Succeeded" });
    await phase.waitFor();
    assert.ok(await phase.evaluate((cell) => cell.scrollWidth <= cell.clientWidth), "the phase is cut");
    await page.getByRole("button", { name: "Close the drawer" }).click();
    await page.waitForFunction(() => document.querySelector("dialog.drawer") === null);
  });
  await visit(
    async ({ page }) => {
      const [{ metadata, spec }] = (await api("/api/v1/pods")).items;
      const name = "a-name-that-is-longer-than-the-screen-of-a-phone-is-wide";
      await api(`/api/v1/namespaces/${metadata.namespace}/pods`, { method: "POST", body: { metadata: { name }, spec } });
      await page.locator(".body .name", { hasText: name }).click();
      await page.locator("dialog.drawer").waitFor();
      assert.ok(await page.evaluate(() => document.querySelector("dialog.drawer")?.matches(":modal")));
      // Beside a scrollbar, where the browser has one that takes room.
      const [width, room] = await page
        .locator("dialog.drawer")
        .evaluate((drawer) => [drawer.getBoundingClientRect().width, document.documentElement.clientWidth]);
      assert.equal(width, room);
      const [title, close] = await page
        .locator("dialog.drawer h2, dialog.drawer header button")
        .evaluateAll((both) => both.map((part) => part.getBoundingClientRect()));
      assert.ok(close.left >= title.right && close.top < title.bottom, "the button stands beside the title");
      await page.keyboard.press("Escape");
      await page.waitForFunction(() => document.querySelector("dialog.drawer") === null);
      assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("role")), "grid");
    },
    { viewport: { width: 360, height: 780 } },
  );
});
