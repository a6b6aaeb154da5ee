// Elements of a page, found anew at each call, as Playwright's locators are.
import { find } from "./find.mjs";

const patternOf = (text) => (text instanceof RegExp ? { source: text.source, flags: text.flags } : { text });

/** Runs in the page: writes into an input as a person does, so that React hears it. */
function write(input, text) {
  input.focus();
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), "value").set.call(input, text);
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

export class Locator {
  #page;
  #steps;

  /** @param {import("./page.mjs").Page} page @param {import("./find.mjs").Step[]} steps */
  constructor(page, steps) {
    this.#page = page;
    this.#steps = steps;
  }

  get steps() {
    return this.#steps;
  }

  #with(...steps) {
    return new Locator(this.#page, [...this.#steps, ...steps]);
  }

  locator(css, { hasText, has } = {}) {
    const filters = [...(hasText === undefined ? [] : [{ hasText: patternOf(hasText) }]), ...(has ? [{ has: has.steps }] : [])];
    return this.#with({ css }, ...filters);
  }

  getByRole(role, { name, exact = false }) {
    return this.#with({ role, name: patternOf(name), exact });
  }

  getByText(text, { exact = false } = {}) {
    return this.#with({ text, exact });
  }

  first() {
    return this.#with({ first: true });
  }

  last() {
    return this.#with({ last: true });
  }

  evaluateAll(script, argument) {
    const code = `const [steps, given] = arguments[0]; const work = async () => (${script})((${find})(steps), given);`;
    return this.#page.call(code, [this.#steps, argument]);
  }

  /** Waits for one element; more are a mistake of the test. */
  async #one(script, argument) {
    const code = `const [steps, given] = arguments[0]; const work = async () => {
      const found = (${find})(steps);
      return found.length === 1 ? { value: await (${script})(found[0], given) } : { count: found.length };
    };`;
    const got = await this.#page.until(
      async () => {
        const answer = await this.#page.call(code, [this.#steps, argument]);
        if (answer.count > 1) throw new Error(`${answer.count} elements are ${JSON.stringify(this.#steps)}`);
        return answer.count === 0 ? undefined : answer;
      },
      () => JSON.stringify(this.#steps),
    );
    return got.value;
  }

  evaluate(script, argument) {
    return this.#one(script, argument);
  }

  count() {
    return this.evaluateAll((all) => all.length);
  }

  innerText() {
    return this.#one((element) => element.innerText);
  }

  allInnerTexts() {
    return this.evaluateAll((all) => all.map((element) => element.innerText));
  }

  isDisabled() {
    return this.#one((element) => element.disabled);
  }

  async getAttribute(name) {
    return this.#one((element, name) => element.getAttribute(name), name);
  }

  boundingBox() {
    return this.#one((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    });
  }

  async focus() {
    await this.#one((element) => element.focus());
  }

  async fill(text) {
    await this.#one(write, text);
  }

  /** A key at a time, with the page's turn between them. */
  async pressSequentially(text) {
    await this.focus();
    for (const key of text) await this.#page.keyboard.type(key);
  }

  async waitFor({ state = "visible" } = {}) {
    const isThere = (all, state) =>
      state === "attached"
        ? all.length > 0
        : all.some((element) => element.checkVisibility({ visibilityProperty: true }) && element.getBoundingClientRect().height > 0);
    await this.#page.until(
      () => this.evaluateAll(isThere, state),
      () => `${state}: ${JSON.stringify(this.#steps)}`,
    );
  }

  /** A click of the mouse, once there is one such element, enabled, and nothing over it. */
  async click() {
    const key = "element-6066-11e4-a52e-4f735466cecf";
    let why = "";
    await this.#page.until(
      async () => {
        const script = `const found = (${find})(arguments[0]); if (found.length > 1) throw new Error(found.length + " elements");
          return found[0]?.disabled ? null : found[0] ?? null;`;
        const element = await this.#page.ask("POST", "/execute/sync", { script, args: [this.#steps] });
        if (element === null) return false;
        try {
          await this.#page.ask("POST", `/element/${element[key]}/click`, {});
          return true;
        } catch (error) {
          why = String(error);
          if (/stale element|not interactable|click intercepted/.test(why)) return false;
          throw error;
        }
      },
      () => `a click on ${JSON.stringify(this.#steps)} ${why}`,
    );
  }
}
