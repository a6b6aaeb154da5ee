// Bytes on their way into WebAssembly memory, and out of it again: the built package in Node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";
import { until } from "./lib/package.mjs";

function object(number, note) {
  return { metadata: { name: `p${number}`, namespace: "d", resourceVersion: String(11 + number), annotations: { note } } };
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
    for (const as of [(text) => text, encode, (text) => encode(text).buffer]) {
      const upstream = memorySource({ resourceVersion: "10" });
      const source = {
        list: (...given) => upstream.list(...given),
        async *watch(...given) {
          for await (const text of upstream.watch(...given)) yield as(text);
        },
      };
      const resource = cache.resource({ source, id: "frames" });
      const got = [];
      const watch = resource.watch({ resourceVersion: "10", bufferSize: texts.length });
      await until(() => upstream.streams === 1);
      for (const text of texts) upstream.send(text);
      for await (const event of watch) {
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
  const upstream = memorySource({ objects: items });
  try {
    const sizes = [];
    for (let round = 0; round < 8; round++) {
      const resource = cache.resource({ source: upstream, id: "large" });
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
