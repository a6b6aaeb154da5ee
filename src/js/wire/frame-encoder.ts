import { Recent } from "../language/recent.js";
import { PlainEncoder } from "./plain-encoder.js";
import { Trial } from "./trial.js";

/** Frames of fewer characters are encoded sooner than they are compared. */
const MIN_LENGTH = 2_048;

/** Objects whose last frame is held. */
const MAX_HELD = 256;

/** Bytes of all that is held: some twenty-five pods. More would be much beside what a small resource holds. */
const MAX_HELD_BYTES = 768 << 10;

/** How long a frame is held while others come and none of its object, in milliseconds: the leases of nodes are renewed every ten seconds. */
const MAX_HELD_MS = 15_000;

/** An API server writes names and the version first. Where the version comes later, finding it costs too much. */
const MAX_BEFORE_VERSION = 2_048;

/** The characters before the version that tell objects apart: names and the uid. Two that agree in these only find that they differ. */
const MAX_KEY_LENGTH = 512;

const VERSION = '"resourceVersion":"';

/** Characters that are compared at once in the end. Shorter blocks take more comparisons, longer ones more copying. */
const BLOCK = 32;

/** Differences beyond this many blocks cost more than encoding. */
const MAX_BLOCKS = 48;

/** After so many frames it is asked whether holding frames pays. */
const PERIOD = 4 * MAX_HELD;

/** It pays where this part of them belonged to an object whose last frame was held. */
const MIN_KNOWN = PERIOD / 8;

/** Where it does not pay, so many frames pass before the next try. */
const REST = 16 * PERIOD;

/** Of all sockets of a page: it runs in one engine. */
const OF_THIS_PAGE = new Trial();

/** No ASCII character is beyond it. */
const MAX_ASCII = 0x7f;

/** The last frame of an object. All of it is ASCII, so a place in the text is the same place in the bytes. */
interface Held {
  text: string;
  /** The same, encoded. Of the first frame of an object there is only the text: there may be no second. */
  readonly bytes: Uint8Array | undefined;
  /** Where the blocks began that differed last: a heartbeat changes what the last one did. */
  blocks: readonly number[];
  since: number;
}

/**
 * Encodes the frames of a socket as a `TextEncoder` does, and those of busy objects sooner. Some browsers compare strings many times faster than
 * they encode them. So a frame is compared with the last one of its object. What is equal in both is copied from the bytes of that one. Where
 * a trial says that this does not pay, each frame is encoded and nothing is held.
 */
export class FrameEncoder {
  readonly #encoder: Pick<TextEncoder, "encodeInto">;
  readonly #trial: Trial;
  /** By what stands before the version. */
  readonly #held = new Recent<string, Held>();
  #bytes = 0;
  /** Frames since it was last asked whether this pays, how many of them were of known objects, and how many pass before the next try. */
  #seen = 0;
  #known = 0;
  #resting = 0;
  /** Hears how many bytes are held, each time that changes. Returns whether they may be. */
  onheld: (bytes: number) => boolean = () => true;

  constructor(trial = OF_THIS_PAGE, encoder: Pick<TextEncoder, "encodeInto"> = new PlainEncoder()) {
    this.#trial = trial;
    this.#encoder = encoder;
  }

  /** As that of a `TextEncoder`. */
  encodeInto(text: string, target: Uint8Array): TextEncoderEncodeIntoResult {
    const { length } = text;
    if (length < MIN_LENGTH || length > target.length || this.#rests()) return this.#encoder.encodeInto(text, target);
    let began = this.#trial.tick();
    const key = keyOf(text);
    if (key === undefined) return this.#encoder.encodeInto(text, target);
    const held = this.#held.get(key);
    let result: TextEncoderEncodeIntoResult;
    if (held === undefined) {
      result = this.#encodeAndHold(key, held, text, target);
    } else {
      this.#known++;
      if (this.#trial.isPlain) {
        began = this.#trial.tick();
        result = this.#encoder.encodeInto(text, target);
      } else {
        result = this.#renew(key, held, text, target) ?? this.#encodeAndHold(key, held, text, target);
      }
      this.#trial.done(began);
    }
    // Not before: the core hears of it, and what it does then could move the target.
    if (this.#seen >= PERIOD) this.#ask();
    return result;
  }

  /** Encodes the next frame of an object by what is held of the one before. Undefined where the whole is to be encoded. */
  #renew(key: string, held: Held, text: string, target: Uint8Array): TextEncoderEncodeIntoResult | undefined {
    if (held.bytes === undefined || !renew(held, held.bytes, text)) return undefined;
    target.set(held.bytes);
    // The key is part of a frame and keeps it whole. So it is put in anew, as part of the one that is held.
    this.#held.put(key, held);
    held.since = Date.now();
    this.#keepBounds(held.since, this.#bytes);
    return { read: text.length, written: text.length };
  }

  #encodeAndHold(key: string, held: Held | undefined, text: string, target: Uint8Array): TextEncoderEncodeIntoResult {
    const result = this.#encoder.encodeInto(text, target);
    // What is cut off counts fewer characters, and what is not ASCII more bytes.
    const isAscii = result.read === text.length && result.written === text.length;
    this.#replace(key, held, text, isAscii ? target : undefined);
    return result;
  }

