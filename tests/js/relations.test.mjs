// What belongs to an object, as live views: what it owns, what it selects, and the events about it. Over the real core.
import assert from "node:assert/strict";
import { test } from "node:test";

import { init } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open, until } from "./lib/package.mjs";

await init();

let versions = 0;
/** Any object by its key, of which `more` are the members beside its metadata. */
function made(key, { labels, owners, uid = `uid-${key}`, ...more } = {}) {
  const [name, namespace] = key.split("/").reverse();
  const ownerReferences = owners?.map((uid) => ({ apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid }));
  return { metadata: { name, namespace, uid, labels, ownerReferences, annotations: { n: String(++versions) } }, ...more };
}

/** A resource of these objects, synced. */
async function held(t, ...objects) {
  const upstream = memorySource({ objects });
  const opened = open(upstream);
  t.after(() => opened.cache.close());
  await opened.resource.synced();
  return { ...opened, upstream, keysOf: (spec) => [...opened.resource.view(spec).getSnapshot().keys] };
}

/** All snapshots of a view that differ in their keys, from now on. */
function follow(view) {
  const states = [view.getSnapshot().keys.join()];
  view.subscribe(() => {
    const keys = view.getSnapshot().keys.join();
    if (keys !== states.at(-1)) states.push(keys);
  });
  return states;
}

test("childrenOf finds what has the owner among its owners, by uid or object, in the owner's namespace", async (t) => {
  const { resource, keysOf } = await held(
    t,
    made("a/x", { owners: ["one"] }),
    made("a/y", { owners: ["two", "one"] }),
    made("a/z", { owners: ["two"] }),
    made("b/x", { owners: ["one"] }),
    made("a/none"),
    made("a/empty", { owners: [] }),
    made("cluster", { owners: ["one"] }),
  );
  const all = ["a/x", "a/y", "b/x", "cluster"];
  assert.deepEqual(keysOf({ childrenOf: "one" }), all);
  assert.deepEqual(keysOf({ childrenOf: { metadata: { uid: "one" } } }), all, "an owner of the cluster may own anything");
  assert.deepEqual(keysOf({ childrenOf: { metadata: { uid: "one", namespace: "a" } } }), ["a/x", "a/y"]);
  assert.deepEqual(keysOf({ childrenOf: "two" }), ["a/y", "a/z"]);
  assert.deepEqual(keysOf({ childrenOf: "unknown" }), []);
  assert.deepEqual(keysOf({ childrenOf: null }), []);
  assert.deepEqual(keysOf({ childrenOf: undefined }).length, 7);
  assert.deepEqual(keysOf({ childrenOf: "one", namespaces: ["b", "c"] }), ["b/x"]);
  assert.deepEqual(keysOf({ childrenOf: { metadata: { uid: "one", namespace: "a" } }, namespaces: ["b"] }), []);
  assert.deepEqual(keysOf({ childrenOf: "one", fieldSelector: "metadata.name=y" }), ["a/y"]);
  assert.deepEqual(
    resource.childrenOf("two").rows.map(({ metadata }) => metadata.name),
    ["y", "z"],
  );
  assert.deepEqual(resource.childrenOf("two", { orderBy: [{ path: "metadata.name", descending: true }] }).getSnapshot().keys, [
    "a/z",
    "a/y",
  ]);
  const counted = await held(t, made("a/x", { owners: ["one"] }), made("a/y"));
  assert.equal(counted.resource.childrenOf("one", { window: { offset: 0, limit: 0 } }).total, 1);
  assert.equal(counted.cache.stats().resources[0].decoded, 0, "nothing is decoded to find them");
});

test("rows come and go as owners change", async (t) => {
  const { resource, upstream } = await held(t, made("a/x", { owners: ["one"] }), made("a/y", { owners: ["two"] }));
  const states = follow(resource.childrenOf("one"));
  const others = follow(resource.childrenOf("two"));
  upstream.put(made("a/y", { owners: ["two", "one"] }));
  await until(() => states.at(-1) === "a/x,a/y");
  upstream.put(made("a/x", { owners: ["two"] }));
  await until(() => states.at(-1) === "a/y" && others.at(-1) === "a/x,a/y");
  upstream.put(made("a/y"));
  await until(() => states.at(-1) === "" && others.at(-1) === "a/x");
  upstream.put(made("a/new", { owners: ["one"] }));
  await until(() => states.at(-1) === "a/new");
  upstream.remove("a/new");
  await until(() => states.at(-1) === "");
  assert.deepEqual(states, ["a/x", "a/x,a/y", "a/y", "", "a/new", ""]);
  assert.deepEqual(others, ["a/y", "a/x,a/y", "a/x"]);
});

