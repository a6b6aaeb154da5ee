// Compares the bytes held after a session of a thousand mounts, filters and routes with those held before it. tests/js/session.test.mjs
// counts the views, watchers and timers of the same session. Prints one line of JSON a figure. Run with --expose-gc.
//
// Before it comes another such session with its five minutes, so that everything that is made once exists, and tables are at their
// largest. The figure of the JavaScript heap is the least after several collections. The figure of the WebAssembly is the bytes that its
// allocator has handed out. Its memory as a whole never shrinks, and grows by steps that hide a leak.
import { openSession, turns } from "../../tests/js/lib/session.mjs";

const MOUNTS = 1_000;
const COLLECTIONS = 8;

/** The module's memory, and where its heap begins: behind what the module itself asks for. */
let memory;
let heap;
const { Instance } = WebAssembly;
const noted = (instance) => {
  const found = Object.values(instance.exports).find((value) => value instanceof WebAssembly.Memory);
  if (found) [memory, heap] = [found, found.buffer.byteLength];
  return instance;
};
WebAssembly.Instance = function (...given) {
  return noted(new Instance(...given));
};
WebAssembly.Instance.prototype = Instance.prototype;
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...given) => {
  const result = await instantiate.call(WebAssembly, ...given);
  noted(result.instance ?? result);
  return result;
};

/**
 * Bytes in use, chunk by chunk as dlmalloc has them, Rust's allocator for WebAssembly. The size of each chunk stands in it, with a bit for
 * "in use".
 */
function wasmBytes() {
  const words = new Uint32Array(memory.buffer);
  const end = memory.buffer.byteLength;
  let used = 0;
  let at = heap;
  // What is left at the end is the allocator's own.
  while (at < end - 64) {
    const head = words[(at + 4) >> 2];
    const size = head & ~7;
    if (size < 16 || at + size > end) throw new Error(`no chunk of dlmalloc at ${at} of ${end}: the allocator is another one`);
    if (head & 2) used += size;
    at += size;
  }
  return used;
}

/** Finalizers run between collections, and what they let go of may be the last to hold something else. */
async function heapBytes() {
  let least = Infinity;
  for (let i = 0; i < COLLECTIONS; i++) {
    globalThis.gc();
    await turns(5);
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}

async function held() {
  const javascript = await heapBytes();
  return { javascript, wasm: wasmBytes() };
}

/**
 * Each figure is a multiple of what was held before. Only what WebAssembly holds after the linger is given in bytes. So little is held
 * before it that a saving there would make the multiple worse.
 */
function print(moment, before, after, inBytes = []) {
  for (const kind of Object.keys(after)) {
    const figure = inBytes.includes(kind)
      ? { unit: "bytes", value: after[kind] }
      : { unit: "of before", value: after[kind] / before[kind] };
    console.log(JSON.stringify({ name: `session-${kind}-${moment}`, ...figure, before: before[kind], after: after[kind] }));
  }
}

const session = await openSession();
await session.sync();
await session.mounts(MOUNTS);
await session.fiveMinutes();
const before = await held();
await session.sync();
await session.mounts(MOUNTS, MOUNTS);
await session.linger();
print("after-linger", before, await held(), ["wasm"]);
await session.fiveMinutes();
print("after-five-minutes", before, await held());
process.exit(0);
