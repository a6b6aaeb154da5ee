// What a source says to be gone upstream, over the real core. A source is asked every 15 seconds, so this file waits that long, once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";
import { pod } from "./lib/pod.mjs";

/** One object, changed twice, and an upstream that has forgotten the first of it. @param {(version: string) => unknown} told */
async function opened(cache, id, told) {
  const upstream = memorySource({ objects: [pod("a/p1")] });
  const asked = new Promise((resolve) => {
    upstream.compactedResourceVersion = async (signal) => {
      resolve(signal);
      return told(upstream.resourceVersion);
    };
  });
  const pods = cache.resource({ source: upstream, id });
  await pods.synced();
  const old = pods.resourceVersion;
  upstream.put(pod("a/p2"));
  upstream.put(pod("a/p3"));
  await pods.list();
  upstream.expire();
  const exactly = (resourceVersion) => pods.list({ resourceVersion, resourceVersionMatch: "Exact" });
  return { upstream, pods, old, exactly, asked, lists: () => upstream.asked("list").length };
}

test("snp_09 a list at a version that the source says to be gone is 410; who gives no version is not believed", async (t) => {
  const cache = createWatchCache({ flush: "microtask", linger: 60_000 });
  t.after(() => cache.close());
  const told = await opened(cache, "told", (version) => version);
  const wrong = await opened(cache, "wrong", (version) => Number(version));
  for (const { exactly, old, lists } of [told, wrong]) {
    const before = lists();
    assert.deepEqual(
      (await exactly(old)).items.map(({ metadata }) => metadata.name),
      ["p1"],
    );
    assert.equal(lists(), before);
  }
  const signal = await told.asked;
  assert.ok(signal instanceof AbortSignal);
  await wrong.asked;
  await new Promise((resolve) => setTimeout(resolve, 20));

  const before = told.lists();
  await assert.rejects(told.exactly(told.old), ({ code, status }) => code === "expired" && status.code === 410);
  assert.equal(told.lists(), before + 1, "the upstream says it");
  assert.equal((await told.exactly(told.upstream.resourceVersion)).items.length, 3);
  assert.equal(told.lists(), before + 1, "what is not gone is answered here");
  assert.equal((await wrong.exactly(wrong.old)).items.length, 1);
});
