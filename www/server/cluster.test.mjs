import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "./cluster/random.mjs";
import { populate } from "./cluster/cluster.mjs";
import { findResourceByName, RESOURCES } from "./resources.mjs";
import { Store } from "./store.mjs";
import { serverFor } from "./testing.mjs";
import { Traffic } from "./traffic.mjs";

const NOW = Date.UTC(2026, 0, 15);

/** @param {number} seed @param {number} steps @param {number} [pods] */
function run(seed, steps, pods = 300) {
  const store = new Store({ history: 5_000 });
  const options = { pods, seed, rate: 0, now: () => NOW };
  const cluster = populate(store, options);
  const traffic = new Traffic(store, cluster, options);
  traffic.step(steps);
  return { store, traffic, table: (/** @type {string} */ resource) => store.table(/** @type {any} */ (findResourceByName(resource))) };
}

/** Everything that a store holds. @param {Store} store */
function contents(store) {
  return RESOURCES.flatMap((definition) =>
    [...store.table(definition).snapshot(store.revision).range("/")].map(
      (object) => `${definition.resource}${object.key} ${object.body()}`,
    ),
  );
}

test("equal_seeds_make_equal_clusters_and_equal_traffic", () => {
  const [one, two, other] = [run(7, 1_000, 100), run(7, 1_000, 100), run(8, 1_000, 100)];
  assert.deepEqual(contents(one.store), contents(two.store));
  assert.equal(one.store.revision, two.store.revision);
  assert.notDeepEqual(contents(one.store), contents(other.store));
});

test("pods_are_like_real_ones", () => {
  const { table } = run(1, 0, 500);
  const pods = [...table("pods").current.values()];
  assert.equal(pods.length, 500);
  const sizes = pods.map((pod) => pod.body().length).sort((left, right) => left - right);
  const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  assert.ok(average > 9_000 && average < 15_000, `on average ${average} bytes`);
  assert.ok(sizes[0] > 6_000 && sizes[sizes.length - 1] < 18_000, `from ${sizes[0]} to ${sizes[sizes.length - 1]}`);
  const parsed = pods.map((pod) => pod.parse());
  for (const pod of parsed) {
    assert.ok(pod.metadata.managedFields.length >= 1);
    assert.ok(pod.spec.containers.length >= 1);
    assert.equal(new Set(pod.spec.containers.map((/** @type {any} */ { name }) => name)).size, pod.spec.containers.length);
  }
  const count = (/** @type {(pod: any) => unknown} */ matches) => parsed.filter(matches).length;
  assert.ok(count((pod) => pod.status.phase === "Running") > 400);
  for (const phase of ["Pending", "Succeeded"]) assert.ok(count((pod) => pod.status.phase === phase) > 0, phase);
  assert.ok(count((pod) => pod.status.containerStatuses?.some((/** @type {any} */ status) => status.restartCount > 0)) > 10);
  const nodes = new Set(table("nodes").keys);
  for (const pod of parsed) if (pod.spec.nodeName) assert.ok(nodes.has(`/${pod.spec.nodeName}`), pod.spec.nodeName);
  const byNamespace = new Map();
  for (const pod of parsed) byNamespace.set(pod.metadata.namespace, (byNamespace.get(pod.metadata.namespace) ?? 0) + 1);
  assert.ok(byNamespace.size >= 10);
  assert.ok(Math.max(...byNamespace.values()) > 5 * Math.min(...byNamespace.values()), "namespaces are of uneven size");
});

test("owners_of_pods_exist", () => {
  const { table } = run(3, 0, 200);
  for (const object of table("pods").current.values()) {
    const [owner] = object.parse().metadata.ownerReferences;
    if (owner.kind !== "ReplicaSet") continue;
    const set = table("replicasets").get(`/${object.namespace}/${owner.name}`)?.parse();
    assert.equal(set.metadata.uid, owner.uid);
    assert.equal(
      table("deployments").get(`/${object.namespace}/${set.metadata.ownerReferences[0].name}`)?.uid,
      set.metadata.ownerReferences[0].uid,
    );
  }
});

