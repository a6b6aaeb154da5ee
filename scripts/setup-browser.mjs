#!/usr/bin/env node
// A Chrome or Chromium and the driver of the same version, for the tests in a browser.
import { pathToFileURL } from "node:url";
import { NO_BROWSER, NO_DRIVER, findBrowser, findDriver, versionOf } from "./lib/browser.mjs";
import { SetupError, main } from "./lib/fail.mjs";
import { aptInstall, canApt } from "./lib/machine.mjs";
import { versions } from "./lib/project.mjs";

export async function setupBrowser() {
  if ((!findBrowser() || !findDriver()) && canApt()) {
    await aptInstall(versions.debian.browser, "the tests run in a real browser");
  }
  const browser = findBrowser();
  const driver = findDriver();
  if (!browser) throw new SetupError(NO_BROWSER);
  if (!driver) throw new SetupError(NO_DRIVER);
  const [browserVersion, driverVersion] = [versionOf(browser), versionOf(driver)];
  if (browserVersion?.split(".")[0] !== driverVersion?.split(".")[0]) {
    throw new SetupError(
      `${browser} is version ${browserVersion ?? "unknown"} and ${driver} is ${driverVersion ?? "unknown"}: install the chromedriver of the browser's version, or name a pair with WATCHCACHE_CHROME and CHROMEDRIVER.`,
    );
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(setupBrowser);
