// What `watchcache/compat/client-node` does otherwise than `@kubernetes/client-node`, on purpose. Each test shows what the original of the
// locked version does, and what ours does, in the same situation on the same server.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as original from "@kubernetes/client-node";
import { makeInformer } from "watchcache/compat/client-node";
import { informerOf, pause, subjects, until, world } from "./rig.mjs";

const counts = (at) => at.control.status().counts;

/** One that has heard of `a/x` and watches. */
async function running(t, name, at, how) {
  const subject = informerOf(t, subjects[name], at, how);
  await subject.informer.start();
  await subject.told(1);
  await until(() => at.streams() === 1);
  return subject;
}

test("stop: the original emits an error, which the documented restart answers with a new watch; ours is silent and stays stopped", async (t) => {
  const heard = {};
  for (const name of Object.keys(subjects)) {
    const at = await world(t);
    await at.create("a/x");
    // No stream outlives its user here.
    const config = name === "ours" ? at.cache({ linger: 0 }).cache : at.kubeConfig();
    const subject = await running(t, name, at, { config });
    subject.restartsOnError();
    const { watches } = counts(at);
    await subject.informer.stop();
    if (name === "original") await until(() => counts(at).watches > watches);
    else {
      await until(() => at.streams() === 0);
      await pause(200);
    }
    const fresh = await at.create("a/fresh");
    if (name === "original") assert.deepEqual(await subject.told(1), [`add ${fresh}`], "resurrected");
    else await pause(200);
    heard[name] = [subject.errors.map((error) => error.name), counts(at).watches - watches, at.streams(), subject.heard];
  }
  assert.deepEqual(heard, { original: [["AbortError"], 1, 1, []], ours: [[], 0, 0, []] });
});

test("stop while it lists: the original opens a watch all the same; ours heeds it", async (t) => {
  const streams = {};
  for (const name of Object.keys(subjects)) {
    const at = await world(t);
    await at.create("a/x");
    const config = name === "ours" ? at.cache({ linger: 0 }).cache : at.kubeConfig();
    const subject = informerOf(t, subjects[name], at, { config });
    at.control.fault("slowPages", { pageMs: 300 });
    const starting = subject.informer.start();
    await until(() => counts(at).lists === 1);
    await subject.informer.stop();
    await starting;
    if (name === "original") await until(() => at.streams() === 1);
    else await pause(600);
    streams[name] = [at.streams(), subject.heard.length];
  }
  assert.deepEqual(streams, { original: [1, 1], ours: [0, 0] });
});

test("start twice: the original opens two watches and one is never closed; ours has one", async (t) => {
  const streams = {};
  for (const name of Object.keys(subjects)) {
    const at = await world(t);
    await at.create("a/x");
    const config = name === "ours" ? at.cache({ linger: 0 }).cache : at.kubeConfig();
    const { informer } = informerOf(t, subjects[name], at, { config });
    await Promise.all([informer.start(), informer.start()]);
    await until(() => at.streams() >= 1);
    await pause(100);
    const open = at.streams();
    await informer.stop();
    await until(() => at.streams() === open - 1);
    streams[name] = [open, at.streams()];
    at.control.fault("drop");
  }
  assert.deepEqual(streams, { original: [2, 1], ours: [1, 0] });
});

test("a dropped socket: the original ends with an error until it is started; ours goes on", async (t) => {
  for (const name of Object.keys(subjects)) {
    const at = await world(t);
    await at.create("a/x");
    const subject = await running(t, name, at);
    at.control.fault("drop");
    await until(() => name === "ours" || subject.errors.length === 1);
    const missed = await at.create("b/missed");
    if (name === "ours") assert.deepEqual(await subject.told(1), [`add ${missed}`]);
    else {
      await pause(500);
      assert.deepEqual([subject.heard, at.streams()], [[], 0], "dead");
      await subject.informer.start();
      assert.deepEqual(await subject.told(1), [`add ${missed}`]);
    }
  }
});

for (const code of [429, 503, 500, 403]) {
  test(`a first list that is answered ${code}: the original gives up; ours tells the error and starts when it can`, async (t) => {
    for (const name of Object.keys(subjects)) {
      const at = await world(t);
      const x = await at.create("a/x");
      at.control.fault("status", { code, retryAfterSeconds: 0, on: "list", requests: 1 });
      const subject = informerOf(t, subjects[name], at);
      await subject.informer.start();
      assert.equal(subject.errors.length, 1, "start resolves with the error told");
      const [error] = subject.errors;
      if (name === "ours") {
        assert.equal(error.statusCode, code);
        assert.deepEqual(await subject.told(1), [`add ${x}`]);
        assert.equal(subject.errors.length, 1);
      } else {
        assert.equal(error.code, code);
        const { requests } = counts(at);
        await pause(300);
        assert.deepEqual([subject.heard, counts(at).requests, at.streams()], [[], requests, 0]);
        await subject.informer.start();
        assert.deepEqual(await subject.told(1), [`add ${x}`]);
      }
    }
  });
}