  /** Holds nothing any more. */
  letGo(): void {
    this.#held.clear();
    this.#count(0);
  }

  /** Whether holding frames does not pay now. */
  #rests(): boolean {
    if (this.#trial.pays === false) return true;
    if (this.#resting === 0) {
      this.#seen++;
      return false;
    }
    this.#resting--;
    return true;
  }

  /** Asks whether holding frames has paid. */
  #ask(): void {
    if (this.#known < MIN_KNOWN) this.#rest();
    this.#seen = this.#known = 0;
  }

  #rest(): void {
    this.#resting = REST;
    this.letGo();
  }

  /** Holds a frame in place of the one before it, if it has become as many bytes as it has characters. */
  #replace(key: string, held: Held | undefined, text: string, encoded: Uint8Array | undefined): void {
    let bytes = this.#bytes;
    if (held !== undefined) {
      this.#held.delete(key);
      bytes -= bytesOf(held);
    }
    const since = Date.now();
    if (encoded !== undefined) {
      const next = { text, bytes: held && copy(encoded, text.length, held.bytes), blocks: [], since };
      this.#held.put(key, next);
      bytes += bytesOf(next);
    }
    this.#keepBounds(since, bytes);
  }

  /** Lets go of the oldest frames that are beyond a bound, where all take so many bytes. */
  #keepBounds(now: number, bytes: number): void {
    for (let { oldest } = this.#held; oldest !== undefined; oldest = oldest.newer) {
      if (this.#held.size <= MAX_HELD && bytes <= MAX_HELD_BYTES && now - oldest.value.since <= MAX_HELD_MS) break;
      this.#held.delete(oldest.key);
      bytes -= bytesOf(oldest.value);
    }
    this.#count(bytes);
  }

  #count(bytes: number): void {
    if (this.#bytes === bytes) return;
    this.#bytes = bytes;
    if (bytes > 0) this.#trial.holders.add(this);
    else this.#trial.holders.delete(this);
    if (!this.onheld(bytes)) this.#rest();
  }
}

/** What tells the object of a frame from others; undefined where it is not found soon. */
function keyOf(text: string): string | undefined {
  const at = text.slice(0, MAX_BEFORE_VERSION).indexOf(VERSION);
  return at < 0 ? undefined : text.slice(Math.max(0, at - MAX_KEY_LENGTH), at);
}

function bytesOf({ text, bytes }: Held): number {
  return text.length + (bytes === undefined ? 0 : bytes.length);
}

/** The first bytes of an array, in another one of so many if there is one. */
function copy(from: Uint8Array, length: number, into: Uint8Array | undefined): Uint8Array {
  if (into?.length !== length) return from.slice(0, length);
  into.set(from.subarray(0, length));
  return into;
}

/** Makes what is held of an object that of its next frame. False where the whole is to be encoded. Its bytes are of no use then. */
function renew(held: Held, bytes: Uint8Array, text: string): boolean {
  const { length } = text;
  const blocks = bytes.length === length ? differing(held, text) : undefined;
  if (blocks === undefined) return false;
  let all = 0;
  for (const block of blocks) {
    const end = Math.min(block + BLOCK, length);
    for (let at = block; at < end; at++) {
      const unit = text.charCodeAt(at);
      all |= unit;
      bytes[at] = unit;
    }
  }
  held.text = text;
  held.blocks = blocks.length > MAX_BLOCKS / 2 ? [] : blocks; // else they only ever become more
  return all <= MAX_ASCII;
}

/** Where the blocks begin that hold all differences, in the order of the text; undefined where there are too many. */
function differing({ text: before, blocks: last }: Held, text: string): number[] | undefined {
  const blocks: number[] = [];
  let from = 0;
  for (const block of last) {
    if (!compare(before, text, from, block, blocks)) return undefined;
    blocks.push(block);
    from = block + BLOCK;
  }
  return compare(before, text, from, text.length, blocks) ? blocks : undefined;
}

/** Adds the blocks between these two places in which they differ. False where that are too many. */
function compare(before: string, text: string, from: number, to: number, blocks: number[]): boolean {
  if (from >= to || before.slice(from, to) === text.slice(from, to)) return true;
  if (to - from > BLOCK) {
    const middle = (from + to) >> 1;
    return compare(before, text, from, middle, blocks) && compare(before, text, middle, to, blocks);
  }
  return blocks.push(from) < MAX_BLOCKS;
}
