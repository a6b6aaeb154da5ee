// `Watch` of `@kubernetes/client-node` and of `watchcache/compat/client-node`, side by side.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as original from "@kubernetes/client-node";
import * as ours from "watchcache/compat/client-node";
import { pause, until, world } from "./rig.mjs";

const modules = { original, ours };

/** A watch that notes what it hears. */
async function watchOf(name, at, path, parameters, config = name === "ours" ? at.cache().cache : at.kubeConfig()) {
  const heard = [];
  const done = [];
  const watch = new modules[name].Watch(config);
  const controller = await watch.watch(
    path,
    parameters,
    (phase, object, whole) => {
      assert.deepEqual([whole.type, whole.object], [phase, object]);
      const { namespace, name, resourceVersion } = object.metadata ?? {};
      heard.push(`${phase} ${object.kind === "Status" ? `${object.code} ${object.reason}` : `${namespace}/${name}@${resourceVersion}`}`);
    },
    (error) => done.push(error),
  );
  return {
    controller,
    done,
    async told(count) {
      await until(
        () => heard.length >= count,
        () => `${name}: ${count} events; there were ${JSON.stringify(heard)}`,
      );
      return heard.splice(0);
    },
    heard,
  };
}

const forBoth = (title, run) => {
  for (const name of Object.keys(modules)) test(`${title}: ${name}`, (t) => run(t, name));
};

forBoth("a watch hears the state, then what happens, narrowed by its parameters", async (t, name) => {
  const at = await world(t);
  await at.create("a/other", { app: "db" });
  const x = await at.create("a/x");
  const watch = await watchOf(name, at, "/api/v1/namespaces/a/pods", { labelSelector: "app=web", allowWatchBookmarks: false });
  assert.deepEqual(await watch.told(1), [`ADDED ${x}`]);
  await at.create("b/elsewhere");
  const x2 = await at.label("a/x", { tier: "1" });
  const [marked, gone] = await at.remove("a/x");
  assert.deepEqual(await watch.told(3), [`MODIFIED ${x2}`, `MODIFIED ${marked}`, `DELETED ${gone}`]);
  assert.deepEqual(watch.done, []);
  watch.controller.abort();
  await until(() => watch.done.length > 0);
  await at.create("a/y");
  await pause(100);
  assert.deepEqual([watch.done.map((error) => error.name), watch.heard], [["AbortError"], []], "done once, and nothing after it");
  assert.ok(watch.controller.signal.aborted);
});

forBoth("a watch from a version hears what came after it", async (t, name) => {
  const at = await world(t);
  const { cache } = at.cache();
  await cache.resource("pods").synced();
  // Somebody watches from here on, so that the cache has the history.
  const holder = cache.resource("pods").watch();
  t.after(() => holder.stop());
  const x = await at.create("a/x");
  const y = await at.create("a/y");
  const config = name === "ours" ? cache : at.kubeConfig();
  const watch = await watchOf(name, at, "/api/v1/pods", { resourceVersion: x.split("@")[1] }, config);
  assert.deepEqual(await watch.told(1), [`ADDED ${y}`]);
  watch.controller.abort();
});

forBoth("timeoutSeconds ends a watch with null", async (t, name) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const watch = await watchOf(name, at, "/api/v1/pods", { timeoutSeconds: 1 });
  assert.deepEqual(await watch.told(1), [`ADDED ${x}`]);
  await until(() => watch.done.length > 0);
  assert.deepEqual(watch.done, [null]);
  assert.ok(watch.controller.signal.aborted);
});

forBoth("a watch that is refused is done with the server's code", async (t, name) => {
  const at = await world(t);
  at.control.fault("status", { code: 403 });
  const watch = await watchOf(name, at, "/api/v1/pods", {});
  await until(() => watch.done.length > 0);
  assert.deepEqual([watch.done.map((error) => error.statusCode), watch.heard], [[403], []]);
});

forBoth("a version that is too old is an ERROR event with 410, and the end", async (t, name) => {
  const at = await world(t);
  const x = await at.create("a/x");
  await at.create("a/y");
  at.control.fault("expire");
  const watch = await watchOf(name, at, "/api/v1/pods", { resourceVersion: x.split("@")[1] });
  await until(() => watch.done.length > 0);
  assert.deepEqual([watch.heard, watch.done], [["ERROR 410 Expired"], [null]]);
});

test("a dropped socket: the original is done with an error; ours resumes, and after 410 goes on with the difference", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const y = await at.create("a/y");
  const [theirs, mine] = [await watchOf("original", at, "/api/v1/pods", {}), await watchOf("ours", at, "/api/v1/pods", {})];
  for (const watch of [theirs, mine]) assert.deepEqual(await watch.told(2), [`ADDED ${x}`, `ADDED ${y}`]);
  at.control.fault("drop");
  await until(() => theirs.done.length > 0);
  const x2 = await at.label("a/x", { tier: "1" });
  assert.deepEqual(await mine.told(1), [`MODIFIED ${x2}`]);
  await until(() => at.streams() === 1);
  at.control.fault("status", { on: "watch", code: 503, retryAfterSeconds: 0 });
  at.control.fault("drop");
  await at.remove("a/y");
  const z = await at.create("a/z");
  at.control.fault("expire");
  at.control.fault("clear");
  const difference = await mine.told(2);
  assert.deepEqual(difference.map((event) => event.split("@")[0]).sort(), ["ADDED a/z", "DELETED a/y"]);
  assert.ok(difference.includes(`ADDED ${z}`));
  assert.deepEqual([theirs.heard, mine.done], [[], []]);
  mine.controller.abort();
});

test("parameters and paths that cannot be meant reject; a closed cache too", async (t) => {
  const at = await world(t);
  const { cache } = at.cache();
  const watch = new ours.Watch(cache);
  const never = () => assert.fail("nothing may be called");
  const rejects = (code, path, parameters) =>
    assert.rejects(watch.watch(path, parameters, never, never), { name: "WatchCacheError", code });
  await rejects("invalid", "/pods", {});
  await rejects("invalid", "/api/v1/pods", { limit: 5 });
  await rejects("invalid", "/api/v1/pods", { allowWatchBookmarks: "perhaps" });
  assert.equal(watch.config, cache);
  await cache.close();
  await rejects("closed", "/api/v1/pods", {});
});

test("what a callback throws is reported, and the watch goes on", async (t) => {
  const at = await world(t);
  await at.create("a/x");
  const { cache, reported } = at.cache();
  const seen = [];
  const controller = await new ours.Watch(cache).watch(
    "/api/v1/pods",
    {},
    (_phase, { metadata }) => {
      seen.push(metadata.name);
      throw new RangeError("mine");
    },
    () => {
      throw new TypeError("done");
    },
  );
  await at.create("a/y");
  await until(() => seen.length === 2);
  controller.abort();
  await until(() => reported.length === 3);
  assert.deepEqual(
    [seen, reported.map((error) => error.name)],
    [
      ["x", "y"],
      ["RangeError", "RangeError", "TypeError"],
    ],
  );
});