test("traffic_keeps_counts_and_makes_every_kind_of_change", () => {
  const { store, traffic, table } = run(5, 0, 200);
  const before = store.revision;
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (let round = 0; round < 100; round += 1) {
    traffic.step(100);
    assert.ok(Math.abs(table("pods").size - 200) < 60, `${table("pods").size} pods`);
  }
  assert.equal(store.revision - before, 10_000, "a step is one event");
  for (const definition of RESOURCES) {
    const { window } = store.table(definition);
    for (let position = window.first; position < window.end; position += 1) {
      const { current, previous } = window.at(position);
      const kind = `${definition.resource} ${current ? (previous ? "MODIFIED" : "ADDED") : "DELETED"}`;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    }
  }
  for (const kind of [
    "pods ADDED",
    "pods MODIFIED",
    "pods DELETED",
    "nodes MODIFIED",
    "events ADDED",
    "events DELETED",
    "deployments MODIFIED",
    "replicasets ADDED",
    "replicasets DELETED",
  ]) {
    assert.ok((seen.get(kind) ?? 0) > 0, `${kind} in ${JSON.stringify([...seen])}`);
  }
  assert.ok(table("events").size <= 500);
});

test("a_pod_lives_from_pending_to_ready_and_ends", () => {
  const { store, traffic, table } = run(11, 0, 100);
  /** @type {Map<string, string[]>} */
  const lives = new Map();
  const { window } = table("pods");
  let position = window.end;
  for (let round = 0; round < 60; round += 1) {
    traffic.step(50);
    for (; position < window.end; position += 1) {
      const { key, current } = window.at(position);
      const pod = current?.parse();
      const ready = pod?.status.conditions?.some((/** @type {any} */ { type, status }) => type === "Ready" && status === "True");
      const stage = !pod
        ? "gone"
        : pod.metadata.deletionTimestamp
          ? "ending"
          : ready
            ? "ready"
            : pod.spec.nodeName
              ? pod.status.phase
              : "unassigned";
      const life = lives.get(key) ?? [];
      if (life.at(-1) !== stage) life.push(stage);
      lives.set(key, life);
    }
  }
  assert.ok(store.revision > 0);
  const whole = [...lives.values()].filter((life) => life[0] === "unassigned" && life.includes("ready"));
  assert.ok(whole.length > 5);
  for (const life of whole) assert.deepEqual(life.slice(0, 4), ["unassigned", "Pending", "Running", "ready"]);
  for (const life of lives.values()) if (life.includes("gone")) assert.deepEqual(life.slice(life.indexOf("gone") - 1), ["ending", "gone"]);
});

test("random_numbers_are_even_and_names_are_legal", () => {
  const random = new Random(42);
  const counts = [0, 0, 0, 0];
  for (let round = 0; round < 4_000; round += 1) counts[random.int(0, 3)] += 1;
  for (const count of counts) assert.ok(Math.abs(count - 1_000) < 150, counts.join());
  assert.match(random.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.match(random.suffix(5), /^[a-z2-9]{5}$/);
});

test("the_rate_is_a_setting_at_run_time", async (t) => {
  const server = await serverFor(t, { pods: 50, rate: 0 });
  const before = server.control.status().resourceVersion;
  assert.equal((await server.api("/demo/rate", { method: "POST", json: { eventsPerSecond: 400 } })).body.eventsPerSecond, 400);
  while (Number(server.control.status().resourceVersion) < Number(before) + 20) await new Promise((resolve) => setTimeout(resolve, 10));
  server.control.setRate(0);
  for (const eventsPerSecond of [-1, "fast", 1e9, null])
    assert.equal((await server.api("/demo/rate", { method: "POST", json: { eventsPerSecond } })).code, 400);
});
