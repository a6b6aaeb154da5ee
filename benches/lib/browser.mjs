// The headless Chromium of a run.
import { chromium } from "playwright-core";
import { browserFlags, launchOptions } from "../../scripts/lib/browser.mjs";

/** With `gc()` in the page, so that no harness pays for the garbage of another. */
export function launch() {
  return chromium.launch({ ...launchOptions(), args: [...browserFlags(), "--js-flags=--expose-gc"] });
}

/** What a browser calls itself. */
export const nameOf = (browser) => browser.name ?? `Chromium ${browser.version()}`;
