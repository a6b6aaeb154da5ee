// The encoder of a socket's frames beside the `TextEncoder` whose place it takes, alone: what writes a frame into the core's memory.
import { FrameEncoder } from "../../dist/wire/frame-encoder.js";
import { Trial } from "../../dist/wire/trial.js";
import { interleave, turn } from "./measure.js";
import { events } from "./shapes.js";
import { FRAMES_A_TASK, LISTED } from "./upstream.js";

/** Room for a frame, as the core has it for one: in the memory of a WebAssembly. */
const PAGES = 4;
/** From one byte that is summed up to the next. */
const STEP = 97;

/**
 * @param {{ rounds: number, warmUp: number, count: number, objects: number, shape: string, always?: boolean }} options `count` frames a round, behind
 * `warmUp` others, about `objects` pods in turn, of a `shape`. With `always` they are compared in any case, whatever a trial would say
 */
export async function encoder({ rounds, warmUp, count, objects, shape, always }) {
  const trial = new Trial();
  if (always) trial.pays = true;
  /** Both, as `TextEncoder`s are used. */
  const encoders = { FrameEncoder: () => new FrameEncoder(trial), encodeInto: () => new TextEncoder() };
  const harness = (make) => async () => {
    const { frames } = events({ shape, objects });
    const target = new Uint8Array(new WebAssembly.Memory({ initial: PAGES }).buffer);
    const encoder = make();
    let ms = 0;
    let sum = 0;
    for (let i = 0; i < warmUp + count; i += FRAMES_A_TASK) {
      // Made just before, in a task of their own, as a socket decodes its messages.
      const texts = frames(LISTED + 1 + i, FRAMES_A_TASK);
      await turn();
      const began = performance.now();
      for (const text of texts) {
        const { written } = encoder.encodeInto(text, target);
        sum = (Math.imul(sum, 31) + written + target[written - 1]) | 0;
      }
      if (i >= warmUp) ms += performance.now() - began;
      for (let at = 0; at < texts.at(-1).length; at += STEP) sum = (Math.imul(sum, 31) + target[at]) | 0;
    }
    return { ms, checksum: String(sum) };
  };
  const harnesses = Object.fromEntries(Object.entries(encoders).map(([name, make]) => [name, harness(make)]));
  return { unit: "frame", units: count, harnesses: await interleave(rounds, harnesses), pays: trial.pays };
}
