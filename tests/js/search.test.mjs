// What a filter box does: a view that searches, over the real core.
import assert from "node:assert/strict";
import { test } from "node:test";

import { init } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

await init();

const KEYS = ["kube-system/coredns-1", "shop/db-1", "shop/web-1", "shop/web-2", "web/db-2"];

/** A view of these pods that somebody shows. */
async function shown(spec, objects = KEYS.map((key) => pod(key)), options = {}) {
  const upstream = memorySource({ objects });
  const opened = open(upstream, options);
  await opened.resource.synced();
  const view = opened.resource.view(spec);
  const snapshots = [];
  view.subscribe(() => snapshots.push(view.getSnapshot()));
  return { ...opened, upstream, view, snapshots, loaded: () => until(() => view.getSnapshot().loaded) };
}

test("vs_01 a row has each word, and without a word every object is one", async () => {
  for (const [search, keys] of [
    ["web", ["shop/web-1", "shop/web-2", "web/db-2"]],
    ["  WEB\tshop ", ["shop/web-1", "shop/web-2"]],
    ["system/core", ["kube-system/coredns-1"]],
    ["web nobody", []],
    ["", KEYS],
    [" \n", KEYS],
    [null, KEYS],
    [undefined, KEYS],
    [{ text: "" }, KEYS],
    [{ text: "web", paths: undefined }, ["shop/web-1", "shop/web-2", "web/db-2"]],
  ]) {
    const { view, cache } = await shown({ search });
    assert.deepEqual(view.getSnapshot().keys, keys, JSON.stringify(search));
    assert.equal(view.total, keys.length);
    await cache.close();
  }
});

test("vs_02 paths say what is searched, also labels and numbers, and what the core cannot read is refused", async () => {
  const objects = [pod("a/x", { labels: { app: "Web", tier: "front" }, node: "node-7" }), pod("a/web", { labels: {}, node: "node-71" })];
  for (const [text, paths, keys] of [
    ["web", ["metadata.name"], ["a/web"]],
    ["app=web", ["metadata.labels"], ["a/x"]],
    ["node-7", ["spec.nodeName"], ["a/web", "a/x"]],
    ["node-7 front", ["spec.nodeName", "metadata.labels"], ["a/x"]],
    ["a/web", ["metadata.name", "metadata.namespace"], ["a/web"]],
    ["0", ["status.restarts"], ["a/web", "a/x"]],
    ["node", ["spec"], []],
    ["a", [], []],
  ]) {
    const { view, cache, resource } = await shown({ search: { text, paths } }, objects);
    assert.deepEqual(view.getSnapshot().keys, keys, `${text} in ${paths}`);
    const message = /search\.paths\[1\]/;
    assert.throws(() => resource.view({ search: { text, paths: ["spec", "spec["] } }), { code: "invalid", message });
    await cache.close();
  }
});

test("vs_05 updates are matched as they come", async () => {
  const { view, upstream } = await shown({ search: { text: "node-7", paths: ["spec.nodeName"] }, orderBy: [{ path: "metadata.name" }] });
  assert.deepEqual(view.getSnapshot().keys, []);
  upstream.put(pod("shop/web-2", { node: "Node-7" }));
  upstream.put(pod("a/new", { node: "node-70" }));
  await until(() => view.total === 2);
  assert.deepEqual(view.getSnapshot().keys, ["a/new", "shop/web-2"]);
  upstream.put(pod("shop/web-2", { node: "node-8" }));
  upstream.remove("a/new");
  await until(() => view.total === 0);
});

test("vs_06 a search that changes leaves all else of the view, and one for the same words changes nothing", async () => {
  const { view, resource, cache, snapshots } = await shown({
    namespaces: ["shop", "web"],
    orderBy: [{ path: "metadata.name", descending: true }],
    groupBy: "metadata.namespace",
    window: { offset: 1, limit: 1 },
  });
  assert.deepEqual([view.total, view.getSnapshot().keys], [4, ["shop/web-1"]]);
  const before = view.getSnapshot();
  view.setSearch("web");
  view.setSearch("web-");
  assert.equal(view.getSnapshot(), before, "until subscribers are told");
  await until(() => snapshots.length > 0);
  const { keys, total, counts, offset, loaded } = view.getSnapshot();
  assert.deepEqual([keys, total, Object.fromEntries(counts), offset, loaded], [["shop/web-1"], 2, { shop: 2 }, 1, true]);
  assert.equal(view.rows[0], before.rows[0], "one version is one object");
  assert.deepEqual(await view.keys(), ["shop/web-2", "shop/web-1"], "of all that was found");

  const count = snapshots.length;
  for (const same of [" web- ", { text: "web-" }, "web- web-"]) view.setSearch(same);
  view.setSearch("db");
  view.setSearch("web-");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(snapshots.length, count, "nothing that it shows has changed");
  assert.equal(cache.stats().resources[0].views, 1);

  const other = resource.view({ search: { text: "SHOP b" } });
  view.setSearch(null);
  await until(() => view.total === 4);
  view.close();
  view.setSearch("db");
  assert.deepEqual([view.total, other.total], [2, 3], "the next use searches");
});

