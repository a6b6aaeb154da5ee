// A page of WebKitGTK: navigation, scripts, what it says, and the keyboard.
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Locator } from "./locator.mjs";

const PATIENCE_MS = 30_000;
const AGAIN_MS = 20;
/** How WebDriver writes keys that are no letters. */
const KEYS = {
  Enter: "\uE007",
  Escape: "\uE00C",
  PageUp: "\uE00E",
  PageDown: "\uE00F",
  End: "\uE010",
  Home: "\uE011",
  ArrowLeft: "\uE012",
  ArrowUp: "\uE013",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
};

/** Runs in the page: keeps what it says from then on. */
function listen() {
  const said = [];
  const error = (reason) => said.push(["pageerror", String(reason?.message ?? reason), String(reason?.stack ?? "")]);
  addEventListener("error", (event) => event instanceof ErrorEvent && error(event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => error(event.reason));
  for (const [method, type] of Object.entries({ error: "error", warn: "warning", log: "log", info: "info" })) {
    const original = console[method];
    console[method] = (...args) => {
      said.push([type, args.map(String).join(" ")]);
      original.apply(console, args);
    };
  }
  Object.defineProperty(window, "watchcacheSaid", { value: said });
}

/** What stands for undefined in JSON, which has no word for it. */
const NONE = "\u0000undefined";

function withNone(value) {
  if (value === NONE) return undefined;
  if (typeof value === "object" && value !== null) for (const key of Object.keys(value)) value[key] = withNone(value[key]);
  return value;
}

export class Page {
  #session;
  #listeners = [];
  #patience = PATIENCE_MS;

  #closed = false;

  constructor(session) {
    this.#session = session;
  }

  isClosed() {
    return this.#closed;
  }

  /** Its window stays: the next page of the context has that. */
  async close() {
    this.#closed = true;
    this.#listeners = [];
    await this.goto("about:blank");
  }

  async start({ width, height }) {
    await this.#session.ask("POST", "/timeouts", { script: 10 * 60_000, pageLoad: 60_000 });
    // The window has its own borders, and takes a while.
    for (let tries = 0; tries < 20; tries++) {
      const [inner, rect] = [await this.evaluate(() => [innerWidth, innerHeight]), await this.#session.ask("GET", "/window/rect")];
      if (inner[0] === width && inner[1] === height) return;
      await this.#session.ask("POST", "/window/rect", { width: rect.width + width - inner[0], height: rect.height + height - inner[1] });
      await sleep(AGAIN_MS);
    }
    throw new Error(`the window of MiniBrowser cannot be ${width} x ${height}`);
  }

  /** "pageerror" and "console", as a script after the page's load hears them. */
  on(event, listener) {
    if (event !== "pageerror" && event !== "console") throw new Error(`WebDriver tells no ${event} of WebKitGTK`);
    this.#listeners.push({ event, listener });
  }

  setDefaultTimeout(ms) {
    this.#patience = ms || Infinity;
  }

  ask(method, path, body) {
    return this.#session.ask(method, path, body);
  }

  async goto(url) {
    await this.ask("POST", "/url", { url });
    await this.evaluate(listen);
  }

  async evaluate(script, argument) {
    const call = typeof script === "function" ? `(${script})(...given)` : String(script);
    return this.call(`const given = arguments[0]; const work = async () => ${call};`, argument === undefined ? [] : [argument]);
  }

  /** Runs a script that defines `work`, and answers what that resolves to. */
  async call(script, argument) {
    const body = `${script}
      const done = arguments[arguments.length - 1];
      const none = (_key, value) => (value === undefined ? ${JSON.stringify(NONE)} : value);
      const answer = (result) => done(JSON.stringify({ ...result, said: window.watchcacheSaid?.splice(0) ?? [] }, none));
      work().then((value) => answer({ value }), (error) => answer({ error: String(error), stack: String(error?.stack) }));`;
    const answer = withNone(JSON.parse(await this.ask("POST", "/execute/async", { script: body, args: [argument] })));
    for (const [type, text, stack] of answer.said) this.#tell(type, text, stack);
    if (answer.error !== undefined) throw new Error(`${answer.error}\n${answer.stack}`);
    return answer.value;
  }

  #tell(type, text, stack) {
    const event = type === "pageerror" ? type : "console";
    const told =
      event === "console"
        ? { type: () => type, text: () => text, location: () => ({ url: "" }) }
        : Object.assign(new Error(text), { stack: `${text}\n${stack}` });
    for (const one of this.#listeners) if (one.event === event) one.listener(told);
  }

  /** Asks until it gives something, or for too long. */
  async until(look, what, ms = this.#patience) {
    for (const end = Date.now() + ms; ; await sleep(AGAIN_MS)) {
      const found = await look();
      if (found) return found;
      if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for ${what()}`);
    }
  }

  async waitForFunction(script, argument, { timeout } = {}) {
    const value = await this.until(
      () => this.evaluate(script, argument),
      () => script,
      timeout,
    );
    return { jsonValue: async () => value };
  }

  waitForTimeout(ms) {
    return sleep(ms);
  }

  locator(css, options) {
    return new Locator(this, []).locator(css, options);
  }

  getByRole(role, options) {
    return new Locator(this, []).getByRole(role, options);
  }

  getByText(text, options) {
    return new Locator(this, []).getByText(text, options);
  }

  fill(css, text) {
    return this.locator(css).fill(text);
  }

  inputValue(css) {
    return this.locator(css).evaluate((input) => input.value);
  }

  async screenshot({ path }) {
    writeFileSync(path, Buffer.from(await this.ask("GET", "/screenshot"), "base64"));
  }

  #press(keys) {
    const actions = keys.flatMap((value) => ["keyDown", "keyUp"].map((type) => ({ type, value })));
    return this.ask("POST", "/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
  }

  keyboard = {
    press: (key) => this.#press([KEYS[key] ?? key]),
    type: (text) => this.#press([...text]),
  };
}
