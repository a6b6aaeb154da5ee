// The browser of a test: Chromium, or the engine that WATCHCACHE_ENGINE names. Playwright drives the first two. What drives
// WebKit has those of its calls that the tests use, so a test is written once.
import { chromium, firefox } from "playwright-core";
import { fileURLToPath } from "node:url";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { CHROMIUM, TESTED, program } from "../../scripts/lib/engines.mjs";

const ENGINES = [CHROMIUM, ...TESTED];

/** The engine of this run. */
export const ENGINE = process.env.WATCHCACHE_ENGINE || CHROMIUM;
if (!ENGINES.includes(ENGINE)) throw new Error(`WATCHCACHE_ENGINE names ${ENGINE}: choose from ${ENGINES.join(", ")}.`);

/**
 * Options of a test that some engines cannot run. The run shows it as skipped there, with the reason.
 * @param {Record<string, string>} reasons why not, by engine
 */
export const except = (reasons) => (reasons[ENGINE] === undefined ? {} : { skip: `not in ${ENGINE}: ${reasons[ENGINE]}` });

/** What no other engine has, as the reason of `except`. @param {string} what */
export const chromiumOnly = (what) => except(Object.fromEntries(ENGINES.filter((name) => name !== CHROMIUM).map((name) => [name, what])));

/**
 * So many tabs, or a third of them where each takes seconds to come: one core starts a process of Firefox after the other. The run says so.
 * @param {import("node:test").TestContext} t @param {number} count
 */
export function tabsAtOnce(t, count) {
  if (ENGINE === CHROMIUM) return count;
  const third = Math.ceil(count / 3);
  t.diagnostic(`${third} tabs instead of ${count} in ${ENGINE}`);
  return third;
}

/** Firefox reports a WebSocket that broke, or that it could not open, as an error of the page, without a stack. */
const FIREFOX_SOCKET =
  /The connection to ws:\S+ was interrupted while the page was loading\.|Firefox can’t establish a connection to the server at ws:/;

/** Whether the browser itself reports this error, whatever the page does about it. @param {Error} error of a page's "pageerror" */
export const ofTheBrowser = (error) => ENGINE === "firefox" && FIREFOX_SOCKET.test(error.message);

/** A stock Firefox over WebDriver BiDi. @param {Media} media */
function launchFirefox(media) {
  const env = /** @type {Record<string, string>} */ ({
    ...process.env,
    WATCHCACHE_FIREFOX: program("firefox"),
    WATCHCACHE_MEDIA: JSON.stringify(media),
  });
  return firefox.launch({
    channel: "moz-firefox",
    executablePath: fileURLToPath(new URL("firefox-bidi.mjs", import.meta.url)),
    env,
    firefoxUserPrefs: {
      "layout.css.prefers-color-scheme.content-override": media["prefers-color-scheme"] === "dark" ? 0 : 1,
      "ui.prefersReducedMotion": media["prefers-reduced-motion"] === "reduce" ? 1 : 0,
    },
  });
}

/** @typedef {{ "prefers-color-scheme": string, "prefers-reduced-motion": string }} Media */

/** What pages of a context are told about their reader. @param {import("playwright-core").BrowserContextOptions} [options] @returns {Media} */
const mediaOf = ({ colorScheme, reducedMotion } = {}) => ({
  "prefers-color-scheme": colorScheme ?? "light",
  "prefers-reduced-motion": reducedMotion ?? "no-preference",
});

/** Firefox tells all its pages the same about their reader: who is told something else has another Firefox. */
async function launchFirefoxes() {
  const usual = mediaOf();
  const first = await launchFirefox(usual);
  const newContext = first.newContext.bind(first);
  const close = first.close.bind(first);
  /** @type {Map<string, ReturnType<typeof launchFirefox>>} */
  const others = new Map();
  first.newContext = async (options) => {
    const media = mediaOf(options);
    const key = JSON.stringify(media);
    if (key === JSON.stringify(usual)) return newContext(options);
    if (!others.has(key)) others.set(key, launchFirefox(media));
    return (await /** @type {ReturnType<typeof launchFirefox>} */ (others.get(key))).newContext(options);
  };
  first.close = async () => {
    await Promise.all([close(), ...[...others.values()].map(async (other) => (await other).close())]);
  };
  return first;
}

const LAUNCHES = {
  chromium: () => chromium.launch(launchOptions()),
  firefox: launchFirefoxes,
  webkit: async () => (await import("./webkit/browser.mjs")).launchWebKit(),
};

/** @returns {Promise<import("playwright-core").Browser>} */
export const launchBrowser = () => LAUNCHES[/** @type {keyof LAUNCHES} */ (ENGINE)]();
