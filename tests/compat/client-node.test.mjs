// One script, driven through `@kubernetes/client-node` from npm and through `watchcache/compat/client-node` against the same server: the
// callbacks of both hear the same.
import assert from "node:assert/strict";
import { test } from "node:test";
import { informerOf, subjects, until, world } from "./rig.mjs";

/** Both informers, started, on one server. */
async function both(t, at, how) {
  const pair = Object.values(subjects).map((subject) => informerOf(t, subject, at, how));
  await Promise.all(pair.map(({ informer }) => informer.start()));
  return pair;
}

/** What each heard is what is expected; in any order where several things happened while nobody listened. */
async function hear(pair, expected, { anyOrder = false } = {}) {
  for (const [index, subject] of pair.entries()) {
    const heard = await subject.told(expected.length);
    const name = Object.keys(subjects)[index];
    if (anyOrder) assert.deepEqual(heard.sort(), [...expected].sort(), name);
    else assert.deepEqual(heard, expected, name);
  }
}

test("additions, updates and deletions in several namespaces are heard alike, and held alike", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const y = await at.create("b/y");
  const pair = await both(t, at);
  await hear(pair, [`add ${x}`, `add ${y}`]);
  const z = await at.create("a/z");
  const x2 = await at.label("a/x", { tier: "1" });
  const x3 = await at.label("a/x", { tier: "2" });
  const [marked, gone] = await at.remove("b/y");
  const y2 = await at.create("b/y");
  await hear(pair, [`add ${z}`, `update ${x2}`, `update ${x3}`, `update ${marked}`, `delete ${gone}`, `add ${y2}`]);
  for (const subject of pair) {
    assert.deepEqual(subject.changes, [x, y, z, x2, x3, marked, gone, y2], "change is all of them");
    assert.deepEqual(subject.held(), [x3, z, y2].sort());
    assert.deepEqual(subject.held("a"), [x3, z].sort());
    assert.deepEqual(subject.held("c"), []);
    const { informer } = subject;
    assert.equal(informer.get("x", "a").metadata.labels.tier, "2");
    assert.equal(informer.get("x", "b"), undefined);
    assert.equal(informer.get("x"), undefined, "without a namespace only what has none");
    assert.equal(informer.latestResourceVersion(), y2.split("@")[1]);
  }
});

test("a namespace and a label selector narrow both alike: what leaves the selector is deleted", async (t) => {
  const at = await world(t);
  await at.create("b/elsewhere");
  await at.create("a/other", { app: "db" });
  const x = await at.create("a/x");
  const pair = await both(t, at, { namespace: "a", labelSelector: "app=web" });
  await hear(pair, [`add ${x}`]);
  const left = await at.label("a/x", { app: "db" });
  const came = await at.label("a/other", { app: "web" });
  await at.create("b/also-elsewhere");
  const last = await at.create("a/last");
  await hear(pair, [`delete ${left}`, `add ${came}`, `add ${last}`]);
  for (const subject of pair) assert.deepEqual(subject.held(), [came, last].sort());
});

test("callbacks can be taken away, one registration at a time, and verbs are checked", async (t) => {
  const at = await world(t);
  const pair = await both(t, at);
  const counts = await Promise.all(
    pair.map(async ({ informer }) => {
      const calls = [];
      const once = () => calls.push("once");
      const twice = () => calls.push("twice");
      informer.on("add", once);
      informer.on("add", twice);
      informer.on("add", twice);
      informer.on("change", once);
      informer.off("add", twice);
      informer.off("change", once);
      informer.off("update", () => {});
      assert.throws(() => informer.on("bookmark", once), /Unknown verb: bookmark/);
      assert.throws(() => informer.off("bookmark", once), /Unknown verb: bookmark/);
      return calls;
    }),
  );
  const x = await at.create("a/x");
  await hear(pair, [`add ${x}`]);
  const x2 = await at.label("a/x", { tier: "1" });
  await hear(pair, [`update ${x2}`]);
  for (const calls of counts) assert.deepEqual(calls.sort(), ["once", "twice"]);
});

test("a callback that comes late hears of what comes after it", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const pair = await both(t, at);
  await hear(pair, [`add ${x}`]);
  const late = pair.map(({ informer }) => {
    const names = [];
    informer.on("add", ({ metadata }) => names.push(metadata.name));
    return names;
  });
  const y = await at.create("a/y");
  await hear(pair, [`add ${y}`]);
  for (const names of late) assert.deepEqual(names, ["y"]);
});