test("restarting on each error: ours ignores it while it waits, so that Retry-After is kept", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  at.control.fault("status", { code: 429, retryAfterSeconds: 1, on: "list", requests: 1 });
  const subject = informerOf(t, subjects.ours, at);
  const begun = performance.now();
  void subject.informer.start();
  await until(() => subject.errors.length === 1);
  assert.equal(subject.errors[0].retryAfterSeconds, 1);
  const hammer = setInterval(() => void subject.informer.start(), 20);
  t.after(() => clearInterval(hammer));
  assert.deepEqual(await subject.told(1), [`add ${x}`]);
  assert.ok(performance.now() - begun >= 1_000, "it waited as long as the server asked");
  await until(() => at.streams() === 1);
  await pause(100);
  assert.equal(at.streams(), 1);
});

test("connect: the original says it before it tries; ours when the watch stands, and again after an interruption", async (t) => {
  const at = await world(t);
  await at.create("a/x");
  at.control.fault("status", { code: 503, retryAfterSeconds: 0 });
  const [theirs, mine] = Object.values(subjects).map((subject) => informerOf(t, subject, at));
  await Promise.all([theirs.informer.start(), mine.informer.start()]);
  assert.deepEqual([theirs.connects(), mine.connects()], [1, 0]);
  at.control.fault("clear");
  await mine.told(1);
  await until(() => mine.connects() === 1);
  at.control.fault("drop");
  await until(() => mine.connects() === 2);
});

test("a callback that throws: the original does not watch at all; ours reports it, and the others are called", async (t) => {
  for (const name of Object.keys(subjects)) {
    const at = await world(t);
    const x = await at.create("a/x");
    const { cache, reported } = at.cache();
    const config = name === "ours" ? cache : at.kubeConfig();
    const make = name === "ours" ? makeInformer : original.makeInformer;
    const informer = make(config, "/api/v1/pods", subjects[name].list(at, config));
    t.after(() => informer.stop());
    const heard = [];
    informer.on("add", () => {
      throw new RangeError("mine");
    });
    informer.on("add", async () => {
      if (name === "ours") throw new TypeError("also mine");
    });
    informer.on("add", ({ metadata }) => heard.push(metadata.name));
    if (name === "original") {
      await assert.rejects(informer.start(), RangeError);
      await pause(100);
      assert.deepEqual([heard, at.streams()], [[], 0]);
    } else {
      await informer.start();
      await until(() => at.streams() === 1 && reported.length === 2);
      assert.deepEqual([heard, reported.map((error) => error.name).sort()], [[x.slice(2, 3)], ["RangeError", "TypeError"]]);
    }
  }
});

test("what came and went while it was stopped: the original hears all of it, ours what differs in the end", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const [theirs, mine] = Object.values(subjects).map((subject) => informerOf(t, subject, at));
  for (const subject of [theirs, mine]) {
    await subject.informer.start();
    await subject.told(1);
    await subject.informer.stop();
  }
  const brief = await at.create("b/brief");
  const [marked, gone] = await at.remove("b/brief");
  const x2 = await at.label("a/x", { tier: "1" });
  const x3 = await at.label("a/x", { tier: "2" });
  for (const subject of [theirs, mine]) await subject.informer.start();
  assert.deepEqual(await theirs.told(5), [`add ${brief}`, `update ${marked}`, `delete ${gone}`, `update ${x2}`, `update ${x3}`]);
  assert.deepEqual(await mine.told(1), [`update ${x3}`]);
  const y = await at.create("a/y");
  assert.deepEqual(await mine.told(1), [`add ${y}`], "and nothing between");
  assert.notEqual(x, x3);
});

test("a restart after the cache let go of its stream lists anew, and tells the difference all the same", async (t) => {
  const at = await world(t);
  const [x, y] = [await at.create("a/x"), await at.create("a/y")];
  const { cache } = at.cache({ linger: 0 });
  const subject = informerOf(t, subjects.ours, at, { config: cache });
  await subject.informer.start();
  assert.deepEqual(await subject.told(2), [`add ${x}`, `add ${y}`]);
  await subject.informer.stop();
  cache.resource("pods").close();
  const x2 = await at.label("a/x", { tier: "1" });
  await at.remove("a/y");
  await subject.informer.start();
  const [update, gone] = await subject.told(2);
  // The garbage collector decides whether more than the name is left of an object that the cache no longer holds.
  assert.deepEqual([update, gone.split("@")[0]], [`update ${x2}`, "delete a/y"]);
});