test("a uid is taken literally, whatever it is made of", async (t) => {
  const uids = ["it's", "a\\b", "a,b=c", "]", "'] || x", 'q"', "ü"];
  const { keysOf } = await held(t, ...uids.map((uid, i) => made(`a/${i}`, { owners: [uid], involvedObject: { uid } })));
  for (const [i, uid] of uids.entries()) {
    assert.deepEqual(keysOf({ childrenOf: uid }), [`a/${i}`], uid);
    assert.deepEqual(keysOf({ eventsOf: uid }), [`a/${i}`], uid);
  }
});

const WEB = { app: "web" };
const PODS = [
  made("a/web", { labels: WEB }),
  made("a/front", { labels: { app: "web", tier: "front" } }),
  made("a/db", { labels: { app: "db" } }),
  made("a/bare"),
  made("b/web", { labels: WEB }),
];
const inA = (spec, more) => ({ metadata: { name: "s", namespace: "a" }, spec, ...more });
const EVERY_A = ["a/bare", "a/db", "a/front", "a/web"];

for (const [what, selectedBy, keys] of [
  ["a service", inA({ selector: WEB }), ["a/front", "a/web"]],
  ["a service with two labels", inA({ selector: { app: "web", tier: "front" } }), ["a/front"]],
  ["a service without a selector", inA({ ports: [] }), []],
  ["a service with an empty selector", inA({ ports: [], selector: {} }), []],
  ["a service of a kind with an empty selector", inA({ selector: {} }, { kind: "Service" }), []],
  ["a service whose label is called as a member", inA({ selector: { matchLabels: "x" } }), []],
  ["a deployment", inA({ selector: { matchLabels: WEB } }), ["a/front", "a/web"]],
  ["an In", inA({ selector: { matchExpressions: [{ key: "app", operator: "In", values: ["web", "db"] }] } }), ["a/db", "a/front", "a/web"]],
  ["a NotIn", inA({ selector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["web"] }] } }), ["a/bare", "a/db"]],
  ["an Exists", inA({ selector: { matchExpressions: [{ key: "tier", operator: "Exists" }] } }), ["a/front"]],
  [
    "labels and a DoesNotExist",
    inA({ selector: { matchLabels: WEB, matchExpressions: [{ key: "tier", operator: "DoesNotExist", values: [] }] } }),
    ["a/web"],
  ],
  ["a budget with an empty selector", inA({ selector: {} }, { kind: "PodDisruptionBudget" }), EVERY_A],
  ["a budget without one", inA({}, { kind: "PodDisruptionBudget" }), []],
  ["a policy", inA({ podSelector: { matchLabels: { app: "db" } } }), ["a/db"]],
  ["a policy for all", inA({ podSelector: {} }), EVERY_A],
  ["a selector alone", { matchLabels: WEB }, ["a/front", "a/web", "b/web"]],
  ["an empty selector alone", {}, [...EVERY_A, "b/web"]],
  ["no selector", null, []],
  ["an object that has none", { metadata: { name: "m", namespace: "a" } }, []],
])
  test(`selectedBy: ${what}`, async (t) => {
    const { resource, keysOf } = await held(t, ...PODS);
    assert.deepEqual(keysOf({ selectedBy }), keys);
    assert.deepEqual([...resource.selectedBy(selectedBy).getSnapshot().keys], keys);
    assert.deepEqual(
      keysOf({ selectedBy, labelSelector: "app=web" }),
      keys.filter((key) => /web|front/.test(key)),
      "beside a selector of its own",
    );
  });

test("rows come and go as labels change, and equal relations share their work", async (t) => {
  const { resource, upstream } = await held(t, ...PODS);
  const service = inA({ selector: WEB });
  const states = follow(resource.selectedBy(service));
  upstream.put(made("a/bare", { labels: WEB }));
  await until(() => states.at(-1) === "a/bare,a/front,a/web");
  upstream.put(made("a/front", { labels: { app: "db" } }));
  await until(() => states.at(-1) === "a/bare,a/web");
  assert.equal(states.length, 3);
  const [one, two] = [resource.selectedBy(service), resource.selectedBy({ ...service, status: { other: true } })];
  assert.equal(one.counts, two.counts);
  assert.deepEqual(one.rows, two.rows);
  assert.equal(one.rows[0], two.rows[0]);
});

