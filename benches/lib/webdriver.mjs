// Pages by the WebDriver protocol, as far as the benchmarks need it: a session, an address, a script. Each page is a browser of its own, so
// none pays for what another left behind.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";

const HOST = "127.0.0.1";
/** A round of a slow peer takes minutes. */
const SCRIPT_MS = 30 * 60_000;
const START_MS = 60_000;
const ASK_AGAIN_MS = 50;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** A command; `fetch` would give up after five minutes. */
function command(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const asked = request({ host: HOST, port, method, path, headers, agent: false }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => {
        const { value } = JSON.parse(Buffer.concat(parts).toString() || "{}");
        if (response.statusCode === 200) resolve(value);
        else reject(new Error(`${method} ${path}: ${value?.error}: ${value?.message}`));
      });
    });
    asked.on("error", reject);
    asked.end(text);
  });
}

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a driver and waits until it answers. */
async function startDriver({ program, args, env }) {
  const port = await freePort();
  const child = spawn(program, args(port), { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (part) => (said = (said + part).slice(-2_000)));
  let failed;
  const closed = new Promise((resolve) => {
    child.once("error", (error) => resolve((failed = error)));
    child.once("close", resolve);
  });
  const kill = () => void child.kill();
  process.once("exit", kill);
  const end = () => {
    process.off("exit", kill);
    kill();
    return closed;
  };
  for (const deadline = performance.now() + START_MS; ; await sleep(ASK_AGAIN_MS)) {
    if (await command(port, "GET", "/status").catch(() => undefined)) return { port, end };
    if (!failed && child.exitCode === null && child.signalCode === null && performance.now() < deadline) continue;
    await end();
    throw new Error(`${program} did not start: ${failed?.message ?? said}`);
  }
}

// In Firefox a script of WebDriver has a global of its own: what is the page's is found at `window`.

/** Runs in the page: waits until it is ready, and from then on notes its errors. */
function whenReady(done) {
  window.pageErrors = [];
  const note = (reason) => window.pageErrors.push(String(reason?.stack ?? reason));
  window.addEventListener("error", ({ error, message }) => note(error ?? message));
  window.addEventListener("unhandledrejection", ({ reason }) => note(reason));
  (function look() {
    if (window.ready === undefined) setTimeout(look, 20);
    else window.ready.then(() => done("{}")).catch((error) => done(JSON.stringify({ error: String(error?.stack ?? error) })));
  })();
}

/** Runs in the page: one scenario. What it gives goes as JSON, because WebDriver would make null of undefined. */
function runScenario(name, options, done) {
  const say = (answer) => done(JSON.stringify({ ...answer, errors: window.pageErrors.splice(0) }));
  window.scenarios[name](options).then(
    (value) => say({ value }),
    (error) => say({ error: String(error?.stack ?? error) }),
  );
}

/**
 * Opens a browser with a page that has loaded the benchmarks.
 * @param {{ title: string, program: string, args: (port: number) => string[], env?: object, capabilities: object }} engine
 * @param {string} url
 * @returns `run`, `throwErrors` and `close`, as the pages of lib/pages.mjs have them, and the browser's name and version
 */
export async function openSession(engine, url) {
  const driver = await startDriver(engine);
  let path;
  const ask = (method, to, body) => command(driver.port, method, `/session${path ?? ""}${to}`, body);
  const close = async () => {
    try {
      if (path !== undefined) await ask("DELETE", "");
    } finally {
      await driver.end();
    }
  };
  const execute = async (function_, ...args) => {
    const script = `(${function_})(...arguments)`;
    const { value, error, errors = [] } = JSON.parse(await ask("POST", "/execute/async", { script, args }));
    if (error ?? errors[0]) throw new Error(error ?? errors[0]);
    return value;
  };
  try {
    const session = await ask("POST", "", { capabilities: { alwaysMatch: engine.capabilities } });
    path = `/${session.sessionId}`;
    const { browserVersion } = session.capabilities;
    await ask("POST", "/timeouts", { script: START_MS, pageLoad: START_MS });
    if (url !== undefined) {
      await ask("POST", "/url", { url: `${url}/index.html` });
      await execute(whenReady);
      await ask("POST", "/timeouts", { script: SCRIPT_MS });
    }
    return {
      name: `${engine.title} ${browserVersion}`,
      run: (name, options) => execute(runScenario, name, options ?? null),
      throwErrors() {},
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
