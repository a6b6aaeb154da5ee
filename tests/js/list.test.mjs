// Lists of the built package, over a list+watch API in memory: pages, lazy items, consistent reads, requests that are given up.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";
import { pod } from "./lib/pod.mjs";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const names = (list) => list.items.map((object) => object.metadata.name);

async function open(upstream, run) {
  const cache = createWatchCache({ flush: "microtask" });
  try {
    const pods = cache.resource({ source: upstream, id: "pods" });
    await pods.synced();
    await run(pods, cache);
  } finally {
    await cache.close();
  }
}

const five = () => memorySource({ objects: ["a/p1", "a/p2", "a/p3", "b/p4", "b/p5"].map((key) => pod(key)) });
const decoded = (cache) => cache.stats().resources[0].decoded;

test("a list is an array whose objects are decoded when they are read, once each", () =>
  open(five(), async (pods, cache) => {
    const { items, resourceVersion } = await pods.list();
    assert.equal(resourceVersion, "105");
    assert.equal(items.length, 5);
    assert.ok(Array.isArray(items));
    assert.equal(decoded(cache), 0);
    assert.equal(items[3].metadata.name, "p4");
    assert.equal(decoded(cache), 1);
    assert.equal(items[3], items[3]);
    assert.equal(items[3], pods.peek("b/p4"), "the same object as everywhere");
    assert.equal(decoded(cache), 1);
    assert.deepEqual(names({ items }), ["p1", "p2", "p3", "p4", "p5"]);
    assert.equal(decoded(cache), 5);
    assert.equal([...items].length, 5);
    assert.equal(items.at(-1), items[4]);
    assert.deepEqual(Object.keys(items), ["0", "1", "2", "3", "4"]);
    assert.equal(items[5], undefined);
    const other = await pods.list({ namespace: "b" });
    assert.equal(JSON.stringify(other.items), JSON.stringify([items[3], items[4]]));
    assert.deepEqual(other.items, [items[3], items[4]]);
    assert.deepEqual(Object.values((await pods.list({ namespace: "b" })).items), [items[3], items[4]]);
    assert.deepEqual(structuredClone([...other.items]), [items[3], items[4]]);
    assert.equal(decoded(cache), 5);
  }));

