// A browser that is driven over the DevTools protocol alone. Playwright keeps its pages in focus, and a page in focus cannot be frozen.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

  /** Waits until it holds in the page, as Playwright's. @param {(argument: any) => any} condition @param {unknown} [argument] */
  async waitForFunction(condition, argument) {
    for (const deadline = Date.now() + PATIENCE; !(await this.evaluate(condition, argument)); await sleep(20)) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${condition}`);
    }
  }
}

/** Such a browser. */
export class Browser {
  /** @param {string} address of its protocol */
  constructor(address) {
    this.host = new URL(address).host;
  }

  /** Opens another tab. @param {string} url */
  async open(url) {
    return this.attach((await this.#ask(`new?${encodeURIComponent(url)}`, "PUT")).id);
  }

  /** The tab of this id. */
  async attach(/** @type {string} */ id) {
    return new Page(await connected(`ws://${this.host}/devtools/page/${id}`));
  }

  /** Its tabs. @returns {Promise<{ id: string, url: string }[]>} */
  tabs() {
    return this.#ask("list");
  }

  /** Brings a tab to the front. @param {string} id */
  async activate(id) {
    await fetch(`http://${this.host}/json/activate/${id}`);
  }

  /** @param {string} path @param {string} [method] */
  async #ask(path, method = "GET") {
    return (await fetch(`http://${this.host}/json/${path}`, { method })).json();
  }
}

/** @param {string} address */
async function connected(address) {
  const socket = new WebSocket(address);
  await once(socket, "open");
  return socket;
}

/** Runs `body` with a browser of its own. @param {(browser: Browser) => Promise<void>} body */
export async function withBrowser(body) {
  const { executablePath, args } = launchOptions();
  const profile = mkdtempSync(join(tmpdir(), "watchcache-page-"));
  // Only so does it open chrome://discards.
  writeFileSync(join(profile, "Local State"), JSON.stringify({ internal_only_uis_enabled: true }));
  const browser = spawn(executablePath, [...args, `--user-data-dir=${profile}`, "--remote-debugging-port=0", "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    let said = "";
    const address = await new Promise((resolve, reject) => {
      browser.stderr.on("data", (data) => {
        const found = /DevTools listening on (ws:\S+)/.exec((said += data));
        if (found) resolve(found[1]);
      });
      browser.once("exit", (code) => reject(new Error(`the browser ended with ${code}: ${said}`)));
    });
    const itself = new Page(await connected(address));
    try {
      await body(new Browser(address));
    } finally {
      // Closed in good order it leaves no process behind that still writes to its profile.
      itself.send("Browser.close").catch(() => {});
    }
  } finally {
    const impatient = setTimeout(() => browser.kill("SIGKILL"), 10_000);
    if (browser.exitCode === null && browser.signalCode === null) await once(browser, "exit");
    clearTimeout(impatient);
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/**
 * Runs `body` with a page at this address, in a browser of its own.
 * @param {string} url @param {(page: Page) => Promise<void>} body
 */
export const withPage = (url, body) => withBrowser(async (browser) => body(await browser.open(url)));
