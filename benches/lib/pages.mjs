// Pages that have loaded the benchmarks, and what Chromium's protocol tells about them. It needs no Node, because rows also run in a visitor's
// own browser.
import { openTarget } from "./target.mjs";

/**
 * A page that has loaded the benchmarks, in a context and so in a process of its own. The browser is Chromium, an engine of
 * lib/engines.mjs, or a visitor's own (page/tab/frame.js). `run` asks a scenario of it. `protocol` is its session of the DevTools protocol,
 * which a Chromium that was launched for it has. An error in the page is an error of the next `run` or of `close`.
 */
export async function openPage(browser, url) {
  if (browser.openPage) return browser.openPage(url);
  const protocol = await openTarget(browser, {
    async threadSeconds() {
      const { metrics } = await protocol.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "ThreadTime").value;
    },
  });
  const throwErrors = () => {
    if (protocol.errors.length > 0) throw protocol.errors[0];
  };
  const run = async (name, options) => {
    const result = await protocol.evaluate(`globalThis.scenarios[${JSON.stringify(name)}](${JSON.stringify(options)})`);
    throwErrors();
    return result;
  };
  try {
    await protocol.goto(`${url}/index.html`, "ready");
    return { run, protocol, throwErrors, close: protocol.close };
  } catch (error) {
    await protocol.close();
    throw protocol.errors[0] ?? error;
  }
}

/** Runs `work` with such a page, and closes it. */
export async function withPage(browser, url, work) {
  const page = await openPage(browser, url);
  try {
    const result = await work(page);
    page.throwErrors();
    return result;
  } finally {
    await page.close();
  }
}

/** Lets `work` run scenarios, each on a fresh page. A quick run would spend most of its time on pages, so there they share one. */
export function withRuns(browser, url, mode, work) {
  if (mode !== "quick") return work((name, options) => withPage(browser, url, (page) => page.run(name, options)));
  return withPage(browser, url, (page) => work(page.run));
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
