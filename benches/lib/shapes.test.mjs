// The events of the benchmarks are what their README says: in which proportions they come, what each changes, and the same each time.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { clusterEvents, SHARES } from "../page/cluster-events.js";
import { root } from "../../scripts/lib/project.mjs";

const realPod = JSON.parse(readFileSync(join(root, "tests/data/pod.json"), "utf8"));
const LISTED = 1000;
const open = (options) => clusterEvents(realPod, { objects: 1_000, ...options });

/** The paths at which two values differ. */
function differences(a, b, path = "") {
  if (a !== b && [a, b].every((value) => value !== null && typeof value === "object") && Array.isArray(a) === Array.isArray(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) => differences(a[name], b[name], `${path}.${name}`));
  }
  return a === b ? [] : [path.slice(1)];
}

/** Events, each with what it changes of the pod before it. */
function changes(events, { objects = 1_000, count }) {
  const held = Array.from({ length: objects }, (_, number) => JSON.parse(events.item(number, LISTED)));
  return Array.from({ length: count }, (_, i) => {
    const { kind, number, text } = events.next(LISTED + 1 + i);
    const object = JSON.parse(text);
    assert.equal(JSON.stringify(object), text, "as a server writes it");
    const before = held[number];
    held[number] = object;
    return { kind, number, text, before, object, paths: differences(before, object) };
  });
}

test("the same options give the same events, and another seed others", () => {
  const texts = (options) => {
    const events = open(options);
    return Array.from({ length: 300 }, (_, i) => events.next(i).text).join();
  };
  assert.equal(texts(), texts());
  assert.notEqual(texts(), texts({ seed: 2 }));
  assert.notEqual(texts(), texts({ shares: { heartbeat: 1 } }));
});

test("events come in the proportions that are asked for", () => {
  const count = 20_000;
  const kinds = { heartbeat: 0, rollout: 0, spec: 0 };
  const events = open();
  for (let i = 0; i < count; i++) kinds[events.next(i).kind]++;
  for (const [kind, share] of Object.entries(SHARES)) {
    assert.ok(Math.abs((kinds[kind] * 100) / count - share) < 1, `${kind}: ${kinds[kind]} of ${count}, where ${share} % are asked for`);
  }
  const readme = readFileSync(join(root, "benches/README.md"), "utf8");
  const told = [...readme.matchAll(/^\| +(\d+) \| (heartbeat|rollout|spec)[a-z ]* +\|/gm)].map(([, share, kind]) => [kind, Number(share)]);
  assert.deepEqual(Object.fromEntries(told), SHARES, "as benches/README.md says");
  const beats = open({ shares: { heartbeat: 1 } });
  assert.ok(Array.from({ length: 500 }, (_, i) => beats.next(i).kind).every((kind) => kind === "heartbeat"));
});

test("a heartbeat changes the version, one to four conditions' times and its manager's time", () => {
  const beats = changes(open(), { count: 6_000 }).filter(({ kind }) => kind === "heartbeat");
  const found = new Set();
  let seen = 0;
  for (const { paths, before } of beats) {
    const times = paths.filter((path) => /^status\.conditions\.[0-4]\.lastTransitionTime$/.test(path));
    found.add(times.length);
    const unseen = before.metadata.generation !== before.status.observedGeneration;
    const observed = paths.filter((path) => path.endsWith("bservedGeneration"));
    assert.equal(observed.length, unseen ? 6 : 0, "a new generation is seen by the next report");
    if (unseen) seen++;
    const others = paths.filter((path) => !times.includes(path) && !observed.includes(path)).sort();
    assert.deepEqual(others, ["metadata.managedFields.1.time", "metadata.resourceVersion"]);
  }
  assert.deepEqual([...found].sort(), [1, 2, 3, 4]);
  assert.ok(seen > 0);
});

test("a rollout changes phase, statuses, containers' ids and counts of restarts, by the stages of a pod", () => {
  const steps = changes(open(), { count: 20_000 }).filter(({ kind }) => kind === "rollout");
  const ways = new Map();
  for (const { number, object, paths } of steps) {
    assert.ok(paths.every((path) => /^(status\.|metadata\.(resourceVersion|managedFields\.1\.time)$)/.test(path)));
    const [main] = object.status.containerStatuses;
    const stage = `${object.status.phase} ${Object.keys(main.state)[0]} ${main.ready} ${main.restartCount}`;
    ways.set(number, [...(ways.get(number) ?? []), stage]);
  }
  const start = ["Pending waiting false 0", "Running running false 0", "Running running true 0"];
  assert.deepEqual(ways.get(0).slice(0, 3), start, "one that has yet to start");
  const restart = ["Running terminated false 0", "Running waiting false 0", "Running running false 1", "Running running true 1"];
  const restarted = [...ways].find(([number, way]) => number % 8 !== 0 && way.length === 4);
  assert.deepEqual(restarted[1], restart, "one whose container fails");
  const ids = steps.filter(({ number }) => number === restarted[0]).map(({ object }) => object.status.containerStatuses);
  assert.notEqual(ids[3][0].containerID, ids[0][0].containerID, "a restarted container has another id");
  assert.equal(ids[3][0].lastState.terminated.containerID, ids[0][0].containerID, "and knows its last one");
  assert.equal(ids[3][1].containerID, ids[0][1].containerID, "its neighbour runs on");
});

test("a change of the spec makes a new generation, and the first one adds its manager", () => {
  const specs = changes(open(), { count: 6_000 }).filter(({ kind }) => kind === "spec");
  const [first] = specs;
  assert.deepEqual(first.paths, [
    "metadata.generation",
    "metadata.managedFields.2",
    "metadata.resourceVersion",
    "spec.containers.0.image",
    "spec.containers.0.resources.requests.cpu",
  ]);
  for (const { before, object } of specs) assert.equal(object.metadata.generation, before.metadata.generation + 1);
});

test("no pod changes twice in a batch, each has its turn, and all are as large as the real one", () => {
  for (const objects of [20, 200, 1_000]) {
    const apart = Math.min(20, objects >> 1);
    const last = new Map();
    const events = open({ objects });
    for (let i = 0; i < 5_000; i++) {
      const { number, text } = events.next(i);
      assert.ok(i - (last.get(number) ?? -apart) >= apart, `${objects} pods: ${number} again after ${i - last.get(number)} events`);
      last.set(number, i);
      assert.ok(Math.abs(text.length - JSON.stringify(realPod).length) < 1_500, `${text.length}`);
    }
    assert.equal(last.size, objects);
  }
});

test("a pod's group is its number's, whatever happens to it; one pod alone can be rolled", () => {
  const events = open({ objects: 50, groups: 10 });
  for (const { number, object } of changes(events, { objects: 50, count: 500 }))
    assert.equal(object.metadata.labels.group, `g-${number % 10}`);
  const [one] = [open({ objects: 50, shares: { heartbeat: 1 } })];
  const texts = Array.from({ length: 4 }, (_, i) => JSON.parse(one.roll(3, i)));
  assert.deepEqual(
    texts.map(({ status }) => Object.keys(status.containerStatuses[0].state)[0]),
    ["terminated", "waiting", "running", "running"],
  );
  assert.equal(texts.at(-1).status.containerStatuses[0].restartCount, 1);
});
