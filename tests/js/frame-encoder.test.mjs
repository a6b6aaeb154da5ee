// The encoder of a socket's frames beside the TextEncoder whose place it takes.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

// As pages import it: Node encodes sooner than it compares.
import { createWatchCache, initSync } from "../../dist/index.js";
import { FrameEncoder } from "../../dist/wire/frame-encoder.js";
import { OF_THIS_PAGE } from "../../dist/wire/plain-encoder.js";
import { Trial } from "../../dist/wire/trial.js";
import realPod from "../data/pod.json" with { type: "json" };
import { silent, until } from "./lib/package.mjs";

initSync(readFileSync(new URL("../../dist/wasm/watchcache_bg.wasm", import.meta.url)));

// An engine whose own encoder is the quicker one: what these tests count is what it encodes. plain-encoder.test.mjs has the others.
OF_THIS_PAGE.pays = false;

const plain = new TextEncoder();

/** Numbers below `n`, the same ones for the same seed. */
function randomFrom(seed) {
  return (n) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
}

/** A frame as an API server writes it: names and the version first. */
function frame(name, version, more = {}) {
  const { metadata, ...rest } = realPod;
  const { name: _name, namespace, uid, resourceVersion: _version, ...others } = metadata;
  const object = { metadata: { name, namespace, uid: `${uid}-${name}`, resourceVersion: String(version), ...others }, ...rest, ...more };
  return JSON.stringify({ type: "MODIFIED", object });
}

/** Encodes by both, and holds one against the other. */
function beside(encoder, text, room = 32_768) {
  const [ours, theirs] = [new Uint8Array(room), new Uint8Array(room)];
  const { read, written } = encoder.encodeInto(text, ours);
  const expected = plain.encodeInto(text, theirs);
  assert.deepEqual({ read, written }, expected);
  assert.ok(Buffer.from(ours.buffer, 0, written).equals(Buffer.from(theirs.buffer, 0, written)), text.slice(0, 120));
}

/** Counts the bytes that a TextEncoder of this page encodes meanwhile. */
function encoded(work) {
  const { encodeInto } = TextEncoder.prototype;
  let length = 0;
  TextEncoder.prototype.encodeInto = function (text, target) {
    length += text.length;
    return encodeInto.call(this, text, target);
  };
  try {
    work();
  } finally {
    TextEncoder.prototype.encodeInto = encodeInto;
  }
  return length;
}

/** What an encoder says that it holds: in an engine where comparing pays, unless another trial is to tell. */
function watched(trial = Object.assign(new Trial(), { pays: true })) {
  const encoder = new FrameEncoder(trial);
  const told = [];
  encoder.onheld = (bytes) => told.push(bytes) > 0;
  return { encoder, held: () => told.at(-1) ?? 0, told };
}

/**
 * An engine in which a frame takes so many milliseconds, either way, or as many as frames before it say. Its clock ticks each `tick` milliseconds, and stands still from `end` on.
 * `wait` lets some time pass between frames.
 */
function engine(t, { encoding, comparing, tick = 1, end = Infinity }) {
  const random = randomFrom(11);
  const { encodeInto } = TextEncoder.prototype;
  let ms = 0;
  let frames = 0;
  let isEncoded = false;
  t.mock.method(TextEncoder.prototype, "encodeInto", function (text, target) {
    isEncoded = true;
    return encodeInto.call(this, text, target);
  });
  const trial = new Trial(() => {
    ms += isEncoded ? encoding : typeof comparing === "number" ? comparing : comparing(frames);
    isEncoded = false;
    return Math.floor(Math.min(ms, end) / tick) * tick;
  });
  const wait = () => {
    frames++;
    ms += random(1_000) / 1_000;
    isEncoded = false;
  };
  return { trial, wait };
}

/** Versions of ten objects in turn. */
const TEXTS = Array.from({ length: 40 }, (_, i) => frame(`pod-${i % 10}`, 1_000 + i, { spec: {}, status: {} }));

