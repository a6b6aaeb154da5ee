// What a million events and ten thousand subscribers leave behind in a page that stays open. It is counted on the heap after a collection
// (through the DevTools protocol) and in WebAssembly memory.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chromiumOnly } from "../engines/launch.mjs";
import { served } from "./served.mjs";

/** Any more than this is something that stays behind of each event or cycle. */
const SLACK = 300_000;
/** WebAssembly memory never shrinks, so what it once needed at its worst counts; it grows in steps. */
const WASM_SLACK = 1 << 20;

/** Only this protocol collects garbage and counts what is left. */
const HEAP = chromiumOnly("the heap is measured by the DevTools protocol");

const at = served("tests/browser/flat-page.js");

async function open() {
  const context = await at.browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(0);
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  const protocol = await context.newCDPSession(page);
  await page.goto(at.url);
  await page.waitForFunction(() => globalThis.ready !== undefined);
  await page.evaluate(() => globalThis.ready);
  const collect = () => protocol.send("HeapProfiler.collectGarbage");
  const run = (name, ...args) => page.evaluate(([name, args]) => globalThis.flat[name](...args), [name, args]);
  /** Bytes that are held once all garbage is gone, of which finalizers make some more. */
  const held = async () => {
    for (let i = 0; i < 4; i++) {
      await collect();
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    const { usedSize } = await protocol.send("Runtime.getHeapUsage");
    return { heap: usedSize, wasm: await run("memoryBytes") };
  };
  const close = async () => {
    assert.deepEqual(errors, []);
    await context.close();
  };
  return { page, run, collect, held, close };
}

function assertFlat(before, after, of) {
  assert.ok(after.heap <= before.heap + SLACK, `JavaScript heap after ${of}: ${before.heap} bytes became ${after.heap}`);
  assert.ok(after.wasm <= before.wasm + WASM_SLACK, `WebAssembly memory after ${of}: ${before.wasm} bytes became ${after.wasm}`);
}

/** Rounds of work that come before what is compared. */
const WARM = 6;

/** Rounds of work, with all garbage collected behind each; what is held after each. */
async function rounds(count, work, held) {
  const all = [];
  for (let i = 0; i < count; i++) {
    await work();
    all.push(await held());
  }
  return all;
}

/**
 * Works until `count` rounds in a row have left the page as it was. What WebAssembly needs at its worst may be needed late, and its memory
 * never shrinks. So more rounds follow where it has grown, up to four times as many. A leak grows in all of them.
 *
 * @returns the number of rounds
 */
async function untilFlat(count, work, held) {
  const seen = await rounds(WARM + count - 1, work, held);
  for (;;) {
    seen.push(...(await rounds(1, work, held)));
    const [before, after] = [seen.at(-1 - count), seen.at(-1)];
    if (after.heap <= before.heap + SLACK && after.wasm <= before.wasm + WASM_SLACK) return seen.length;
    const sizes = () => seen.map(({ heap, wasm }) => `${heap} + ${wasm}`).join("\n");
    assert.ok(seen.length < WARM + 4 * count, `bytes of JavaScript and of WebAssembly after each round:\n${sizes()}`);
  }
}

test("law_08_bounded: a million events leave a page as it was", HEAP, async () => {
  const { page, run, collect, held, close } = await open();
  await page.evaluate(() => void (globalThis.users = globalThis.flat.settle()));
  // An event that nobody holds any more stays pinned until the collector runs. When the collector runs by itself, the peak of two runs
  // differs by as much as the events of a round take. So the test collects.
  const work = async () => {
    for (let fed = 0; fed < 50_000; fed += 1_000) {
      await run("feed", 1_000);
      await collect();
    }
  };
  const count = await untilFlat(14, work, held);
  assert.equal((await run("stats")).events, 50_000 * count);
  assert.ok((await page.evaluate(() => globalThis.users.heard())) > 50_000 * count);
  await page.evaluate(() => globalThis.users.stop());
  await close();
});

test("law_08_bounded: ten thousand subscribers that come and go leave a page as it was", HEAP, async () => {
  const { run, held, close } = await open();
  const work = () => run("cycles", 500);
  await run("feed", 5_000); // the history is full
  const before = (await rounds(WARM, work, held)).at(-1);
  await rounds(14, work, held);
  // Finalizers speak when the page does something.
  const after = (await rounds(2, () => run("feed", 400), held)).at(-1);
  const { watchers, views } = await run("stats");
  assert.deepEqual({ watchers, views }, { watchers: 0, views: 0 });
  assertFlat(before, after, "7,000 cycles of seven subscribers");
  await close();
});

test("law_08_bounded: caches that are closed while their views show are gone", HEAP, async () => {
  const { run, held, close } = await open();
  // With a worker the page holds a port, too.
  for (const mode of ["inline", "shared"]) {
    const work = () => run("closed", 20, mode);
    const before = (await rounds(WARM, work, held)).at(-1);
    const after = (await rounds(6, work, held)).at(-1);
    assertFlat(before, after, `120 closed caches, ${mode}`);
  }
  await close();
});
