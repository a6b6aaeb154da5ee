// A page with the files of this checkout, and the browser that opens it, for the tests of one file.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { launchBrowser } from "../engines/launch.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TYPES = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm", html: "text/html" };

/**
 * A page that runs this script. `url` and `browser` are there once the tests run.
 * @param {string} script its path in the checkout
 * @param {string} [policy] a content security policy
 */
export function served(script, policy = "") {
  const page = `<!doctype html><title>test</title><script type="module" src="/${script}"></script>`;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    const known = /^\/(dist|tests\/browser|tests\/js\/lib)\/[\w/-]+\.\w+$/.test(pathname);
    const body = pathname === "/" ? page : known ? await readFile(ROOT + pathname).catch(() => undefined) : undefined;
    // Browsers ask for it, and say so where it is not.
    if (pathname === "/favicon.ico") return response.writeHead(204).end();
    const headers = { "content-type": TYPES[pathname.split(".")[1] ?? "html"] ?? "text/plain" };
    response.writeHead(body === undefined ? 404 : 200, { ...headers, ...(policy && { "content-security-policy": policy }) });
    response.end(body);
  });
  const at = { url: "", browser: undefined };
  before(async () => {
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    at.url = `http://127.0.0.1:${server.address().port}/`;
    at.browser = await launchBrowser();
  });
  after(async () => {
    await at.browser?.close();
    server.close();
  });
  return at;
}
