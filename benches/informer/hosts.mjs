// Where an informer is measured: a process of Node, or a page. Each gives `ask(step, options)`, `heap()` and `close()`.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { heapBytes, openPage } from "../lib/pages.mjs";

/** A fresh process of Node. */
export async function nodeHost(options) {
  const child = fork(fileURLToPath(new URL("./node.mjs", import.meta.url)), [JSON.stringify(options)], { execArgv: ["--expose-gc"] });
  const waiting = new Map();
  let ids = 0;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const ready = new Promise((resolve) => waiting.set(0, { resolve }));
  child.on("message", ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error));
    else resolve(result);
  });
  void ended.then((code) => {
    for (const { reject } of waiting.values()) reject?.(new Error(`the measured process ended with ${code}`));
  });
  const ask = (step, given) =>
    new Promise((resolve, reject) => {
      const id = ++ids;
      waiting.set(id, { resolve, reject });
      child.send({ id, step, options: given });
    });
  await Promise.race([
    ready,
    ended.then((code) => {
      throw new Error(`the measured process did not start: it ended with ${code}`);
    }),
  ]);
  return {
    ask,
    heap: () => ask("heap"),
    async close() {
      if (child.exitCode === null) child.kill();
      await ended;
    },
  };
}

/** A fresh page. */
export async function pageHost(browser, url, options) {
  const page = await openPage(browser, url);
  const ask = (step, given) => page.run("informer", { step, options: given });
  await ask("prepare", options);
  return { ask, heap: () => heapBytes(page.protocol), close: page.close };
}
