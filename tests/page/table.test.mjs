// The table as a visitor uses it: rows arrive, are filtered, sorted, and walked by keyboard. The truth is the server's own list.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { REQUESTS, byId, digits, keep, launch, live, open, rows, says, serve } from "./harness.mjs";

const PODS = 1_500;
/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ pods: PODS, rate: 0 }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** @param {string} [query] @returns {Promise<any[]>} */
const listed = async (query = "") => (await (await fetch(`${server.url}/api/v1/pods?${query}`)).json()).items;

/** The page on a live list, closed at the end, and it has said nothing. @param {(visit: Awaited<ReturnType<typeof open>>) => Promise<void>} body @param {object} [options] */
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

/** Types into a selector box as a person does. @param {import("playwright-core").Page} page @param {"label" | "field"} box @param {string} text */
async function type(page, box, text) {
  const input = page.locator(`input[name="${box}-selector"]`);
  await input.fill("");
  await input.pressSequentially(text);
}

/** @param {import("playwright-core").Page} page @param {number} count */
const rowCount = (page, count) =>
  page.waitForFunction((rows) => document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount") === String(rows + 1), count);

test("rows appear page by page, with the progress beside them", REQUESTS, async () => {
  server.control.fault("slowPages", { pageMs: 1_500 });
  const { page, said, hosts, close } = await open(browser, server.url);
  try {
    await says(page, "progress", /^500 of 1.500$/);
    await page.locator('.body [role="row"] .name', { hasText: /\w/ }).first().waitFor();
    assert.equal(await byId(page, "chip").innerText(), await byId(page, "progress").innerText());
    assert.equal(await page.locator("progress").evaluate((bar) => /** @type {HTMLProgressElement} */ (bar).value), 500);
    server.control.fault("clear");
    await live(page);
    await rowCount(page, PODS);
    assert.equal(await byId(page, "progress").count(), 0);
    assert.equal(digits(await byId(page, "objects").innerText()), PODS);
    assert.deepEqual([...hosts], [new URL(server.url).host], "no request leaves the origin");
    assert.deepEqual(said, []);
  } finally {
    server.control.fault("clear");
    await close();
  }
});

test("a row shows what the server's object holds", () =>
  visit(async ({ page }) => {
    const pods = new Map((await listed()).map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
    const shown = (await rows(page)).slice(0, 20);
    for (const row of shown) {
      const pod = pods.get(`${row.namespace}/${row.name}`);
      assert.ok(pod, `${row.namespace}/${row.name} is on the server`);
      assert.ok(row.phase.endsWith(pod.status.phase), `${row.phase} is ${pod.status.phase}`);
      assert.equal(row.node, pod.spec.nodeName ?? "none yet");
      assert.equal(row.restarts, String(restarts(pod) ?? "–"));
      assert.match(row.age, /^\d+[smhd]( \d+[smh])?$/);
    }
  }));

test("a label selector filters as the server does, and so does a field selector", () =>
  visit(async ({ page }) => {
    const [sample] = await listed("limit=1");
    const [key, value] = Object.entries(sample.metadata.labels)[0];
    for (const selector of [`${key}=${value}`, `${key} notin (${value})`, `!${key}`]) {
      await type(page, "label", selector);
      await rowCount(page, (await listed(`labelSelector=${encodeURIComponent(selector)}`)).length);
    }
    await type(page, "label", "nobody=has-this");
    await rowCount(page, 0);
    await page.getByText("no pods match").waitFor();
    await type(page, "label", "");
    await rowCount(page, PODS);
    for (const selector of ["status.phase=Running", "status.phase!=Running", `spec.nodeName=${sample.spec.nodeName}`]) {
      await type(page, "field", selector);
      await rowCount(page, (await listed(`fieldSelector=${encodeURIComponent(selector)}`)).length);
      assert.equal(
        digits(await byId(page, "row-count").innerText()),
        (await listed(`fieldSelector=${encodeURIComponent(selector)}`)).length,
      );
    }
  }));

test("a mistake in a selector is shown under its box, with its place, and the rows stay", () =>
  visit(async ({ page }) => {
    await type(page, "field", "status.phase=Running");
    const running = (await listed("fieldSelector=status.phase%3DRunning")).length;
    await rowCount(page, running);
    // While it is typed the text is "tier", which is a selector, and every pod has that label.
    await type(page, "label", "tier in production");
    const mistake = page.locator(".selector", { has: page.locator('input[name="label-selector"]') }).locator(".mistake");
    await mistake.waitFor();
    assert.equal(await mistake.locator("mark").innerText(), "production");
    assert.match(await mistake.innerText(), /expected: '\('/);
    assert.equal(await page.locator('input[name="label-selector"]').getAttribute("aria-invalid"), "true");
    assert.equal(await page.locator(".mistake").count(), 1, "the other box is right");
    await rowCount(page, running);
    await keep(page, "selector-error");

    await type(page, "field", "status.phase");
    await page.waitForFunction(() => document.querySelectorAll(".mistake").length === 2);
    await type(page, "field", "");
    await type(page, "label", "");
    await rowCount(page, PODS);
    assert.equal(await page.locator(".mistake").count(), 0);
  }));

test("a mistake typed before the last good filter is loaded leaves that filter in force", () =>
  visit(async ({ page }) => {
    await type(page, "label", "tie");
    await rowCount(page, 0);
    const input = page.locator('input[name="label-selector"]');
    // Each key in a task of its own, as fast as the page can take them: no view is built between two of them.
    await input.evaluate(async (/** @type {HTMLInputElement} */ box) => {
      const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      for (const text of ["tier", "tier ", "tier i"]) {
        write?.call(box, text);
        box.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await Promise.resolve();
      }
    });
    await page.locator(".mistake").waitFor();
    await rowCount(page, PODS);
  }));

test("namespaces carry the server's counts and narrow the table", () =>
  visit(async ({ page }) => {
    /** @type {Record<string, number>} */
    const expected = {};
    for (const { metadata } of await listed()) expected[metadata.namespace] = (expected[metadata.namespace] ?? 0) + 1;
    const buttons = page.locator(".namespaces button");
    const shown = await buttons.evaluateAll((all) =>
      all.map((button) => [button.querySelector(".name")?.textContent, button.querySelector(".number")?.textContent]),
    );
    assert.deepEqual(
      shown.map(([name, count]) => [name, digits(count ?? "")]),
      [["all", PODS], ...Object.entries(expected).sort(([a], [b]) => (a < b ? -1 : 1))],
    );
    const [namespace, count] = Object.entries(expected)[0];
    await page.locator(`.namespaces button[data-namespace="${namespace}"]`).click();
    await rowCount(page, count);
    for (const row of await rows(page)) assert.equal(row.namespace, namespace);
    // A filter of labels or fields changes nothing in the counts beside it.
    await type(page, "field", "status.phase=Running");
    await rowCount(
      page,
      (await listed(`fieldSelector=${encodeURIComponent("status.phase=Running")}`)).filter((pod) => pod.metadata.namespace === namespace)
        .length,
    );
    assert.equal(digits(await page.locator('.namespaces button[data-namespace=""] .number').innerText()), PODS);
  }));

/** Of all containers, as kubectl counts them. @type {(pod: any) => number | undefined} */
const restarts = (pod) =>
  pod.status.containerStatuses?.reduce((/** @type {number} */ sum, /** @type {any} */ status) => sum + status.restartCount, 0);
const natural = new Intl.Collator("en", { numeric: true });
/** Rows without the value come after all that have it, whichever way the others stand. @type {(value: (pod: any) => any, compare: (a: any, b: any) => number) => (a: any, b: any, sign?: number) => number} */
const absentLast = (value, compare) => (a, b, sign) => {
  const [x, y] = [value(a), value(b)];
  if (x === undefined || y === undefined) return (sign ?? 1) * (Number(x === undefined) - Number(y === undefined));
  return compare(x, y);
};
/** What each column sorts by, ascending; times `sign`. @type {Record<string, (a: any, b: any, sign?: number) => number>} */
const ORDERS = {
  name: (a, b) => natural.compare(a.metadata.name, b.metadata.name),
  namespace: (a, b) => natural.compare(a.metadata.namespace, b.metadata.namespace),
  phase: (a, b) => natural.compare(a.status.phase, b.status.phase),
  node: absentLast((pod) => pod.spec.nodeName, natural.compare),
  restarts: absentLast(restarts, (a, b) => a - b),
  age: (a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp),
  changed: (a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion),
};
for (const [name, order] of Object.entries(ORDERS)) {
  test(`sorting by ${name}, up and down`, () =>
    visit(async ({ page }) => {
      const pods = await listed();
      const byKey = new Map(pods.map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod]));
      const header = page.locator(`[role="columnheader"].${name}`);
      for (const direction of ["ascending", "descending"]) {
        if ((await header.getAttribute("aria-sort")) !== direction) await header.locator("button").click();
        await page.waitForFunction(
          ([column, wanted]) => document.querySelector(`[role="columnheader"].${column}`)?.getAttribute("aria-sort") === wanted,
          [name, direction],
        );
        const sign = direction === "ascending" ? 1 : -1;
        const best = [...pods].sort((a, b) => sign * order(a, b, sign));
        // The header turns at once, the rows follow with a frame. Rows that are equal in this column may stand in any order: compare
        // what they are sorted by, row by row.
        const wrong = async () => {
          const shown = (await rows(page)).slice(0, 20).map((row) => byKey.get(`${row.namespace}/${row.name}`));
          const index = shown.findIndex((pod, at) => pod === undefined || order(pod, best[at]) !== 0);
          return shown.length === 0
            ? "no rows"
            : index < 0
              ? undefined
              : `row ${index} of ${name} ${direction}: ${shown[index]?.metadata.name}`;
        };
        const deadline = Date.now() + 10_000;
        while ((await wrong()) !== undefined && Date.now() < deadline) await page.waitForTimeout(20);
        assert.equal(await wrong(), undefined);
        assert.equal(await page.locator('[aria-sort="ascending"], [aria-sort="descending"]').count(), 1);
      }
    }));
}

