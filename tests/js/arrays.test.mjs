// The arrays that the package hands out. Readers cannot change them, and each stays the same array while it holds the same objects.
import assert from "node:assert/strict";
import { test } from "node:test";

import { memorySource } from "watchcache/memory";
import { open, until } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

test("r12_arrays_of_informers_and_lists_are_not_their_readers_to_change", async () => {
  const { resource } = open(memorySource({ objects: [pod("a/x"), pod("a/y"), pod("b/z")] }));
  const informer = resource.informer();
  await informer.synced;
  const transformed = resource.informer({ transform: (object) => ({ ...object }) });
  await transformed.synced;
  const arrays = {
    "list()": () => informer.list(),
    "list() of a transform": () => transformed.list(),
    "byIndex()": () => informer.byIndex("namespace", "a"),
    "indexKeys()": () => informer.indexKeys("namespace", "a"),
    "indexValues()": () => informer.indexValues("namespace"),
    "byIndex() of the resource": () => resource.byIndex("namespace", "a"),
    "indexValues() of the resource": () => resource.indexValues("namespace"),
  };
  const { items } = await resource.list();
  arrays["items of a list"] = () => items;
  const changes = {
    reverse: (array) => array.reverse(),
    sort: (array) => array.sort(() => -1),
    push: (array) => array.push(array[0]),
    "length = 0": (array) => (array.length = 0),
    "[0] =": (array) => (array[0] = array[1]),
    delete: (array) => delete array[0],
    defineProperty: (array) => Object.defineProperty(array, 0, { value: array[1] }),
    "defineProperty, a getter": (array) => Object.defineProperty(array, 0, { get: () => array[1] }),
  };
  for (const [what, array] of Object.entries(arrays)) {
    const before = [...array()];
    assert.ok(before.length >= 2, what);
    for (const [how, change] of Object.entries(changes)) assert.throws(() => change(array()), TypeError, `${how} of ${what}`);
    assert.deepEqual([...array()], before, what);
    // State libraries freeze what they are given.
    assert.ok(Object.isFrozen(Object.freeze(array())), what);
    assert.deepEqual([...array()], before, what);
  }
});

test("r02_what_a_render_may_read_is_the_same_array_while_it_holds_the_same", async () => {
  const upstream = memorySource({ objects: [pod("a/x"), pod("b/z")] });
  const { resource } = open(upstream);
  const informer = resource.informer();
  const readers = {
    list: () => informer.list(),
    byIndex: () => informer.byIndex("namespace", "a"),
    indexKeys: () => informer.indexKeys("namespace", "a"),
    indexValues: () => informer.indexValues("namespace"),
    "byIndex of the resource": () => resource.byIndex("namespace", "a"),
    "indexValues of the resource": () => resource.indexValues("namespace"),
  };
  const steady = (when) => {
    for (const [what, read] of Object.entries(readers)) assert.equal(read(), read(), `${what} ${when}`);
  };
  steady("before there is anything");
  await informer.synced;
  await until(() => resource.status.phase === "live");
  steady("at rest");
  const before = Object.values(readers).map((read) => read());
  upstream.put(pod("b/other"));
  await until(() => informer.list().length === 3);
  const kept = Object.values(readers).map((read, i) => read() === before[i]);
  assert.deepEqual(kept, [false, true, true, true, true, true], "only the list has changed");
  upstream.put(pod("a/y"));
  upstream.put(pod("c/y"));
  await until(() => informer.list().length === 5);
  for (const [i, read] of Object.values(readers).entries()) assert.notEqual(read(), before[i]);
  steady("afterwards");
});
