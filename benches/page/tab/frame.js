// A page of a harness inside of this tab: a frame with a global, and so a cache and a store, of its own. Frames of one origin share a
// process, and with it the thread and the collector.

/** @param {AbortSignal} signal ends what runs at its next step */
export function browserOf(signal) {
  return {
    /** As lib/pages.mjs asks it of a browser. @param {string} url */
    async openPage(url) {
      const frame = document.createElement("iframe");
      frame.src = `${url}/index.html`;
      frame.title = "a harness";
      frame.tabIndex = -1;
      const loaded = new Promise((resolve, reject) => {
        frame.onload = resolve;
        frame.onerror = () => reject(new Error(`${frame.src} did not load`));
      });
      document.body.append(frame);
      await loaded;
      const page = frame.contentWindow;
      const errors = [];
      page.addEventListener("error", ({ error, message }) => errors.push(error ?? new Error(message)));
      page.addEventListener("unhandledrejection", ({ reason }) => errors.push(reason));
      const throwErrors = () => {
        if (errors.length > 0) throw errors.shift();
      };
      const close = () => frame.remove();
      try {
        await page.ready;
      } catch (error) {
        close();
        throw error;
      }
      return {
        async run(name, options) {
          signal.throwIfAborted();
          // As values of this page's own global, not of the frame's.
          const result = structuredClone(await page.scenarios[name](options));
          throwErrors();
          return result;
        },
        throwErrors,
        close,
      };
    },
  };
}
