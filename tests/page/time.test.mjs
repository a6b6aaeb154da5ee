// The instruments of time: the list as it was at a version that the window holds, and the last minute in numbers and lines.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { REQUESTS, byId, digits, keep, launch, live, open, rows, says, serve } from "./harness.mjs";

/** @type {Awaited<ReturnType<typeof serve>>} */
let server;
/** @type {import("playwright-core").Browser} */
let browser;

before(async () => {
  [server, browser] = await Promise.all([serve({ pods: 300, rate: 0 }), launch()]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** @param {string} query @returns {Promise<any[]>} */
const listed = async (query) => (await (await fetch(`${server.url}/api/v1/pods?${query}`)).json()).items;

/** What a row shows of a pod. @param {any} pod */
const shown = ({ metadata, spec, status }) => ({
  name: metadata.name,
  namespace: metadata.namespace,
  phase: status.phase,
  node: spec.nodeName ?? "none yet",
  restarts: String(restarts(status) ?? "–"),
});
/** @param {any} status @returns {number | undefined} */
const restarts = (status) =>
  status.containerStatuses?.reduce((/** @type {number} */ sum, /** @type {any} */ { restartCount }) => sum + restartCount, 0);

/** The first rows as the table shows them. @param {import("playwright-core").Page} page @param {number} count */
const table = async (page, count) =>
  (await rows(page)).slice(0, count).map(({ name, namespace, phase, node, restarts }) => ({
    name,
    namespace,
    phase: phase.replace(/^\S+\s/, ""),
    node,
    restarts,
  }));

/**
 * Waits until the table is of the version that the slider asks for, and gives that. A slow machine shows one on the way there first.
 * @param {import("playwright-core").Page} page @param {string} [not]
 */
async function pastVersion(page, not = "") {
  const found = await page.waitForFunction((other) => {
    const version = document.querySelector('[data-testid="past"]')?.getAttribute("data-version");
    const wanted = document.querySelector(".time input")?.getAttribute("aria-valuetext")?.split(",")[0]?.replace(/\D/g, "");
    return version && version !== other && version === wanted ? version : undefined;
  }, not);
  return String(await found.jsonValue());
}

/** Waits for the rows that are due. @param {import("playwright-core").Page} page @param {ReturnType<typeof shown>[]} due */
async function showsRows(page, due) {
  const deadline = Date.now() + 10_000;
  const same = async () => JSON.stringify(await table(page, due.length)) === JSON.stringify(due);
  while (!(await same()) && Date.now() < deadline) await page.waitForTimeout(30);
  assert.deepEqual(await table(page, due.length), due);
}

/** Waits until so many rows are counted. @param {import("playwright-core").Page} page @param {number} count */
async function counts(page, count) {
  const deadline = Date.now() + 10_000;
  const counted = async () => digits(await byId(page, "row-count").innerText());
  while ((await counted()) !== count && Date.now() < deadline) await page.waitForTimeout(30);
  assert.equal(await counted(), count);
}

test("the slider shows the list as it was, filtered and ordered, without the server", REQUESTS, async () => {
  const { page, said, requests, close } = await open(browser, server.url);
  try {
    await live(page);
    for (let i = 0; i < 8; i += 1) {
      server.control.step(40);
      await says(page, "version", new RegExp(`^${await newestPod()}$`));
    }
    const asked = requests.filter((request) => request.includes("/pods")).length;

    await page.keyboard.press("t");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("type")), "range");
    for (let i = 0; i < 4; i += 1) await page.keyboard.press("PageDown");
    const version = await pastVersion(page);
    assert.equal(await page.locator('[role="grid"]').getAttribute("data-past"), "true");
    const exactly = `resourceVersion=${version}&resourceVersionMatch=Exact`;
    const then = await listed(exactly);
    await showsRows(page, then.slice(0, 15).map(shown));
    await counts(page, then.length);
    assert.notDeepEqual((await listed("")).map(shown), then.map(shown), "it was another list then, or this proves nothing");
    await keep(page, "past");

    // Each change is a step, and the past has the filter and the order of the present.
    await page.keyboard.press("ArrowLeft");
    const earlier = await pastVersion(page, version);
    assert.ok(Number(earlier) < Number(version));
    const before = await listed(`resourceVersion=${earlier}&resourceVersionMatch=Exact`);
    await showsRows(page, before.slice(0, 15).map(shown));
    // Typed: what Playwright fills in after a slider was moved, React does not hear of in Firefox.
    await page.locator('input[name="field-selector"]').focus();
    await page.keyboard.type("status.phase=Running");
    await page.locator('[role="columnheader"].restarts button').click();
    await page.locator('[role="columnheader"].restarts button').click();
    const { compare } = new Intl.Collator("en", { numeric: true });
    const running = before
      .filter(({ status }) => status.phase === "Running")
      .sort((a, b) => (restarts(b.status) ?? 0) - (restarts(a.status) ?? 0) || compare(a.metadata.name, b.metadata.name));
    await showsRows(page, running.slice(0, 15).map(shown));
    // The first rows may be the same ones before the filter is answered.
    await counts(page, running.length);

    // Of many wishes at once the newest wins.
    await page.locator(".time input").evaluate((/** @type {HTMLInputElement} */ slider) => {
      const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set;
      for (let value = Number(slider.value); value > 2; value -= 1) {
        write?.call(slider, String(value));
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
    const oldest = await pastVersion(page, earlier);
    await page.waitForFunction(() => /** @type {any} */ (document.querySelector(".time input"))?.value === "3");
    const settled = await pastVersion(page);
    assert.ok(Number(settled) <= Number(oldest));
    assert.equal(requests.filter((request) => request.includes("/pods")).length, asked, "the server was not asked");

    await page.getByRole("button", { name: "back to now" }).click();
    await page.locator('[role="grid"][data-past="false"]').waitFor();
    const now = await listed("fieldSelector=status.phase%3DRunning");
    await page.waitForFunction(
      (count) => document.querySelector('[role="grid"]')?.getAttribute("aria-rowcount") === String(count + 1),
      now.length,
    );
    assert.deepEqual(said, []);
  } finally {
    await close();
  }
});

/** The newest version of a pod, as the page writes it. */
async function newestPod() {
  const versions = server.control.digest("pods", "").items.map(([, version]) => Number(version));
  return String(Math.max(...versions)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

test("a version that the window lost is said to be lost, and the page moves on", async () => {
  const { page, close } = await open(browser, server.url);
  try {
    await live(page);
    server.control.step(60);
    await page.waitForFunction(() => Number(document.querySelector(".time input")?.getAttribute("max")) > 20);
    await page.keyboard.press("t");
    await page.keyboard.press("PageDown");
    const version = await pastVersion(page);
    server.control.fault("expire");
    await says(page, "dropped", /^version [\d\s]+ is no longer held: moved on$/);
    assert.equal(digits(await byId(page, "dropped").innerText()), Number(version));
    await live(page);
    await page.locator('[role="grid"][data-past="false"]').waitFor();
  } finally {
    server.control.fault("clear");
    await close();
  }
});

/** What the three lines look like now. @param {import("playwright-core").Page} page */
const drawn = (page) =>
  page.locator(".sparkline canvas").evaluateAll((all) => all.map((canvas) => /** @type {HTMLCanvasElement} */ (canvas).toDataURL()));

test("the last minute: numbers that move, lines that are drawn, and rest while nobody looks", async () => {
  const { page, said, close } = await open(browser, server.url);
  try {
    await live(page);
    server.control.setRate(60);
    await says(page, "meter-rate", /^[1-9]\d*$/);
    await says(page, "meter-ingest", /^\d+(\s\d+)?$/);
    const first = await drawn(page);
    assert.equal(first.length, 3);
    await page.waitForFunction(
      (earlier) =>
        [...document.querySelectorAll(".sparkline canvas")].every(
          (canvas, at) => /** @type {any} */ (canvas).toDataURL() !== earlier[at] || at === 2,
        ),
      first,
    );
    const label = await page.locator(".sparkline").first().getAttribute("aria-label");
    assert.match(String(label), /^events in the last minute, now \d+ a second$/);

    // Where the engine tells of long tasks, one is told.
    if (await page.evaluate(() => PerformanceObserver.supportedEntryTypes.includes("longtask"))) {
      await page.evaluate(() => {
        const end = performance.now() + 300;
        setTimeout(() => {
          while (performance.now() < end);
        });
      });
      await page.waitForFunction(() => Number(document.querySelector('[data-testid="meter-longest"]')?.textContent) >= 100);
    } else {
      await says(page, "meter-longest", "–");
    }

    /** @param {boolean} hidden */
    const hide = (hidden) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { configurable: true, value });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    server.control.setRate(0);
    const resting = await byId(page, "meter-rate").innerText();
    await page.waitForTimeout(2_500);
    assert.equal(await byId(page, "meter-rate").innerText(), resting, "no sample is taken");
    await hide(false);
    await says(page, "meter-rate", /^0$/);
    await says(page, "meter-ingest", "–");
    assert.deepEqual(said, []);
  } finally {
    server.control.setRate(0);
    await close();
  }
});

test("with reduced motion the numbers move and the lines stand", async () => {
  const { page, close } = await open(browser, server.url, { reducedMotion: "reduce" });
  try {
    await live(page);
    server.control.setRate(60);
    await page.locator(".sparkline canvas").first().waitFor();
    await says(page, "meter-rate", /^[1-9]\d*$/);
    const before = await drawn(page);
    const rate = await byId(page, "meter-rate").innerText();
    await page.waitForFunction((earlier) => document.querySelector('[data-testid="meter-rate"]')?.textContent !== earlier, rate);
    assert.deepEqual(await drawn(page), before);
  } finally {
    server.control.setRate(0);
    await close();
  }
});
