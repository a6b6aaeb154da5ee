// Tabs of one browser profile that share the streams of a worker.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { startServer } from "../../www/server/index.mjs";
import { chromiumOnly, except } from "../engines/launch.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const TOKEN = "a-token-of-the-page";
/** Tabs of one profile. */
export const TABS = except({ webkit: "its driver opens one page at a time" });
/** What looks at workers. */
export const WORKERS = chromiumOnly("the drivers of other engines do not tell of workers");

/** A server with a token, and what opens tabs of one profile on it. */
export async function profile(t, browser, settings = {}) {
  const server = await startServer({ port: 0, pods: 40, rate: 20, tokens: [TOKEN], root, ...settings });
  t.after(() => server.close());
  const context = await browser.newContext();
  t.after(() => context.close());
  /** A tab, live with its pods. */
  const open = async (options = {}, entry = "/dist/index.js") => {
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => message.type() === "warning" && said.push(message.text()));
    await page.goto(`${server.url}/dist/`, { waitUntil: "commit" }).catch(() => {});
    await page.evaluate(
      async ([given, token, entry]) => {
        const { createWatchCache } = await import(entry);
        globalThis.asked = 0;
        const auth = () => {
          globalThis.asked++;
          return { token };
        };
        const cache = createWatchCache({ mode: "shared", identity: "jane", auth, ...given });
        const pods = cache.resource("pods");
        Object.assign(globalThis, { cache, pods, versions: [], blanks: 0, phases: [] });
        const view = pods.view();
        view.subscribe(() => {
          if (view.rows.length === 0 && globalThis.versions.length > 0) globalThis.blanks++;
          globalThis.versions.push(pods.resourceVersion);
        });
        pods.addEventListener("status", () => globalThis.phases.push(pods.status.phase));
        await pods.synced();
      },
      [options, TOKEN, entry],
    );
    await page.waitForFunction(() => globalThis.pods.status.phase === "live");
    return Object.assign(page, { said });
  };
  /** Until a tab holds what the server holds, while nothing is written. */
  const holds = async (page) => {
    const due = () => JSON.stringify(server.control.digest("pods", "").items);
    const held = () =>
      page.evaluate(() => {
        const items = globalThis.pods
          .view()
          .rows.map(({ metadata: { namespace, name, resourceVersion } }) => [`${namespace}/${name}`, resourceVersion]);
        return JSON.stringify(items);
      });
    const deadline = Date.now() + 15_000;
    while ((await held()) !== due() && Date.now() < deadline) await page.waitForTimeout(50);
    assert.equal(await held(), due());
  };
  return { server, context, open, holds };
}

/** What the server counts. */
export const counts = ({ control }) => ({ lists: control.status().counts.lists, watches: control.status().counts.watches });