test("the keyboard reaches everything", () =>
  visit(async ({ page }) => {
    const active = () =>
      page.evaluate(() => {
        const id = document.querySelector('[role="grid"]')?.getAttribute("aria-activedescendant");
        const row = id ? document.getElementById(id) : null;
        return row?.getAttribute("aria-selected") === "true" ? Number(row.getAttribute("aria-rowindex")) : undefined;
      });
    const isActive = (/** @type {number} */ index) =>
      page.waitForFunction((wanted) => {
        const id = document.querySelector('[role="grid"]')?.getAttribute("aria-activedescendant");
        return id !== null && id !== undefined && document.getElementById(id)?.getAttribute("aria-rowindex") === String(wanted);
      }, index);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("name")), "label-selector");
    await page.keyboard.type("j/k?");
    assert.equal(await page.inputValue('input[name="label-selector"]'), "j/k?", "shortcuts are letters in a box");
    await page.fill('input[name="label-selector"]', "");
    await page.keyboard.press("Escape");
    await rowCount(page, PODS);

    // The header row counts as the first.
    await page.keyboard.press("j");
    await isActive(2);
    await page.keyboard.press("ArrowDown");
    await isActive(3);
    await page.keyboard.press("k");
    await isActive(2);
    await page.keyboard.press("ArrowUp");
    await isActive(2);
    await page.keyboard.press("End");
    await isActive(PODS + 1);
    assert.equal(await active(), PODS + 1);
    const last = (await rows(page)).at(-1);
    assert.ok(last?.name, "the last row is drawn");
    await page.keyboard.press("PageUp");
    await page.waitForFunction((end) => {
      const id = document.querySelector('[role="grid"]')?.getAttribute("aria-activedescendant");
      const index = Number(id && document.getElementById(id)?.getAttribute("aria-rowindex"));
      return index > 2 && index < end - 5;
    }, PODS + 1);
    await page.keyboard.press("Home");
    await isActive(2);

    await page.keyboard.press("?");
    await page.locator("dialog[open]").waitFor();
    await keep(page, "help");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
  }));