/** Feeds frames until it is known whether comparing pays. Says how many that took. */
function decide(encoder, { trial, wait }) {
  const target = new Uint8Array(32_768);
  let frames = 0;
  for (; trial.pays === undefined && frames < 100_000; frames++) {
    wait();
    encoder.encodeInto(TEXTS[frames % TEXTS.length], target);
  }
  return frames;
}

test("shr_10: what is encoded is what a TextEncoder makes of it, whatever came before", () => {
  const random = randomFrom(7);
  const pick = (list) => list[random(list.length)];
  const pieces = ["x", "0", "ü", "\ud83d\ude00", "\ud800", '"', "y".repeat(65), "z".repeat(700), "", "\u007f", "\u0080"];
  const { encoder } = watched();
  const texts = Array.from({ length: 12 }, (_, i) => frame(`pod-${i}`, 1));
  for (let i = 0; i < 6_000; i++) {
    const of = random(texts.length);
    let text = texts[of];
    for (let edits = random(6); edits > 0; edits--) {
      const at = random(text.length);
      const piece = pick(pieces);
      // Mostly as long as what it replaces, as versions and timestamps are.
      const replaced = random(8) > 0 ? piece.length : random(40);
      text = text.slice(0, at) + piece + text.slice(at + replaced);
    }
    // Whole, in too little room, and a part, as the core asks for what had no room.
    beside(encoder, text, pick([32_768, 32_768, 32_768, text.length, text.length - 1, 4_000]));
    if (random(20) === 0) beside(encoder, text.slice(random(text.length)));
    if (random(2) > 0 && text.length > 6_000 && text.length < 30_000) texts[of] = text;
    if (random(400) === 0) texts[of] = frame(`pod-${of}`, i);
  }
});

test("shr_10: a difference is found wherever it stands, beside the last one and at the end", () => {
  const { encoder } = watched();
  const base = frame("web", 1_000, { spec: {}, status: {}, note: "n".repeat(500) });
  for (let i = 0; i < 3; i++) beside(encoder, base);
  for (let at = base.length - 460; at < base.length; at++) beside(encoder, `${base.slice(0, at)}!${base.slice(at + 1)}`);
  for (const end of ["", "}", "}}", "", "x"]) for (let i = 0; i < 2; i++) beside(encoder, base.slice(0, -1) + end);
});

test("shr_09: of an object that comes again and again, only what differs is encoded", () => {
  const { encoder } = watched();
  const heartbeat = (version) =>
    frame("web", version, { status: { ...realPod.status, startTime: `2026-01-01T00:00:${10 + (version % 50)}Z` } });
  for (let version = 1_000; version < 1_003; version++) beside(encoder, heartbeat(version));
  const rest = Array.from({ length: 200 }, (_, i) => heartbeat(1_003 + i));
  const target = new Uint8Array(32_768);
  assert.equal(
    encoded(() => rest.forEach((text) => encoder.encodeInto(text, target))),
    0,
  );
  rest.forEach((text) => beside(encoder, text));
  // One that is not ASCII any more, and those after it, are encoded as a whole.
  const other = (version) => frame("web", version, { note: "ü" });
  for (let version = 1_300; version < 1_305; version++) beside(encoder, other(version));
  assert.ok(encoded(() => encoder.encodeInto(other(1_305), target)) > 10_000);
  for (let version = 1_400; version < 1_403; version++) beside(encoder, heartbeat(version));
  assert.equal(
    encoded(() => encoder.encodeInto(heartbeat(1_403), target)),
    0,
  );
});

