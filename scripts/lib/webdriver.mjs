// The WebDriver protocol: a driver, a session, its commands. There are libraries for it; what they add to these lines nobody here needs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

const HOST = "127.0.0.1";
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
async function startDriver({ program, args, env }, onLine) {
  const port = await freePort();
  const child = spawn(program, args(port), { env, stdio: ["ignore", onLine ? "pipe" : "ignore", "pipe"] });
  if (onLine) createInterface({ input: child.stdout }).on("line", onLine);
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

/**
 * Starts a driver, and a browser by it.
 * @param {{ title: string, program: string, args: (port: number) => string[], env?: object, capabilities: object }} engine
 * @param {{ onLine?: (line: string) => void }} [options] who hears each line that driver and browser print
 * @returns `ask`, which sends a command of the session, the browser's name and version, and `close`
 */
export async function startSession(engine, { onLine } = {}) {
  const driver = await startDriver(engine, onLine);
  let path = "";
  const ask = (method, to, body) => command(driver.port, method, `/session${path}${to}`, body);
  const close = async () => {
    try {
      if (path) await ask("DELETE", "");
    } finally {
      await driver.end();
    }
  };
  try {
    const { sessionId, capabilities } = await ask("POST", "", { capabilities: { alwaysMatch: engine.capabilities } });
    path = `/${sessionId}`;
    return { ask, close, name: `${engine.title} ${capabilities.browserVersion}` };
  } catch (error) {
    await close();
    throw error;
  }
}
