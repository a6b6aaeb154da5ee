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

/** Ports hold nothing here, as a test may leave its caches open. So the process lives as long as its tests are not over. */
const living = setInterval(() => {}, 2 ** 30);
const { clearInterval, setTimeout } = globalThis;
let pending = 0;
async function over() {
  pending -= 1;
  // A file may be about to say more of them.
  await undefined;
  if (pending > 0) return;
  clearInterval(living);
  assert.deepEqual([...unseen], [], `tests/js/behind/inline.mjs lists what ${file} does not have`);
}

const wrapped = (runs) =>
  Object.assign((title, ...rest) => {
    const reason = reasonFor(title);
    const [options, call] = rest.length > 1 ? rest : [{}, rest[0]];
    const skips = reason !== undefined && (!ALL || reason.startsWith("may:"));
    if (skips) options.skip = `not behind a worker: ${reason}`;
    pending += 1;
    const done = runs(title, { timeout: LIMIT_MS, ...options }, reason === undefined || skips ? call : failing(call));
    void Promise.resolve(done).finally(over);
    return done;
  }, runs);

export const test = wrapped(real.test);
export const it = wrapped(real.it);
