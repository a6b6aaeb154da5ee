import { Trial } from "./trial.js";

/** Shorter texts are encoded sooner than anything is tried. */
const MIN_LENGTH = 2_048;

/** So many characters are written before it is asked whether all were ASCII. */
const PIECE = 1_024;

/** No ASCII character is beyond it. */
const MAX_ASCII = 0x7f;

/** Of all sockets of a page: it runs in one engine. */
export const OF_THIS_PAGE = new Trial();

/**
 * Encodes each text as a `TextEncoder` does. WebKit's takes more than twice as long as a loop that writes ASCII characters one by one; in other
 * browsers that loop takes longer. A trial decides.
 */
export class PlainEncoder {
  readonly #encoder = new TextEncoder();
  readonly #trial: Trial;

  constructor(trial = OF_THIS_PAGE) {
    this.#trial = trial;
  }

  /** As that of a `TextEncoder`. */
  encodeInto(text: string, target: Uint8Array): TextEncoderEncodeIntoResult {
    if (text.length < MIN_LENGTH || text.length > target.length || this.#trial.pays === false)
      return this.#encoder.encodeInto(text, target);
    const began = this.#trial.tick();
    const result = this.#trial.isPlain ? this.#encoder.encodeInto(text, target) : this.#write(text, target);
    this.#trial.done(began);
    return result;
  }

  /** Writes characters one by one, up to a piece that is not all ASCII. */
  #write(text: string, target: Uint8Array): TextEncoderEncodeIntoResult {
    const { length } = text;
    for (let at = 0; at < length; at += PIECE) {
      const end = Math.min(at + PIECE, length);
      let all = 0;
      for (let i = at; i < end; i++) {
        const unit = text.charCodeAt(i);
        all |= unit;
        target[i] = unit;
      }
      if (all <= MAX_ASCII) continue;
      const { read, written } = this.#encoder.encodeInto(text.slice(at), target.subarray(at));
      return { read: at + read, written: at + written };
    }
    return { read: length, written: length };
  }
}
