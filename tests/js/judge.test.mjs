// Filters of handlers are functions, so JavaScript decides what a change is to such a handler. For watches the core does (`Conversion::kind`): here
// both are told the same changes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

const WORDS = { ADDED: "add", MODIFIED: "update", DELETED: "delete" };
const as = (app) => pod("a/x", { labels: { app } });

/** What becomes of one object, and what who sees only `app=web` hears of it. */
const LIVES = [
  [["web"], ["add"]],
  [["db"], []],
  [["web", "web"], ["add", "update"]],
  [["web", "db"], ["add", "delete"]],
  [["db", "web"], ["add"]],
  [["db", "db"], []],
  [["web", undefined], ["add", "delete"]],
  [["db", undefined], []],
  [["web", "db", undefined], ["add", "delete"]],
  [["web", "db", "db", "web", "web", undefined, "web"], ["add", "delete", "add", "update", "delete", "add"]],
];

test("a filtered handler hears of the changes of which a watch with that selector hears", async () => {
  for (const [life, expected] of LIVES) {
    const upstream = memorySource({ objects: [pod("a/other")] });
    const { resource, reported } = open(upstream);
    await resource.synced();
    const heard = { watch: [], handler: [], all: [] };
    const informer = resource.informer();
    const filter = ({ metadata }) => metadata.labels?.app === "web";
    await informer.addEventHandler(({ type, key }) => void heard.handler.push(`${type} ${key}`), { filter }).synced;
    void informer.addEventHandler(({ key }) => void heard.all.push(key));
    const watcher = resource.watch({ labelSelector: "app=web", resourceVersion: resource.resourceVersion });
    void watcher.forEach(({ type, key }) => void heard.watch.push(`${WORDS[type]} ${key}`));
    await until(() => resource.status.phase === "live");
    heard.handler.length = heard.watch.length = heard.all.length = 0;
    for (const app of life) app === undefined ? upstream.remove("a/x") : upstream.put(as(app));
    await until(() => heard.all.filter((key) => key === "a/x").length === life.length);
    const told = expected.map((type) => `${type} a/x`);
    assert.deepEqual(heard.watch, told, `the watch, ${life}`);
    assert.deepEqual(heard.handler, told, `the handler, ${life}`);
    assert.deepEqual(reported, []);
    watcher.stop();
  }
});
