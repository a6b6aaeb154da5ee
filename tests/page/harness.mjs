// What the tests of the demo page share: a server, a browser, and a page whose every word in the console is kept.
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { ENGINE, except, launchBrowser, ofTheBrowser } from "../engines/launch.mjs";

const ARTIFACTS = fileURLToPath(new URL("../../artifacts/", import.meta.url));

/** Long enough for a slow machine; every wait ends with its condition, not with the time. */
export const PATIENCE = 60_000;

/** @param {Parameters<typeof startServer>[0]} options */
export const serve = (options) => startServer({ port: 0, root: fileURLToPath(new URL("../../www/dist/", import.meta.url)), ...options });

export const launch = launchBrowser;

/** Of a test in a page as narrow as a phone. */
export const PHONE = except({ webkit: "the window of MiniBrowser is never narrower than 447 pixels" });

/** Of a test that looks at requests, or answers them in the server's place. */
export const REQUESTS = except({ webkit: "WebDriver tells of no request there" });

/**
 * A new page with its own storage.
 * @param {import("playwright-core").Browser} browser
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  /** Everything the console showed, uncaught errors included. @type {string[]} */
  const said = [];
  page.on("console", (message) => {
    const where = message.location().url;
    said.push(`${message.type()}: ${message.text()} at ${where && new URL(where).pathname}`);
  });
  page.on("pageerror", (error) => ofTheBrowser(error) || said.push(`uncaught: ${error.stack}`));
  /** Where requests and sockets went. @type {Set<string>} */
  const hosts = new Set();
  /** Paths and queries of all requests so far. @type {string[]} */
  const requests = [];
  const onRequest = (/** @type {import("playwright-core").Request} */ request) => {
    const { host, pathname, search } = new URL(request.url());
    hosts.add(host);
    requests.push(pathname + search);
  };
  if (ENGINE !== "webkit") {
    page.on("request", onRequest);
    page.on("websocket", (socket) => hosts.add(new URL(socket.url()).host));
  }
  await page.goto(url);
  return { page, said, hosts, requests, close: () => context.close() };
}

/** @param {import("playwright-core").Page} page @param {string} id */
export const byId = (page, id) => page.locator(`[data-testid="${id}"]`);

/** The digits of a text whose groups stand apart: "182 394" → 182394. @param {string | null} text */
export const digits = (text) => Number((text ?? "").replace(/[^0-9]/g, ""));

/** @param {import("playwright-core").Page} page @param {string} id @param {string | RegExp} expected */
export async function says(page, id, expected) {
  const pattern = typeof expected === "string" ? { text: expected } : { source: expected.source };
  await page.waitForFunction(([testId, { text, source }]) => {
    const found = document.querySelector(`[data-testid="${testId}"]`)?.textContent;
    return (
      found !== undefined &&
      found !== null &&
      (text === undefined ? new RegExp(/** @type {string} */ (source)).test(found) : found === text)
    );
  }, /** @type {[string, { text?: string, source?: string }]} */ ([id, pattern]));
}

/** Waits for the first complete list. @param {import("playwright-core").Page} page */
export const live = (page) => says(page, "chip", "live");

/** The texts of one column, top down. @param {import("playwright-core").Page} page @param {string} column */
export const column = (page, column) => page.locator(`.body [role="row"] .${column}`).allInnerTexts();

/**
 * The rows that exist now, by their number: [rowindex, texts by column].
 * @param {import("playwright-core").Page} page
 * @returns {Promise<Record<string, string>[]>}
 */
export const rows = (page) =>
  page
    .locator('.body [role="row"]')
    .evaluateAll((elements) =>
      elements
        .sort((a, b) => Number(a.getAttribute("aria-rowindex")) - Number(b.getAttribute("aria-rowindex")))
        .map((row) =>
          Object.fromEntries(
            [...row.querySelectorAll(".cell")].map((cell) => [
              cell.className.split(" ")[1],
              /** @type {HTMLElement} */ (cell).innerText.trim(),
            ]),
          ),
        ),
    );

/** @param {import("playwright-core").Page} page @param {string} name @param {boolean} [fullPage] */
export async function keep(page, name, fullPage = false) {
  mkdirSync(ARTIFACTS, { recursive: true });
  await page.screenshot({ path: `${ARTIFACTS}page-${name}.png`, fullPage });
}

/**
 * An exact comparison at the present: whatever version the page compared last was taken before; the next one is of now.
 * @param {import("playwright-core").Page} page
 * @param {number} newerThan a version
 */
export async function integrityAfter(page, newerThan) {
  await page.waitForFunction((version) => {
    const element = document.querySelector('[data-testid="integrity-version"]');
    return element !== null && Number(element.getAttribute("data-version")) > version;
  }, newerThan);
  const read = async (/** @type {string} */ id) => (await byId(page, `integrity-${id}`).innerText()).trim();
  const [left, sign, right] = (await read("objects")).split(/ ([=≠]) /);
  return {
    version: Number(await byId(page, "integrity-version").getAttribute("data-version")),
    objects: { here: digits(left), there: digits(right), equal: sign === "=" },
    lost: digits(await read("lost")),
    duplicated: digits(await read("duplicated")),
    outOfOrder: digits(await read("out-of-order")),
  };
}
