// Fresh pages in a headless Chromium, and what its protocol tells about them.
import { chromium } from "playwright-core";
import { browserFlags, launchOptions } from "../../scripts/lib/browser.mjs";

/** With `gc()` in the page, so that no harness pays for the garbage of another. */
export function launch() {
  return chromium.launch({ ...launchOptions(), args: [...browserFlags(), "--js-flags=--expose-gc"] });
}

/** Runs `work` with a page that has loaded the benchmarks, and closes the page. An error in the page is an error here. */
export async function withPage(browser, url, work) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  try {
    const protocol = await context.newCDPSession(page);
    await protocol.send("Performance.enable");
    await page.exposeFunction("threadSeconds", async () => {
      const { metrics } = await protocol.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "ThreadTime").value;
    });
    await page.goto(`${url}/benches/page/index.html`);
    await page.waitForFunction(() => globalThis.ready !== undefined);
    await page.evaluate(() => globalThis.ready);
    const run = (scenario, options) => page.evaluate(([name, given]) => globalThis.scenarios[name](given), [scenario, options]);
    const result = await work({ run, protocol });
    if (errors.length > 0) throw errors[0];
    return result;
  } finally {
    await context.close();
  }
}

/** Bytes of the JavaScript heap that live objects take. */
export async function heapBytes(protocol) {
  await protocol.send("HeapProfiler.collectGarbage");
  await protocol.send("HeapProfiler.collectGarbage");
  return (await protocol.send("Runtime.getHeapUsage")).usedSize;
}

/** The longest task of the page's main thread, in ms, between the marks "load begins" and "load ends" that `work` leaves. */
export async function longestTask(browser, work) {
  await browser.startTracing(undefined, { categories: ["blink.user_timing", "disabled-by-default-devtools.timeline"] });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const [begin, end] = ["load begins", "load ends"].map((name) => traceEvents.find((event) => event.name === name));
  const isTask = ({ name, pid, tid, ts, dur }) =>
    name === "RunTask" && pid === begin.pid && tid === begin.tid && ts + dur > begin.ts && ts < end.ts;
  return Math.max(...traceEvents.filter(isTask).map(({ dur }) => dur)) / 1000;
}
