// Filters of handlers are functions, so JavaScript decides what a change is to such a handler. For watches the core decides
// (`Conversion::kind`). Here both are told the same changes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const WORDS = { ADDED: "add", MODIFIED: "update", DELETED: "delete" };
const as = (app) => pod("a/x", { labels: { app } });

/** It is deleted; with a label, its last state has that. */
function remove(upstream, app) {
  if (app === "") return void upstream.remove("a/x");
  const { metadata, ...rest } = as(app);
  upstream.resourceVersion = String(Number(upstream.resourceVersion) + 1);
  upstream.send({ type: "DELETED", object: { ...rest, metadata: { ...metadata, resourceVersion: upstream.resourceVersion } } });
}

/** What becomes of one object, and what who sees only `app=web` hears of it. */
const LIVES = [
  ["web", "add"],
  ["db", ""],
  ["web web", "add update"],
  ["web db", "add delete"],
  ["db web", "add"],
  ["db db", ""],
  ["web gone", "add delete"],
  ["db gone", ""],
  ["web db gone", "add delete"],
  // A last state that differs from the one held, as where the watch beside a list told of several changes at once.
  ["web gone:db", "add delete"],
  ["db gone:web", ""],
  ["web db db web web gone web", "add delete add update delete add"],
];

test("a filtered handler hears of the changes of which a watch with that selector hears", async () => {
  for (const [life, expected] of LIVES) {
    const upstream = memorySource({ objects: [pod("a/other")] });
    const { resource, reported } = open(upstream);
    await resource.synced();
    const heard = { watch: [], handler: [], selecting: [], all: [] };
    const informer = resource.informer();
    const filter = ({ metadata }) => metadata.labels?.app === "web";
    await informer.addEventHandler(({ type }) => void heard.handler.push(type), { filter }).synced;
    await informer.addEventHandler(({ type }) => void heard.selecting.push(type), { labelSelector: "app=web" }).synced;
    void informer.addEventHandler(({ key }) => void heard.all.push(key));
    const watcher = resource.watch({ labelSelector: "app=web", resourceVersion: resource.resourceVersion });
    void watcher.forEach(({ type }) => void heard.watch.push(WORDS[type]));
    await until(() => resource.status.phase === "live");
    heard.handler.length = heard.selecting.length = heard.watch.length = heard.all.length = 0;
    const states = life.split(" ");
    for (const app of states) app.startsWith("gone") ? remove(upstream, app.slice(5)) : upstream.put(as(app));
    await until(() => heard.all.filter((key) => key === "a/x").length === states.length);
    assert.equal(heard.watch.join(" "), expected, `the watch, ${life}`);
    assert.equal(heard.handler.join(" "), expected, `the handler, ${life}`);
    assert.equal(heard.selecting.join(" "), expected, `the handler with a selector, ${life}`);
    assert.deepEqual(reported, []);
    watcher.stop();
  }
});
