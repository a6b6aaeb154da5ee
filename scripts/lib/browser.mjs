// The system's Chrome or Chromium and its driver: where they are, and the flags that make them headless and quiet.
import { delimiter, join } from "node:path";
import { SetupError } from "./fail.mjs";
import { isRoot } from "./machine.mjs";
import { answer, isExecutable } from "./run.mjs";

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "Google Chrome", "Chromium"];
const FOLDERS = [
  "/usr/bin",
  "/usr/local/bin",
  "/usr/lib/chromium",
  "/usr/lib/chromium-browser",
  "/opt/google/chrome",
  "/opt/homebrew/bin",
  "/snap/bin",
  "/Applications/Google Chrome.app/Contents/MacOS",
  "/Applications/Chromium.app/Contents/MacOS",
];

function find(setting, names, env) {
  const named = env[setting];
  if (named) {
    if (isExecutable(named)) return named;
    throw new SetupError(`${setting} names ${named}, which is not a program: correct the setting or unset it.`);
  }
  // `WATCHCACHE_BROWSER_FOLDERS` replaces the usual folders; empty means "the PATH only".
  const folders = env.WATCHCACHE_BROWSER_FOLDERS === undefined ? FOLDERS : env.WATCHCACHE_BROWSER_FOLDERS.split(delimiter);
  const places = [...(env.PATH || "").split(delimiter), ...folders].filter(Boolean);
  return names.flatMap((name) => places.map((folder) => join(folder, name))).find(isExecutable);
}

/** The browser's path: `WATCHCACHE_CHROME`, else the PATH, else the usual folders; undefined when there is none. */
export const findBrowser = (env = process.env) => find("WATCHCACHE_CHROME", BROWSERS, env);

/** The driver's path: `CHROMEDRIVER`, else the PATH, else the usual folders; undefined when there is none. */
export const findDriver = (env = process.env) => find("CHROMEDRIVER", ["chromedriver"], env);

/** The dotted version a browser or driver reports of itself. */
export const versionOf = (program) => answer(program, ["--version"])?.match(/(\d+)(\.\d+)+/)?.[0];

/** Command line flags for a headless browser that talks to nobody. Chromium refuses its sandbox to root. */
export function browserFlags() {
  return [
    "--headless",
    ...(isRoot() ? ["--no-sandbox"] : []),
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
}

/** Launch options for `chromium.launch` of playwright-core. */
export function launchOptions(env = process.env) {
  const executablePath = findBrowser(env);
  if (!executablePath) throw new SetupError(NO_BROWSER);
  return { executablePath, headless: true, args: browserFlags() };
}

/** Capabilities for the WebDriver session in which wasm-bindgen's test runner opens the tests. */
export function webdriverCapabilities(env = process.env) {
  return { "goog:chromeOptions": { binary: findBrowser(env), args: browserFlags() } };
}

export const NO_BROWSER =
  "no Chrome or Chromium was found: install one together with its chromedriver, or name them with WATCHCACHE_CHROME=/path/to/chrome and CHROMEDRIVER=/path/to/chromedriver, then run this again.";
export const NO_DRIVER =
  "no chromedriver was found: install the one of your browser's version, or name it with CHROMEDRIVER=/path/to/chromedriver, then run this again.";
