// Filters of handlers are functions, so JavaScript decides what a change is to such a handler. For watches the core decides
// (`Conversion::kind`). Here both are told the same changes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const WORDS = { ADDED: "add", MODIFIED: "update", DELETED: "delete" };
const as = (app) => pod("a/x", { labels: { app } });

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
  ["web db db web web gone web", "add delete add update delete add"],
];

test("a filtered handler hears of the changes of which a watch with that selector hears", async () => {
  for (const [life, expected] of LIVES) {
    const upstream = memorySource({ objects: [pod("a/other")] });
    const { resource, reported } = open(upstream);
    await resource.synced();
    const heard = { watch: [], handler: [], all: [] };
    const informer = resource.informer();
    const filter = ({ metadata }) => metadata.labels?.app === "web";
    await informer.addEventHandler(({ type }) => void heard.handler.push(type), { filter }).synced;
    void informer.addEventHandler(({ key }) => void heard.all.push(key));
    const watcher = resource.watch({ labelSelector: "app=web", resourceVersion: resource.resourceVersion });
    void watcher.forEach(({ type }) => void heard.watch.push(WORDS[type]));
    await until(() => resource.status.phase === "live");
    heard.handler.length = heard.watch.length = heard.all.length = 0;
    const states = life.split(" ");
    for (const app of states) app === "gone" ? upstream.remove("a/x") : upstream.put(as(app));
    await until(() => heard.all.filter((key) => key === "a/x").length === states.length);
    assert.equal(heard.watch.join(" "), expected, `the watch, ${life}`);
    assert.equal(heard.handler.join(" "), expected, `the handler, ${life}`);
    assert.deepEqual(reported, []);
    watcher.stop();
  }
});