test("the cursor stays on its pod while the order changes around it", () =>
  visit(async ({ page }) => {
    await page.locator('[role="columnheader"].changed button').click();
    const [newest] = (await listed()).sort(ORDERS.changed);
    await page.locator('.body [aria-rowindex="2"] .name', { hasText: newest.metadata.name }).waitFor();
    await page.keyboard.press("Home");
    const chosen = page.locator('.body [role="row"][aria-selected="true"]');
    await chosen.waitFor();
    const name = await chosen.locator(".name").innerText();
    const before = Number(await chosen.getAttribute("aria-rowindex"));
    server.control.step(20);
    await page.waitForFunction(
      (index) => Number(document.querySelector('.body [aria-selected="true"]')?.getAttribute("aria-rowindex")) > index,
      before,
    );
    assert.equal(await chosen.locator(".name").innerText(), name);
  }));

test("scrolling to any place brings its rows", () =>
  visit(async ({ page }) => {
    // By namespace and name, as the server lists them.
    const names = (await listed()).map((pod) => pod.metadata);
    for (const share of [0.5, 0.97, 0.2, 1, 0]) {
      await page.locator('[role="grid"]').evaluate((grid, part) => (grid.scrollTop = part * grid.scrollHeight), share);
      await page.waitForFunction((part) => {
        const grid = /** @type {HTMLElement} */ (document.querySelector('[role="grid"]'));
        const box = grid.getBoundingClientRect();
        const shown = [...grid.querySelectorAll('.body [role="row"]')].filter((row) => {
          const { top, bottom } = row.getBoundingClientRect();
          return bottom > box.top && top < box.bottom;
        });
        const settled = Math.abs(grid.scrollTop - Math.min(part * grid.scrollHeight, grid.scrollHeight - grid.clientHeight)) < 2;
        return settled && shown.length > 10 && shown.every((row) => row.querySelector(".name")?.textContent);
      }, share);
      const indexed = await page
        .locator('.body [role="row"]')
        .evaluateAll((all) => all.map((row) => [Number(row.getAttribute("aria-rowindex")) - 2, row.querySelector(".name")?.textContent]));
      for (const [index, name] of indexed) if (name) assert.equal(name, names[Number(index)].name);
    }
  }));

