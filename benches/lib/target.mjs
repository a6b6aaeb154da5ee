// A page that nobody watches. Playwright follows the network of each page that it opens. The browser then copies every byte of an answer,
// decodes whole bodies and reports each frame of a WebSocket. It does so within the page's own thread, which no user's page does. So pages
// are opened over the protocol itself, and no more of it is enabled than what is asked for.

/**
 * Opens a page of a context of its own, and so with a process of its own.
 * @param {import("playwright-core").Browser} browser
 * @param {Record<string, () => Promise<unknown>>} functions what the page may call, by names of `globalThis`
 */
export async function openTarget(browser, functions = {}) {
  const outer = await browser.newBrowserCDPSession();
  const { browserContextId } = await outer.send("Target.createBrowserContext");
  const { targetId } = await outer.send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await outer.send("Target.attachToTarget", { targetId, flatten: false });
  const { send, errors } = talk(outer, sessionId, functions);
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw thrown(exceptionDetails);
    return result.value;
  };
  await Promise.all([send("Page.enable"), send("Runtime.enable"), send("Performance.enable")]);
  for (const name of Object.keys(functions)) {
    await send("Runtime.addBinding", { name: bindingOf(name) });
    await send("Page.addScriptToEvaluateOnNewDocument", {
      source: `(${expose})(${JSON.stringify(name)}, ${JSON.stringify(bindingOf(name))})`,
    });
  }
  return {
    send,
    errors,
    evaluate,
    /** Goes to an address; what the page is to set once it is ready is awaited. */
    async goto(url, ready) {
      const { errorText } = await send("Page.navigate", { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
      while (!(await evaluate(`location.href === ${JSON.stringify(url)} && globalThis.${ready} !== undefined`))) {
        if (errors.length > 0) throw errors[0];
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await evaluate(`Promise.resolve(${ready}).then(() => undefined)`);
    },
    async close() {
      await outer.send("Target.disposeBrowserContext", { browserContextId });
      await outer.detach();
    },
  };
}

const bindingOf = (name) => `ask_${name}`;

const thrown = ({ exception, text }) => new Error(exception?.description ?? `${text} ${JSON.stringify(exception?.value)}`);

/** Commands to a target and their answers, which the protocol carries as texts inside of the browser's session. */
function talk(outer, sessionId, functions) {
  const waiting = new Map();
  const errors = [];
  let last = 0;
  function send(method, params = {}) {
    const id = ++last;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      outer.send("Target.sendMessageToTarget", { sessionId, message: JSON.stringify({ id, method, params }) }).catch(reject);
    });
  }
  async function called({ name, payload }) {
    const function_ = Object.keys(functions).find((known) => bindingOf(known) === name);
    const value = await functions[function_]();
    await send("Runtime.evaluate", { expression: `${name}.answer(${payload}, ${JSON.stringify(value)})` });
  }
  function ended(reason) {
    for (const { reject } of waiting.values()) reject(new Error(reason));
    waiting.clear();
  }
  outer.on("Target.receivedMessageFromTarget", (event) => {
    if (event.sessionId !== sessionId) return;
    const { id, result, error, method, params } = JSON.parse(event.message);
    if (method === "Runtime.exceptionThrown") errors.push(thrown(params.exceptionDetails));
    if (method === "Runtime.bindingCalled") called(params).catch((reason) => errors.push(reason));
    if (method === "Inspector.targetCrashed") ended("the page crashed");
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  });
  outer.on("Target.detachedFromTarget", (event) => event.sessionId === sessionId && ended("the page is gone"));
  return { send, errors };
}

/** Runs in the page: makes a function that asks this process of a binding, which only takes texts and answers nothing. */
function expose(name, binding) {
  const waiting = [];
  globalThis[binding].answer = (number, value) => waiting[number](value);
  globalThis[name] = () => {
    return new Promise((resolve) => {
      globalThis[binding](String(waiting.push(resolve) - 1));
    });
  };
}