test("after a restart both hear of what changed meanwhile, and of nothing else", async (t) => {
  const at = await world(t);
  const [x, y] = [await at.create("a/x"), await at.create("b/y")];
  const z = await at.create("c/z");
  const pair = await both(t, at);
  await hear(pair, [`add ${x}`, `add ${y}`, `add ${z}`]);
  for (const subject of pair) {
    await subject.informer.stop();
    assert.deepEqual(subject.held(), [x, y, z], "what was held stays readable");
  }
  const x2 = await at.label("a/x", { tier: "1" });
  const [, gone] = await at.remove("b/y");
  const fresh = await at.create("a/fresh");
  for (const subject of pair) await subject.informer.start();
  // Only one of the two knows the last version of a deleted object.
  const ends = (calls) => calls.filter((call) => !call.startsWith("update b/y")).map((call) => call.replace(/^(delete .*)@.*/, "$1"));
  for (const subject of pair) {
    await until(() => subject.heard.some((call) => call.startsWith("delete")) && ends(subject.heard).length === 3);
    assert.deepEqual(ends(await subject.told(3)).sort(), ends([`update ${x2}`, `delete ${gone}`, `add ${fresh}`]).sort());
    assert.deepEqual(subject.held(), [fresh, x2, z].sort());
  }
  const after = await at.create("c/after");
  await hear(pair, [`add ${after}`]);
});

test("a restart goes on from the last version: one watch, and no list", async (t) => {
  for (const [name, subject] of Object.entries(subjects)) {
    const at = await world(t);
    const x = await at.create("a/x");
    // No stream outlives its user.
    const config = name === "ours" ? at.cache({ linger: 0 }).cache : subject.config(at);
    const { informer, told } = informerOf(t, subject, at, { config });
    await informer.start();
    assert.deepEqual(await told(1), [`add ${x}`]);
    await until(() => at.streams() === 1);
    await informer.stop();
    await until(() => at.streams() === 0);
    const { lists, watches } = at.control.status().counts;
    const y = await at.create("a/y");
    await informer.start();
    assert.deepEqual(await told(1), [`add ${y}`]);
    const counts = at.control.status().counts;
    assert.deepEqual([counts.lists - lists, counts.watches - watches, at.streams()], [0, 1, 1], name);
  }
});

test("sockets are dropped: with the documented restart on errors both go on where they were", async (t) => {
  const at = await world(t);
  const x = await at.create("a/x");
  const pair = await both(t, at);
  for (const subject of pair) subject.restartsOnError();
  await hear(pair, [`add ${x}`]);
  for (let round = 1; round <= 3; round++) {
    await until(() => at.streams() === 2);
    // A watch that ends within a second and has brought nothing is taken for one that cannot be resumed, as client-go does.
    const sound = await at.create(`c/sound-${round}`);
    await hear(pair, [`add ${sound}`]);
    at.control.fault("drop", { midFrame: round === 2 });
    const missed = await at.create(`b/missed-${round}`);
    const updated = await at.label("a/x", { round: String(round) });
    await hear(pair, [`add ${missed}`, `update ${updated}`]);
  }
  await until(() => at.streams() === 2);
  const [theirs, mine] = pair;
  assert.ok(theirs.errors.length >= 3, "the original ended with each");
  assert.deepEqual(mine.errors, [], "what is resumed at once is no error");
});

test("the history expires: both list anew and hear of the difference alone", async (t) => {
  const at = await world(t);
  const [x, y] = [await at.create("a/x"), await at.create("b/y")];
  const pair = await both(t, at);
  for (const subject of pair) subject.restartsOnError();
  await hear(pair, [`add ${x}`, `add ${y}`]);
  // So that neither can catch up before the versions are gone.
  at.control.fault("status", { on: "watch", code: 503, retryAfterSeconds: 0 });
  at.control.fault("drop");
  await until(() => pair.every(({ errors }) => errors.length > 0));
  const x2 = await at.label("a/x", { tier: "1" });
  await at.remove("b/y");
  const z = await at.create("c/z");
  at.control.fault("expire");
  at.control.fault("clear");
  // Neither heard of the deletion itself, so the last known state is told.
  await hear(pair, [`update ${x2}`, `delete ${y}`, `add ${z}`], { anyOrder: true });
  for (const subject of pair) assert.deepEqual(subject.held(), [x2, z]);
  await until(() => at.streams() === 2);
  const after = await at.create("a/after");
  await hear(pair, [`add ${after}`]);
});