test("law_08_bounded: frames are held for some objects, some bytes and some time, counted, and no longer than wanted", (t) => {
  t.mock.timers.enable({ apis: ["Date"] });
  const { encoder, held, told } = watched();
  const target = new Uint8Array(4 << 20);
  const take = (text) => encoder.encodeInto(text, target);
  const small = (name, resourceVersion = "1000") =>
    JSON.stringify({ type: "MODIFIED", object: { metadata: { name, resourceVersion: `${resourceVersion}` }, note: "n".repeat(2_000) } });
  for (let i = 0; i < 300; i++) take(small(`pod-${1_000 + i}`));
  const { length } = small("pod-1000");
  assert.equal(held(), 256 * length, "the text of each");
  take(small("pod-1299", 1_001));
  assert.equal(held(), 257 * length, "and the bytes of one that came again");
  const times = told.length;
  for (let version = 1_002; version < 1_050; version++) take(small("pod-1299", version));
  assert.equal(told.length, times, "nothing is told where nothing changes");
  t.mock.timers.tick(15_001);
  take(small("pod-1299", 1_050));
  assert.equal(held(), 2 * length, "the others have not come for a while");
  t.mock.timers.tick(15_001);
  take(small("pod-2000"));
  assert.equal(held(), length);
  for (let i = 0; i < 8; i++) take(frame(`big-${i}`, 1, { note: "n".repeat(1 << 18) }));
  assert.ok(held() > 1 << 19 && held() <= 768 << 10, `${held()} bytes`);
  encoder.letGo();
  assert.equal(held(), 0);
  take(small("pod-1"));
  assert.ok(held() > 0);
  encoder.onheld = (bytes) => (told.push(bytes), false);
  take(small("pod-2"));
  assert.equal(held(), 0, "it may not hold any");
  const before = told.length;
  for (let i = 0; i < 1_000; i++) take(small(`pod-${i}`));
  assert.equal(told.length, before, "and does not ask again soon");
});

test("frames of ten thousand objects in turn are not held: no frame would find the one before it", () => {
  const { encoder, held } = watched();
  const target = new Uint8Array(32_768);
  let most = 0;
  let holds = 0;
  const texts = Array.from({ length: 1_000 }, (_, i) => frame(`pod-${i}`, 1, { spec: {}, status: {} }));
  for (let i = 0; i < 20_000; i++) {
    encoder.encodeInto(texts[i % texts.length], target);
    most = Math.max(most, held());
    if (held() > 0) holds++;
  }
  assert.ok(most > 0 && holds < 3_000, `held after ${holds} of 20,000`);
});

for (const [what, speeds] of [
  ["wins clearly", { encoding: 0.01, comparing: 0.006 }],
  ["wins clearly, by a fine clock", { encoding: 0.01, comparing: 0.006, tick: 0.005 }],
  ["wins by more than a tenth", { encoding: 0.08, comparing: 0.068, tick: 0.005 }],
  ["wins, once it is warm", { encoding: 0.01, comparing: (frames) => (frames < 500 ? 0.1 : 0.006), tick: 0.005 }],
]) {
  test(`shr_13: in an engine where comparing ${what}, it goes on`, (t) => {
    const played = engine(t, speeds);
    const { encoder, held } = watched(played.trial);
    const target = new Uint8Array(32_768);
    // Either way has its turn, and no byte differs.
    for (let i = 0; i < 1_900; i++) {
      played.wait();
      beside(encoder, TEXTS[i % TEXTS.length]);
    }
    assert.equal(played.trial.pays, undefined, "a few frames decide nothing");
    decide(encoder, played);
    assert.equal(played.trial.pays, true);
    assert.ok(held() >= 10 * 2 * TEXTS[0].length);
    for (const text of TEXTS) encoder.encodeInto(text, target);
    assert.equal(
      encoded(() => {
        for (let i = 0; i < 3_000; i++) encoder.encodeInto(TEXTS[i % TEXTS.length], target);
      }),
      0,
    );
  });
}