test("vs_06 rows stay until those that are found are whole", async () => {
  const objects = Array.from({ length: 20_000 }, (_, i) => pod(`a/${i % 2 ? "web" : "db"}-${String(i).padStart(5, "0")}`));
  const { view, snapshots, loaded } = await shown({}, objects);
  await loaded();
  snapshots.length = 0;
  view.setSearch("web 99");
  await until(() => view.getSnapshot().loaded && view.total !== 20_000);
  const found = objects.map(({ metadata }) => `a/${metadata.name}`).filter((key) => key.includes("web") && key.includes("99"));
  assert.deepEqual(view.getSnapshot().keys, found.sort());
  const whole = snapshots.at(-1);
  assert.ok(snapshots.length > 1, "it takes more than one turn");
  for (const { loaded, total, keys } of snapshots.slice(0, -1))
    assert.deepEqual([loaded, total, keys.length], [false, 20_000, 20_000], "what was whole stays");
  assert.equal(whole, view.getSnapshot());
});

test("vs_06 a search may be set before the resource is open, and changes nothing of one that is closed", async () => {
  const { cache, resource } = open(memorySource({ objects: KEYS.map((key) => pod(key)) }));
  const view = resource.view();
  view.setSearch("db");
  view.subscribe(() => {});
  view.setSearch({ text: "web" });
  await until(() => view.getSnapshot().loaded);
  assert.equal(view.total, 3);
  await cache.close();
  view.setSearch("db");
  assert.deepEqual([view.total, view.getSnapshot().error.code], [3, "closed"], "rows stay when all is closed");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(view.total, 3);
});

/** An effect of StrictMode runs, is undone and runs again. */
test("vs_06 a search that is set twice and subscribed twice is one", async () => {
  const { view, cache } = await shown({});
  for (let run = 0; run < 2; run++) {
    const stop = view.subscribe(() => {});
    view.setSearch("web");
    if (run === 0) stop();
  }
  await until(() => view.total === 3);
  assert.equal(cache.stats().resources[0].views, 1);
});

test("vs_07 any search shows what a plain filter over all objects does, whatever changes", async () => {
  let state = 7;
  const draw = (bound) => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % bound;
  const pick = (list) => list[draw(list.length)];
  const texts = ["web", "Db", "WEB-1", "ü", '"q', "shop/", "é", "a b", "x\\y"];
  const make = () =>
    pod(`${pick(["shop", "kube-system"])}/${pick(["web", "db"])}-${draw(20)}`, {
      labels: { app: pick(["Web", "db"]), tier: pick(["a", "b"]) },
      node: pick(["Node-1", "nöde-2", 'a "quoted" ü node', "x\\y\n"]),
    });
  const { view, upstream } = await shown({}, [make(), make()]);
  const objects = new Map();
  const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;
  const put = () => {
    const object = make();
    upstream.put(object);
    objects.set(keyOf(object), object);
  };
  const fold = (text) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const PATHS = {
    "metadata.name": ({ metadata }) => [metadata.name],
    "metadata.labels": ({ metadata }) => Object.entries(metadata.labels).map(([key, value]) => `${key}=${value}`),
    "spec.nodeName": ({ spec }) => [spec.nodeName],
    "status.phase": ({ status }) => [status.phase],
  };
  for (const { metadata } of view.getSnapshot().rows) upstream.remove(keyOf({ metadata }));
  await until(() => view.total === 0);
  for (let round = 0; round < 150; round++) {
    for (let changes = draw(6); changes >= 0; changes--) {
      if (draw(4) > 0 || objects.size === 0) put();
      else {
        const key = pick([...objects.keys()]);
        objects.delete(key);
        upstream.remove(key);
      }
    }
    const text = Array.from({ length: draw(3) }, () => pick(texts)).join(" ");
    const paths = draw(2) ? undefined : Object.keys(PATHS).filter(() => draw(2));
    const searched = (object) => (paths === undefined ? [keyOf(object)] : paths.flatMap((path) => PATHS[path](object)));
    const words = text.split(" ").filter(Boolean);
    const finds = (object) => words.every((word) => searched(object).some((value) => fold(value).includes(fold(word))));
    if (draw(3) > 0) view.setSearch({ text, paths });
    else continue;
    const found = () => [...objects.values()].filter(finds).map(keyOf).sort();
    await until(() => view.getSnapshot().loaded && String(view.getSnapshot().keys) === String(found()));
    assert.deepEqual(view.getSnapshot().keys, found(), JSON.stringify({ text, paths }));
  }
});
