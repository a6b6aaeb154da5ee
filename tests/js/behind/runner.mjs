// The runner: what cannot be behind a worker is skipped, with the reason.
import assert from "node:assert/strict";
import { basename } from "node:path";
import * as real from "node:test";
import { INLINE } from "./inline.mjs";

export * from "node:test";
export { default } from "node:test";

const file = basename(process.argv[1], ".test.mjs");
const listed = INLINE[file] ?? {};
const unseen = new Set(Object.keys(listed));
const ALL = process.env.MATRIX === "all";

/** What waits for what never comes is a failure of its own, not of its file. */
const LIMIT_MS = 30_000;
/** The same of what is expected to fail. */
const FAILS_IN_MS = 5_000;

function reasonFor(title) {
  const found = Object.keys(listed).find((name) => name === "*" || title.startsWith(name));
  unseen.delete(found);
  return found && listed[found];
}

/** A test that is listed, and has to fail. */
const failing = (call) => async (t) => {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("it waits for ever")), FAILS_IN_MS));
  await assert.rejects(Promise.race([(async () => call(t))(), late]), undefined, "it passes: strike it off tests/js/behind/inline.mjs");
};

const { clearInterval, setInterval, setTimeout } = globalThis;
/** Ports hold nothing here, as a test may leave its caches open. So the process lives as long as a test or a hook of it is not over. */
const living = (call) => async (t) => {
  const life = setInterval(() => {}, 2 ** 30);
  try {
    return await call(t);
  } finally {
    clearInterval(life);
  }
};

/** A file may open caches before it says its first test. */
const loading = setInterval(() => {}, 2 ** 30);

process.on("exit", () => {
  if (unseen.size === 0) return;
  console.error(`tests/js/behind/inline.mjs lists what ${file} does not have: ${[...unseen].join(", ")}`);
  process.exitCode = 1;
});

const wrapped = (runs) =>
  Object.assign((title, ...rest) => {
    clearInterval(loading);
    const reason = reasonFor(title);
    const [options, call] = rest.length > 1 ? rest : [{}, rest[0]];
    const skips = reason !== undefined && (!ALL || reason.startsWith("may:"));
    const skip = skips ? { skip: `not behind a worker: ${reason}` } : {};
    return runs(title, { timeout: LIMIT_MS, ...options, ...skip }, reason === undefined || skips ? living(call) : failing(call));
  }, runs);
const hook =
  (runs) =>
  (call, ...rest) =>
    runs(living(call), ...rest);

export const before = hook(real.before);
export const beforeEach = hook(real.beforeEach);
export const after = hook(real.after);
export const afterEach = hook(real.afterEach);
export const test = wrapped(real.test);
export const it = wrapped(real.it);