test("changes are counted, told, and marked", () =>
  visit(async ({ page }) => {
    await page.locator('[role="columnheader"].changed button').click();
    server.control.setRate(50);
    await page.locator(".fresh").first().waitFor({ state: "attached" });
    await page.waitForFunction(() => document.querySelector('.body [aria-rowindex="2"] .changed')?.textContent === "just now");
    await says(page, "rate", /^[1-9]\d*$/);
    server.control.setRate(0);
    await says(page, "rate", /^0$/);
  }));

test("what the table is spared is counted: a pod that beats renders no cell, one that fails renders its own", () =>
  visit(async ({ page }) => {
    const { name, namespace } = (await rows(page))[0];
    const url = `${server.url}/api/v1/namespaces/${namespace}/pods/${name}`;
    const held = await (await fetch(url)).json();
    /** Patches the pod, and waits until its row has heard of it. @param {string} path @param {object} patch @param {RegExp} spared */
    const patched = async (path, patch, spared) => {
      const headers = { "content-type": "application/merge-patch+json" };
      const answer = await fetch(url + path, { method: "PATCH", headers, body: JSON.stringify(patch) });
      assert.equal(answer.status, 200, await answer.text());
      await says(page, "spared", spared);
    };
    await says(page, "spared", /^0 of 0$/);
    await patched("", { metadata: { annotations: { beat: "1" } } }, /^5 of 5$/);
    await patched("", { metadata: { annotations: { beat: "2" } } }, /^10 of 10$/);
    await patched("/status", { status: { phase: "Failed" } }, /^14 of 15$/);
    assert.match((await rows(page))[0].phase, /Failed/);
    const [first, ...others] = held.status.containerStatuses;
    const containerStatuses = [{ ...first, restartCount: first.restartCount + 40 }, ...others];
    await patched("/status", { status: { containerStatuses } }, /^18 of 20$/);
    assert.equal((await rows(page))[0].restarts, String((restarts(held) ?? 0) + 40));
    // The function is called for it, and gives the same.
    await patched(
      "/status",
      { status: { containerStatuses: [{ ...containerStatuses[0], ready: !first.ready }, ...others] } },
      /^23 of 25$/,
    );
    await patched("/status", { status: held.status }, /^26 of 30$/);
  }));

test("with reduced motion nothing is marked", () =>
  visit(
    async ({ page }) => {
      await page.locator('[role="columnheader"].changed button').click();
      server.control.step(30);
      await page.waitForFunction(() => document.querySelector('.body [aria-rowindex="2"] .changed')?.textContent !== "–");
      assert.equal(await page.locator(".fresh:visible").count(), 0);
    },
    { reducedMotion: "reduce" },
  ));
