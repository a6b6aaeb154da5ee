// A browser that is driven over the DevTools protocol alone. Playwright keeps its pages in focus, and a page in focus cannot be frozen.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { PATIENCE } from "./harness.mjs";

/** One page of such a browser. */
export class Page {
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  #next = 1;
  /** What the browser told unasked and nobody has taken yet. @type {{ method: string, params: any }[]} */
  #told = [];

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.socket = socket;
    socket.on("message", (data) => {
      const { id, result, error, method, params } = JSON.parse(String(data));
      if (method) this.#told.push({ method, params });
      const call = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    });
  }

  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  send(method, params = {}) {
    const id = this.#next++;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /**
   * Takes the first event of this name that fits, whether it came already or is still to come. Its domain was enabled with `send`.
   * @param {string} method @param {(params: any) => boolean} fits @returns {Promise<any>}
   */
  async told(method, fits) {
    for (const deadline = Date.now() + PATIENCE; ; await sleep(20)) {
      const at = this.#told.findIndex((event) => event.method === method && fits(event.params));
      if (at >= 0) return this.#told.splice(at, 1)[0]?.params;
      if (Date.now() > deadline) throw new Error(`the browser did not tell ${method}`);
    }
  }

  /**
   * Calls a function in the page and gives its result.
   * @param {(argument: any) => any} work @param {unknown} [argument]
   */
  async evaluate(work, argument) {
    const expression = `(${work})(${JSON.stringify(argument) ?? ""})`;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
}

/**
 * Runs `body` with a page at this address, in a browser of its own.
 * @param {string} url @param {(page: Page) => Promise<void>} body
 */
export async function withPage(url, body) {
  const { executablePath, args } = launchOptions();
  const profile = mkdtempSync(join(tmpdir(), "watchcache-page-"));
  const browser = spawn(executablePath, [...args, `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    let said = "";
    const endpoint = await new Promise((resolve, reject) => {
      browser.stderr.on("data", (data) => {
        const found = /DevTools listening on ws:\/\/([^/]+)\//.exec((said += data));
        if (found) resolve(found[1]);
      });
      browser.once("exit", (code) => reject(new Error(`the browser ended with ${code}: ${said}`)));
    });
    const answer = await fetch(`http://${endpoint}/json/new?${encodeURIComponent(url)}`, { method: "PUT" });
    const { webSocketDebuggerUrl } = await answer.json();
    const socket = new WebSocket(webSocketDebuggerUrl);
    await once(socket, "open");
    const page = new Page(socket);
    try {
      await body(page);
    } finally {
      // Closed in good order it leaves no process behind that still writes to its profile.
      page.send("Browser.close").catch(() => {});
    }
  } finally {
    const impatient = setTimeout(() => browser.kill("SIGKILL"), 10_000);
    if (browser.exitCode === null && browser.signalCode === null) await once(browser, "exit");
    clearTimeout(impatient);
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}
