// The encoder of texts of which nothing is held, beside the TextEncoder whose place it takes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { PlainEncoder } from "../../dist/wire/plain-encoder.js";
import { Trial } from "../../dist/wire/trial.js";

const theirs = new TextEncoder();

/** Where the loop is known to pay, or not to. */
const where = (pays) => new PlainEncoder(Object.assign(new Trial(), { pays }));

/** Encodes by both, and holds one against the other. */
function beside(encoder, text, room) {
  const [a, b] = [new Uint8Array(room), new Uint8Array(room)];
  const { read, written } = encoder.encodeInto(text, a);
  assert.deepEqual({ read, written }, theirs.encodeInto(text, b));
  assert.ok(Buffer.from(a.buffer, 0, written).equals(Buffer.from(b.buffer, 0, written)), text.slice(0, 120));
}

test("shr_10: what is written character by character is what a TextEncoder makes of it", () => {
  const encoder = where(true);
  let seed = 5;
  const below = (bound) => (seed = (Math.imul(seed, 48_271) >>> 0) % 0x7fff_ffff) % bound;
  const pieces = ["ü", "\ud83d\ude00", "\ud800", "\udc00", "\u007f", "\u0080", "\u0000", "\uffff"];
  for (let i = 0; i < 4_000; i++) {
    let text = "x".repeat(2_000 + below(6_000));
    for (let edits = below(4); edits > 0; edits--) {
      const at = below(text.length);
      text = text.slice(0, at) + pieces[below(pieces.length)] + text.slice(at + 1);
    }
    for (const room of [32_768, text.length, text.length - 1, text.length + 3]) beside(encoder, text, room);
  }
  // At the edges of what is written at once.
  for (const piece of pieces) {
    for (const at of [0, 1_022, 1_023, 1_024, 2_047, 2_048]) beside(encoder, "y".repeat(at) + piece + "z".repeat(3_000), 16_384);
  }
});

for (const [what, looping, pays] of [
  ["sooner than a TextEncoder encodes", 0.004, true],
  ["later", 0.02, false],
  ["as soon", 0.01, false],
]) {
  test(`shr_16: where characters are written ${what}, ${pays ? "they are" : "a TextEncoder encodes"}, once that is known`, (t) => {
    const { encodeInto } = TextEncoder.prototype;
    let [ms, calls] = [0, 0];
    t.mock.method(TextEncoder.prototype, "encodeInto", function (...given) {
      calls++;
      ms += 0.01 - looping;
      return encodeInto.apply(this, given);
    });
    // Between the looks at the beginning and at the end: what either way takes.
    let looks = 0;
    const trial = new Trial(() => (ms += looks++ % 2 === 0 ? 0 : looping));
    const encoder = new PlainEncoder(trial);
    const [text, target] = ["x".repeat(4_000), new Uint8Array(4_096)];
    let frames = 0;
    for (; trial.pays === undefined && frames < 100_000; frames++) {
      ms += ((frames * 7) % 100) / 1_000;
      encoder.encodeInto(text, target);
    }
    assert.equal(trial.pays, pays);
    assert.ok(calls > 500 && frames - calls > 500, "both ways had their turns");
    calls = 0;
    for (let i = 0; i < 100; i++) encoder.encodeInto(text, target);
    assert.equal(calls, pays ? 0 : 100);
  });
}

test("shr_16: what is short is encoded by the TextEncoder alone, and tried with nothing", (t) => {
  const { encodeInto } = TextEncoder.prototype;
  let calls = 0;
  t.mock.method(TextEncoder.prototype, "encodeInto", function (...given) {
    calls++;
    return encodeInto.apply(this, given);
  });
  const trial = new Trial();
  const encoder = new PlainEncoder(trial);
  for (let i = 0; i < 2_000; i++) encoder.encodeInto("x".repeat(100), new Uint8Array(200));
  assert.equal(calls, 2_000);
  assert.equal(trial.pays, undefined);
});
