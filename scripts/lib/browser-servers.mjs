// The three servers that the tests in the browser talk to. One is open, one wants a token, and one answers with a page of HTML.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { root } from "./project.mjs";

/** How long the fault of the third server lasts: longer than any test run. */
const ALWAYS_MS = 24 * 3_600_000;

/** Starts them on free ports. The tests find their addresses, in this order, in one environment variable. */
export async function startBrowserServers() {
  const { startServer } = await import(pathToFileURL(join(root, "www/server/index.mjs")).href);
  const settings = { port: 0, pods: 200, rate: 50, seed: 7 };
  const servers = [];
  const close = () => Promise.all(servers.map((server) => server.close()));
  try {
    for (const extra of [{}, { tokens: ["the-only-token"] }, {}]) servers.push(await startServer({ ...settings, ...extra }));
    servers[2].control.fault("htmlErrorPage", { ms: ALWAYS_MS });
  } catch (error) {
    await close();
    throw error;
  }
  return { env: { WATCHCACHE_TEST_SERVERS: servers.map((server) => server.url).join(" ") }, close };
}