test("eventsOf finds the events about an object, and those of nodes by name, as kubelets name them", async (t) => {
  const about = (name, involvedObject) => made(`default/${name}`, { involvedObject });
  const { resource, keysOf, upstream } = await held(
    t,
    about("pod", { kind: "Pod", namespace: "a", name: "x", uid: "u1" }),
    about("earlier", { kind: "Pod", namespace: "a", name: "x", uid: "u0" }),
    about("kubelet", { kind: "Node", name: "n1", uid: "n1" }),
    about("controller", { kind: "Node", name: "n1", uid: "u2" }),
    about("namesake", { kind: "Namespace", name: "n1", uid: "u3" }),
  );
  const pod = { metadata: { name: "x", namespace: "a", uid: "u1" } };
  assert.deepEqual(keysOf({ eventsOf: pod }), ["default/pod"]);
  assert.deepEqual(keysOf({ eventsOf: "u0" }), ["default/earlier"]);
  const node = ["default/controller", "default/kubelet"];
  assert.deepEqual(keysOf({ eventsOf: { kind: "Node", metadata: { name: "n1", uid: "u2" } } }), node);
  assert.deepEqual(keysOf({ eventsOf: { metadata: { name: "n1", uid: "u2" }, status: { nodeInfo: {} } } }), node, "as a list has it");
  assert.deepEqual(keysOf({ eventsOf: { kind: "Namespace", metadata: { name: "n1", uid: "u3" } } }), ["default/namesake"]);
  assert.deepEqual(keysOf({ eventsOf: null }), []);
  const states = follow(resource.eventsOf(pod));
  upstream.put(about("second", { kind: "Pod", namespace: "a", name: "x", uid: "u1" }));
  await until(() => states.at(-1) === "default/pod,default/second");
  upstream.remove("default/pod");
  await until(() => states.at(-1) === "default/second");
});

test("what cannot be meant is invalid, at once and with the remedy", async (t) => {
  const { resource } = await held(t, ...PODS);
  const refused = (call, pattern, what) =>
    assert.throws(call, (error) => {
      assert.equal(error.code, "invalid", what);
      assert.match(error.message, pattern, what);
      return true;
    });
  for (const wrong of ["", 5, true, {}, [], { metadata: {} }, { metadata: { uid: 5 } }, () => {}]) {
    for (const name of ["childrenOf", "eventsOf"]) {
      refused(
        () => resource.view({ [name]: wrong }),
        new RegExp(`${name} is a uid, or an object with metadata.uid`),
        `${name} ${String(wrong)}`,
      );
      refused(() => resource[name](wrong), new RegExp(`${name} is a uid, or an object`));
    }
  }
  for (const [wrong, pattern] of [
    ["app=web", /text is for labelSelector/],
    [5, /selectedBy is an object with a selector/],
    [[], /selectedBy is an object with a selector/],
    [{ app: "web" }, /a LabelSelector has matchLabels and matchExpressions, and no app/],
    [inA({ selector: "app=web" }), /spec\.selector is an object, not text/],
    [inA({ selector: { app: "a,b" } }), /"a,b" is no value of a label/],
    [inA({ selector: { app: 5 } }), /5 is no value of a label/],
    [inA({ selector: { "a b": "x" } }), /"a b" is no key of a label/],
    [inA({ selector: { matchLabels: [] } }), /matchLabels is an object/],
    [inA({ selector: { matchExpressions: {} } }), /matchExpressions is an array/],
    [inA({ selector: { matchExpressions: [5] } }), /each of matchExpressions is an object/],
    [{ matchExpressions: [{ key: "a", operator: "Equals" }] }, /one of In, NotIn, Exists, DoesNotExist/],
    [{ matchExpressions: [{ key: "a", operator: "In" }] }, /In of matchExpressions needs values/],
    [{ matchExpressions: [{ key: "a", operator: "Exists", values: ["x"] }] }, /Exists of matchExpressions has no values/],
    [{ matchExpressions: [{ operator: "Exists" }] }, /undefined is no key of a label/],
  ])
    refused(() => resource.view({ selectedBy: wrong }), pattern, JSON.stringify(wrong));
  for (const namespace of [5, {}, [], 5n, () => {}]) {
    refused(() => resource.childrenOf({ metadata: { uid: "one", namespace } }), /childrenOf: metadata\.namespace is text/);
    refused(() => resource.selectedBy({ metadata: { namespace }, spec: {} }), /selectedBy: metadata\.namespace is text/);
  }
  for (const name of ["childrenOf", "selectedBy", "eventsOf"]) {
    refused(() => resource[name](), new RegExp(`${name} is missing`));
    for (const spec of [null, 5, "name", [], () => {}])
      refused(() => resource[name](null, spec), new RegExp(`what ${name} is given is an object`));
  }
});
