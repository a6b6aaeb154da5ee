// Rounds: every harness once a round, in turn, so that a busy neighbour hurts all of them alike.

const channel = new MessageChannel();
const waiting = [];
channel.port1.onmessage = () => waiting.shift()();

/** The host's turn: a task later, without the clamp of timers. */
export function turn() {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}

const PATIENCE_MS = 60_000;

/** Waits for something that is about to happen. */
export async function until(holds, otherwise) {
  const deadline = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${otherwise}, not within ${PATIENCE_MS / 1000} s`);
    await turn();
  }
}

/** Nobody pays for what another left behind: garbage goes, and the callbacks that follow it run. */
export async function settle() {
  globalThis.gc?.();
  for (let i = 0; i < 3; i++) await turn();
}

/** This thread's processor time so far, by the browser's protocol. Other engines than Chromium have none to tell. */
async function threadMs() {
  return globalThis.threadSeconds && (await globalThis.threadSeconds()) * 1000;
}

/**
 * Runs the work and says what it took: milliseconds by the clock, and this thread's processor time where that is known. The latter is not
 * stretched by a busy machine.
 */
export async function timed(work) {
  await turn();
  const cpuBegan = await threadMs();
  const began = performance.now();
  await work();
  const ms = performance.now() - began;
  return cpuBegan === undefined ? { ms } : { ms, cpuMs: (await threadMs()) - cpuBegan };
}

/**
 * Runs every harness once to warm up and then `rounds` times. Who begins changes from round to round.
 * @param {number} rounds
 * @param {Record<string, () => Promise<{ ms: number, cpuMs?: number, checksum: string }>>} harnesses
 * @returns milliseconds of every round, and the checksum of the work done, by harness
 */
export async function interleave(rounds, harnesses) {
  const names = Object.keys(harnesses);
  const results = Object.fromEntries(names.map((name) => [name, { ms: [], checksums: new Set() }]));
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round + 1) % names.length];
      await settle();
      const { ms, cpuMs, checksum } = await harnesses[name]();
      results[name].checksums.add(checksum);
      if (round < 0) continue;
      results[name].ms.push(ms);
      if (cpuMs !== undefined) (results[name].cpuMs ??= []).push(cpuMs);
    }
  }
  return Object.fromEntries(
    Object.entries(results).map(([name, { checksums, ...times }]) => [name, { ...times, checksum: [...checksums].join(" ") }]),
  );
}

/** FNV-1a over the UTF-16 units of many texts. */
export class Checksum {
  #hash = 0x811c9dc5;

  add(text) {
    for (let i = 0; i < text.length; i++) this.#hash = Math.imul(this.#hash ^ text.charCodeAt(i), 0x01000193);
    return this;
  }

  toString() {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }
}