for (const [what, speeds, most] of [
  ["loses", { encoding: 0.01, comparing: 0.02 }, 34_000],
  ["is as quick", { encoding: 0.01, comparing: 0.01 }, 34_000],
  ["loses by little", { encoding: 0.08, comparing: 0.084, tick: 0.005 }, 34_000],
  ["loses, by a fine clock", { encoding: 0.01, comparing: 0.02, tick: 0.005 }, 6_000],
  ["wins, which no clock tells,", { encoding: 0.01, comparing: 0.001, end: 0 }, 34_000],
  ["wins, and the clock stops,", { encoding: 0.01, comparing: 0.001, end: 40 }, 34_000],
]) {
  test(`shr_13: in an engine where comparing ${what} all sockets of the page rest for good and hold nothing`, (t) => {
    const played = engine(t, speeds);
    const sockets = Array.from({ length: 3 }, () => watched(played.trial));
    const [one, other] = sockets;
    const text = frame("web", 1_000, { spec: {}, status: {} });
    for (let i = 0; i < 3; i++) beside(other.encoder, text);
    assert.equal(other.held(), 2 * text.length);
    const frames = decide(one.encoder, played);
    assert.equal(played.trial.pays, false);
    assert.ok(frames < most, `${frames} frames`);
    assert.deepEqual([one.held(), other.held()], [0, 0], "at once, the idle one too");
    const told = sockets.map((socket) => socket.told.length);
    const target = new Uint8Array(32_768);
    for (const { encoder } of sockets) {
      const length = encoded(() => {
        for (let i = 0; i < 20_000; i++) encoder.encodeInto(text, target);
      });
      assert.equal(length, 20_000 * text.length, "each is encoded, once");
    }
    assert.deepEqual(
      sockets.map((socket) => socket.told.length),
      told,
      "and none is held any more",
    );
  });
}

test("what is short, and what names its version late, is encoded as it is", () => {
  const { encoder, told } = watched();
  for (let version = 1; version < 5; version++) {
    beside(encoder, `{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${version}"}}}`);
    beside(
      encoder,
      `{"type":"MODIFIED","object":{"metadata":{"annotations":{"a":"${"x".repeat(3_000)}"},"resourceVersion":"${version}"}}}`,
    );
  }
  assert.deepEqual(told, []);
});

/** The socket of a watch, in the hands of the test. */
class FedSocket {
  static latest;
  onmessage = null;
  onopen = null;
  onclose = null;
  constructor() {
    FedSocket.latest = this;
    queueMicrotask(() => this.onopen?.(new Event("open")));
  }
  send(text) {
    this.onmessage?.({ data: text });
  }
  close() {}
}

/** A resource as a page has it, over a fed socket. */
async function page(t, options) {
  const items = { kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items: [] };
  const headers = { "content-type": "application/json" };
  const cache = createWatchCache({
    server: "http://127.0.0.1",
    fetch: async () => new Response(JSON.stringify(items), { headers }),
    WebSocket: FedSocket,
    logger: silent,
    retry: { initialMs: 1, capMs: 5 },
    ...options,
  });
  t.after(() => cache.close());
  const resource = cache.resource("pods");
  await resource.synced();
  await until(() => resource.status.phase === "live");
  return { cache, resource };
}

test("shr_09: a socket's frames of busy objects are compared before they are encoded, and counted until it closes", async (t) => {
  const { cache, resource } = await page(t);
  const { namespace } = realPod.metadata;
  const send = (version) => FedSocket.latest.send(frame(`pod-${version % 10}`, version));
  for (let version = 1_000; version < 1_030; version++) send(version);
  const length = encoded(() => {
    for (let version = 1_030; version < 1_100; version++) send(version);
  });
  assert.equal(length, 0);
  await until(() => resource.resourceVersion === "1099");
  const { managedFields: _, ...metadata } = JSON.parse(frame("pod-9", 1_099)).object.metadata;
  assert.deepEqual(resource.peek(`${namespace}/pod-9`), { ...realPod, metadata });
  const open = cache.stats().resources[0].bytes;
  FedSocket.latest.onclose(Object.assign(new Event("close"), { code: 1006, reason: "" }));
  await until(() => cache.stats().resources[0].bytes < open - 20 * 14_000);
});

test("shr_09: no frame is held where memory is short, and nothing is lost", async (t) => {
  const { cache, resource } = await page(t, { memory: { maxBytes: 20_000 } });
  const length = encoded(() => {
    for (let version = 1_000; version < 1_100; version++) FedSocket.latest.send(frame("pod", version));
  });
  assert.equal(length, 100 * frame("pod", 1_000).length);
  await until(() => resource.resourceVersion === "1099");
  assert.ok(cache.stats().resources[0].bytes < 20_000);
  assert.equal(resource.peek(`${realPod.metadata.namespace}/pod`).metadata.resourceVersion, "1099");
});