test("a list that nobody reads gives everything back", () =>
  open(five(), async (pods, cache) => {
    for (let i = 0; i < 3; i++) await pods.list();
    for (let i = 0; i < 50 && cache.stats().resources[0].pinned > 0; i++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(cache.stats().resources[0].pinned, 0);
  }));

test("pages come from the cache at a version it holds, and the next ones too, whatever is written meanwhile", async () => {
  const upstream = five();
  await open(upstream, async (pods) => {
    const lists = upstream.asked("list").length;
    const first = await pods.list({ resourceVersion: "105", limit: 2 });
    assert.deepEqual([names(first), first.remainingItemCount, first.resourceVersion], [["p1", "p2"], 3, "105"]);
    upstream.put(pod("a/p15"));
    upstream.remove("b/p4");
    await pods.list({ resourceVersion: "107" });
    const second = await pods.list({ limit: 2, continue: first.continue });
    assert.deepEqual([names(second), second.remainingItemCount, second.resourceVersion], [["p3", "p4"], 1, "105"]);
    const third = await pods.list({ limit: 2, continue: second.continue });
    assert.deepEqual([names(third), third.continue, third.remainingItemCount], [["p5"], undefined, undefined]);
    const before = await pods.list({ resourceVersion: "106", resourceVersionMatch: "Exact" });
    assert.deepEqual(names(before), ["p1", "p15", "p2", "p3", "p4", "p5"]);
    assert.equal(upstream.asked("list").length, lists, "all of it was held");
  });
});

test("pages of the newest version are the source's, and so are their tokens", async () => {
  const upstream = five();
  const asked = [];
  let token;
  // This source selects nothing.
  const list = async ({ namespace, ...request }, signal) => {
    asked.push({ namespace, ...request });
    const answer = await upstream.list(request, signal);
    token = JSON.parse(answer.body).metadata.continue;
    return answer;
  };
  await open({ list, watch: upstream.watch.bind(upstream) }, async (pods) => {
    const first = await pods.list({ limit: 3, namespace: "b", labelSelector: "app=web" });
    const { namespace, labelSelector, limit } = asked.at(-1);
    assert.deepEqual({ namespace, labelSelector, limit }, { namespace: "b", labelSelector: "app=web", limit: 3 });
    // Its first three are of another namespace.
    assert.deepEqual([names(first), first.continue, first.remainingItemCount], [[], token, undefined]);
    assert.ok(token);
    const second = await pods.list({ limit: 3, namespace: "b", continue: first.continue });
    assert.deepEqual([names(second), second.continue], [["p4", "p5"], undefined]);
  });
});

test("what the API forbids is said in its words", () =>
  open(five(), async (pods) => {
    const refused = async (options, code, message) => {
      const error = await pods.list(options).then(assert.fail, (reason) => reason);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return error;
    };
    const { status } = await refused({ resourceVersionMatch: "Exact" }, "invalid", /forbidden unless resourceVersion is provided/);
    assert.equal(status.code, 422);
    assert.equal(status.details.causes[0].field, "resourceVersionMatch");
    await refused({ resourceVersion: "x" }, "invalid", /^invalid resource version: /);
    await refused({ namespace: ".." }, "invalid", /^invalid key: /);
    await refused({ shardSelector: "x" }, "invalid", /^invalid shard selector: /);
    await refused({ resourceVersion: "1000" }, "timeout", /Too large resource version: 1000, current: 105/);
  }));

test("a source that tells its version and its progress has consistent reads answered by the cache", async () => {
  const upstream = five();
  let asked = 0;
  upstream.currentResourceVersion = async () => upstream.resourceVersion;
  upstream.requestProgress = async () => {
    asked++;
    upstream.bookmark();
  };
  await open(upstream, async (pods) => {
    const lists = upstream.asked("list").length;
    upstream.resourceVersion = "112"; // of another resource
    const page = await pods.list({ limit: 2 });
    assert.deepEqual([names(page), page.resourceVersion, page.remainingItemCount], [["p1", "p2"], "112", 3]);
    assert.equal(asked, 1);
    assert.deepEqual(names(await pods.list({ continue: page.continue })), ["p3", "p4", "p5"]);
    assert.equal(upstream.asked("list").length, lists);
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal(asked, 1, "nobody waits, nobody asks");
  });
});

test("a list that is given up asks no longer", async () => {
  const upstream = five();
  let asked = 0;
  upstream.currentResourceVersion = async () => "999";
  upstream.requestProgress = async () => void asked++;
  await open(upstream, async (pods) => {
    const abort = new AbortController();
    const list = pods.list({ signal: abort.signal });
    const get = pods.get("a/p1", { resourceVersion: "999", signal: abort.signal });
    while (asked < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort();
    await assert.rejects(list, { name: "AbortError" });
    await assert.rejects(get, { name: "AbortError" });
    await new Promise((resolve) => setTimeout(resolve, 120));
    const so = asked;
    await new Promise((resolve) => setTimeout(resolve, 400));
    assert.equal(asked, so);
  });
});

test("a list's raw is the stored bytes of its objects, and decodes none", () =>
  open(five(), async (pods, cache) => {
    const list = await pods.list({ namespace: "a" });
    const whole = JSON.parse(new TextDecoder().decode(list.raw));
    assert.equal(decoded(cache), 0);
    assert.deepEqual(
      whole.map(({ metadata }) => metadata.name),
      ["p1", "p2", "p3"],
    );
    assert.deepEqual(whole[1], list.items[1], "what was read is in it all the same");
    assert.deepEqual(JSON.parse(new TextDecoder().decode(list.raw)), [...list.items]);
    assert.deepEqual(Object.keys(list), ["items", "resourceVersion"], "a copy of a list copies no bytes");
    assert.equal(new TextDecoder().decode((await pods.list({ labelSelector: "none" })).raw), "[]");
  }));

test("shr_11_who_reads_one_after_the_other_has_the_next_ones_decoded_too_and_who_reads_one_that_one", () => {
  const objects = Array.from({ length: 200 }, (_, i) => pod(`a/p${String(i).padStart(3, "0")}`, { node: i % 7 === 0 ? "ü😀" : "n" }));
  return open(memorySource({ objects }), async (pods, cache) => {
    const { items } = await pods.list();
    const so = [];
    for (const at of [0, 1, 2, 3, 4, 100, 50, 199, 198, 101]) so.push([items[at].metadata.name, decoded(cache)]);
    assert.deepEqual(so, [
      ["p000", 1],
      ["p001", 3],
      ["p002", 3],
      ["p003", 7],
      ["p004", 7],
      ["p100", 8],
      ["p050", 9],
      ["p199", 10],
      ["p198", 11],
      ["p101", 12],
    ]);
    const whole = JSON.parse(new TextDecoder().decode((await pods.list()).raw));
    assert.deepEqual([...items], whole);
    assert.equal(decoded(cache), 200, "each of them once, those between read ones, too");
    assert.deepEqual([...(await pods.list()).items], whole);
    assert.equal(decoded(cache), 200, "and what is decoded is used again");
  });
});

test("a source that is a Kubernetes API shares its tokens with the cache, and tells its refusals whole", async () => {
  const upstream = five();
  upstream.collection = {};
  await open(upstream, async (pods) => {
    const first = await pods.list({ resourceVersion: "105", limit: 2 });
    const token = JSON.parse(Buffer.from(first.continue, "base64url").toString());
    assert.deepEqual(token, { v: "meta.k8s.io/v1", rv: 105, start: "/a/p2\0" });
    // A version that is gone is asked of the upstream, which says how to go on.
    const status = { code: 410, reason: "Expired", message: "too old", metadata: { continue: "go-on" } };
    upstream.fail(Object.assign(new Error("refused"), { status }));
    const old = Buffer.from(JSON.stringify({ ...token, rv: 7 })).toString("base64url");
    const error = await pods.list({ limit: 2, continue: old }).then(assert.fail, (reason) => reason);
    assert.equal(upstream.asked("list").at(-1).continue, old);
    assert.deepEqual([error.code, error.message, error.status], ["expired", "too old", status]);
  });
});