test("objects of the first list: the original gives instances with dates, then plain ones; ours are plain JSON from the first", async (t) => {
  const at = await world(t);
  await at.create("a/x");
  const [theirs, mine] = await Promise.all(
    Object.values(subjects).map(async (subject) => {
      const { informer } = informerOf(t, subject, at);
      await informer.start();
      return informer;
    }),
  );
  const created = (informer) => informer.get("x", "a").metadata.creationTimestamp;
  assert.ok(created(theirs) instanceof Date);
  assert.equal(typeof created(mine), "string");
  await at.label("a/x", { tier: "1" });
  await until(() => [theirs, mine].every((informer) => informer.get("x", "a").metadata.labels.tier === "1"));
  assert.equal(typeof created(theirs), "string");
});

test("a closed cache: an error tells it, and a start does not reject", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const { cache } = at.cache();
  const subject = informerOf(t, subjects.ours, at, { config: cache });
  await subject.informer.start();
  assert.deepEqual(await subject.told(1), [`add ${x}`]);
  await cache.close();
  await until(() => subject.errors.length === 1);
  await subject.informer.start();
  assert.deepEqual(
    subject.errors.map(({ code }) => code),
    ["closed", "closed"],
  );
});

test("paths and arguments that cannot be meant are refused at once, with the reason", async (t) => {
  const at = await world(t);
  const { cache } = at.cache();
  const invalid = (message, ...args) => assert.throws(() => makeInformer(...args), { name: "WatchCacheError", code: "invalid", message });
  invalid(/begins with \/api\/ or \/apis\//, cache, "api/v1/pods");
  invalid(/belongs to the option server/, cache, "/k8s/clusters/c/api/v1/pods");
  invalid(/metadata\.name=p/, cache, "/api/v1/namespaces/a/pods/p");
  invalid(/metadata\.name=default/, cache, "/api/v1/namespaces/default");
  invalid(/leave out "watch\/"/, cache, "/api/v1/watch/pods");
  invalid(/no resource/, cache, "/apis/apps/v1");
  invalid(/no API version/, cache, "/apis/apps/deployments");
  invalid(/no resource/, cache, "/api/v1/Pods");
  invalid(/"limit" in the query/, cache, "/api/v1/pods?limit=5");
  invalid(/given twice/, cache, "/api/v1/pods?labelSelector=a", undefined, "b");
  invalid(/a path is text/, cache, undefined);
  invalid(/KubeConfig says nothing here/, at.kubeConfig(), "/api/v1/pods");
  invalid(/instead of a KubeConfig/, undefined, "/api/v1/pods");
  invalid(/transport/, { transport: "pigeon" }, "/api/v1/pods");
});

test("every form of path names its resource, and selectors may stand in it", async (t) => {
  const at = await world(t);
  await at.create("a/x");
  const y = await at.create("a/y");
  const { cache } = at.cache();
  for (const path of ["/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/apps/v1/namespaces/a/deployments"]) {
    const informer = makeInformer(cache, path);
    t.after(() => informer.stop());
    await informer.start();
    assert.equal(informer.list().length, path.endsWith("namespaces") ? 4 : 0, path);
    // As with the original, the array is the caller's, and the objects are shared.
    const [first, ...rest] = informer.list();
    informer.list().reverse().pop();
    assert.deepEqual(informer.list(), first === undefined ? [] : [first, ...rest]);
    assert.equal(informer.list()[0], first);
  }
  const one = makeInformer(cache, "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Dy");
  const same = makeInformer(cache, "/api/v1/namespaces/a/pods", undefined, undefined, "metadata.name=y");
  for (const informer of [one, same]) {
    t.after(() => informer.stop());
    await informer.start();
    assert.deepEqual(
      informer.list().map(({ metadata }) => `a/${metadata.name}@${metadata.resourceVersion}`),
      [y],
    );
  }
});

test("the options of a cache serve as well: the same object, the same cache", async (t) => {
  const at = await world(t);
  await at.create("a/x");
  const options = { server: at.url, transport: "fetch" };
  const pair = [makeInformer(options, "/api/v1/pods"), makeInformer(options, "/api/v1/pods")];
  for (const informer of pair) {
    t.after(() => informer.stop());
    await informer.start();
    assert.equal(informer.get("x", "a").metadata.name, "x");
  }
  assert.equal(pair[0].get("x", "a"), pair[1].get("x", "a"), "one stream, one object");
  assert.equal(counts(at).lists, 1);
});
