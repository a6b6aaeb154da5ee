// Bytes on their way into WebAssembly memory, and out of it again: the built package in Node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";

const LIST = { metadata: { resourceVersion: "10" }, items: [] };

function object(number, note) {
  return { metadata: { name: `p${number}`, namespace: "d", resourceVersion: String(11 + number), annotations: { note } } };
}

/** A source whose list is this document, and whose watch gives these frames and stays open. */
function source(list, frames = []) {
  return {
    list: async () => ({ body: list }),
    async *watch(_request, signal) {
      yield* frames;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  };
}

test("the text of a frame arrives whole, whatever its characters", async () => {
  const notes = [
    "plain",
    "grün und über",
    "日本語テキスト",
    "😀😀😀 mixed ü 漢",
    `${"a".repeat(5_000)}é`,
    `é${"a".repeat(5_000)}`,
    "é".repeat(5_000),
    "漢".repeat(5_000),
    "😀".repeat(3_000),
  ];
  const frame = (note, i) => JSON.stringify({ type: "ADDED", object: object(i, note) });
  const texts = notes.map(frame);
  // Half a surrogate pair is no character: encoders replace it.
  texts.push(frame("half", notes.length).replace("half", "\ud800"));
  const expected = [...notes, "\ufffd"];

  const cache = createWatchCache();
  try {
    const encode = (text) => new TextEncoder().encode(text);
    for (const frames of [texts, texts.map(encode), texts.map((text) => encode(text).buffer)]) {
      const resource = cache.resource({ source: source(JSON.stringify(LIST), frames), id: "frames" });
      const got = [];
      for await (const event of resource.watch({ resourceVersion: "10" })) {
        got.push(event.object.metadata.annotations.note);
        if (got.length === expected.length) break;
      }
      assert.deepEqual(got, expected);
      resource.close();
    }
  } finally {
    await cache.close();
  }
});

test("what a closed resource held is free for the next one, before any garbage is collected", async () => {
  const cache = createWatchCache();
  const items = Array.from({ length: 400 }, (_, i) => object(i, "x".repeat(10_000)));
  const list = JSON.stringify({ ...LIST, items });
  try {
    const sizes = [];
    for (let round = 0; round < 8; round++) {
      const resource = cache.resource({ source: source(list), id: "large" });
      await resource.synced();
      assert.equal(resource.size, 400);
      sizes.push(cache.stats().memoryBytes);
      resource.close();
      // The tasks of the resource end in their turn.
      await new Promise((resolve) => setTimeout(resolve));
    }
    assert.ok(sizes[0] > 4_000_000, `${sizes[0]} bytes cannot hold the objects`);
    assert.ok(sizes.at(-1) < sizes[0] + 4_000_000, `the memory grows with each resource that was closed: ${sizes}`);
  } finally {
    await cache.close();
  }
});
