// Pages that have loaded the benchmarks, over WebDriver. Each page is a browser of its own, so none pays for what another left behind.
import { startSession } from "../../scripts/lib/webdriver.mjs";

/** A round of a slow peer takes minutes. */
const SCRIPT_MS = 30 * 60_000;
const START_MS = 60_000;

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
  const { ask, close, name } = await startSession(engine);
  const execute = async (function_, ...args) => {
    const script = `(${function_})(...arguments)`;
    const { value, error, errors = [] } = JSON.parse(await ask("POST", "/execute/async", { script, args }));
    if (error ?? errors[0]) throw new Error(error ?? errors[0]);
    return value;
  };
  try {
    await ask("POST", "/timeouts", { script: START_MS, pageLoad: START_MS });
    if (url !== undefined) {
      await ask("POST", "/url", { url: `${url}/index.html` });
      await execute(whenReady);
      await ask("POST", "/timeouts", { script: SCRIPT_MS });
    }
    return { name, run: (scenario, options) => execute(runScenario, scenario, options ?? null), throwErrors() {}, close };
  } catch (error) {
    await close();
    throw error;
  }
}
