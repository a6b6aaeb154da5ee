// What a page leaves behind: a session of a thousand mounts, filters and routes over the real core, under a clock that the test turns. After
// `linger` no stream, view, watcher or listener of it is left; five minutes later no object, array or timer either.
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import v8 from "node:v8";

import { WatchCacheError } from "watchcache";
import { memorySource } from "watchcache/memory";

import { openCache } from "../../dist/cache/cache.js";

import * as delivery from "../../dist/resource/delivery.js";
import * as informer from "../../dist/informer/informer.js";
import * as objects from "../../dist/wire/objects.js";
import * as registration from "../../dist/informer/registration.js";
import * as resource from "../../dist/resource/resource.js";
import * as shared from "../../dist/view/shared-view.js";
import * as view from "../../dist/view/view.js";
import * as watcher from "../../dist/watch/watcher.js";
import { ModelModule } from "./lib/model.mjs";
import { LINGER, openSession, pass, turns } from "./lib/session.mjs";
import { pod } from "./lib/pod.mjs";

const KINDS = {
  resources: resource.ResourceImpl,
  views: view.ViewImpl,
  shared: shared.SharedView,
  watchers: watcher.WatcherImpl,
  informers: informer.InformerImpl,
  registrations: registration.RegistrationImpl,
  tables: objects.ObjectTable,
  deliveries: delivery.Delivery,
};

/** How many of each kind are still held by anybody. `queryObjects` collects first. */
async function held() {
  let counts;
  for (let i = 0; i < 3; i++) {
    await turns();
    counts = Object.fromEntries(Object.entries(KINDS).map(([kind, { prototype }]) => [kind, countOf(prototype.constructor)]));
  }
  return counts;
}

/** Without what the prototype itself is. */
const countOf = (constructor) => v8.queryObjects(constructor, { format: "count" });

test("r10_nothing_is_left_of_a_thousand_mounts_filters_and_routes", { timeout: 240_000 }, async (t) => {
  const session = await openSession();
  t.after(() => session.close());
  const { cache, upstream, armed } = session;
  const open = () => cache.stats().resources.map(({ views, watchers, informers, handlers }) => ({ views, watchers, informers, handlers }));

  await session.sync();
  // A cache whose WebAssembly cannot be loaded is never used. One of its resources is held all the time.
  const runtime = new ModelModule().runtime({ ready: false });
  const broken = openCache({ flush: "microtask", linger: LINGER, logger: { debug() {}, info() {}, warn() {}, error() {} } }, runtime);
  const lost = broken.resource({ source: upstream, id: "lost" });
  const pods = session.pods();
  const lasting = new AbortController().signal;
  const arrays = [];
  await session.mounts(1_000, 0, (i, pods, informer) => {
    const namespace = `ns-${i % 7}`;
    const shown = [pods.byIndex("namespace", namespace), pods.indexValues("namespace"), informer.byIndex("namespace", namespace)];
    shown.push(informer.list(), informer.indexKeys("namespace", namespace), informer.indexValues("namespace"));
    for (const array of shown) arrays.push(new WeakRef(array));
    const listener = () => {};
    // Listeners, in each way in which listening ends.
    const listened = cache.resource({ source: upstream, id: `listened-${i}` });
    listened.addEventListener("status", listener, { signal: lasting });
    listened.addEventListener("status", listener);
    listened.addEventListener("status", listener, { capture: true, once: true });
    const controller = new AbortController();
    listened.addEventListener("relist", listener, { signal: controller.signal });
    if (i % 20 === 1) {
      const once = cache.resource({ source: memorySource({ objects: [pod("a/x")] }), id: `once-${i}` });
      once.addEventListener("status", listener, { once: true });
      void once.size;
    }
    if (i % 20 === 2) {
      const paused = cache.resource({ source: memorySource({ objects: [pod("a/x")] }), id: `paused-${i}` });
      paused.pause();
      paused.resume();
    }
    lost.informer({ start: false });
    if (i % 20 === 3) {
      const other = broken.resource({ source: upstream, id: `lost-${i}` });
      other.view().subscribe(listener, { signal: lasting })();
      other.list({ signal: lasting }).catch(() => {});
      other.informer({ start: false });
      other
        .watch({ signal: lasting })
        .next()
        .catch(() => {});
    }
    pods.list({ signal: lasting }).catch(() => {});
    pods.watch({ signal: lasting }).stop();
    return () => {
      listened.removeEventListener("status", listener);
      listened.removeEventListener("status", listener, true);
      controller.abort();
    };
  });
  runtime.fail(new WatchCacheError("decode", "the WebAssembly cannot be used"));
  assert.ok(open()[0].views > 0, "they are still there for a moment");

  await session.linger();
  for (const resource of open()) assert.deepEqual(resource, { views: 0, watchers: 0, informers: 0, handlers: 0 });
  assert.equal(upstream.streams, 0, "no stream is open");
  const soon = await held();
  for (const kind of ["views", "shared", "watchers"]) assert.equal(soon[kind], 0, kind);
  // One of ten and three of twenty were used, and go later; two are held.
  assert.ok(soon.resources <= 252, `resources that were only named, or listened to, are gone: ${soon.resources}`);
  assert.equal(runtime.wanted(), 0, "nobody waits for the WebAssembly");
  assert.deepEqual(getEventListeners(lasting, "abort"), [], "a signal that lasts holds nothing");

  await session.fiveMinutes();
  assert.deepEqual(cache.stats().resources, []);
  assert.deepEqual(await held(), { ...Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0])), resources: 2 });
  assert.equal(arrays.filter((array) => array.deref() !== undefined).length, 0, "no array is left");
  assert.equal(pods.hasSynced, false);
  assert.equal(armed.size, 0, "no timer is armed");

  // And all of it can be used again.
  await session.sync();
  assert.equal(session.pods().size, 50);
  assert.equal(lost.hasSynced, false);
  await Promise.all([cache.close(), broken.close()]);
});

test("r10_what_nobody_uses_is_gone_before_its_time_when_memory_is_short", { timeout: 120_000 }, async (t) => {
  const first = await openSession();
  const use = async (cache, id, count) => {
    const source = memorySource({ objects: Array.from({ length: count }, (_, i) => pod(`a/p-${i}`)) });
    const resource = cache.resource({ source, id });
    const synced = resource.synced();
    await pass(2_000);
    await synced;
    resource.view({ orderBy: [{ path: "metadata.name" }] }).rows.at(0);
    resource.byIndex("namespace", "a").at(0);
    resource.informer({ start: false }).list();
  };
  await use(first.cache, "measured", 200);
  const { bytes } = first.cache.stats().resources[0];
  await first.cache.close();
  await pass(3 * LINGER);
  first.close();
  const before = await held();

  const session = await openSession({ memory: { maxBytes: 2.2 * bytes } });
  t.after(() => session.close());
  const { cache, armed } = session;
  const states = () => cache.stats().resources.map(({ phase, objects }) => `${phase} ${objects}`);
  await use(cache, "one", 200);
  await use(cache, "other", 200);
  await pass(3 * LINGER);
  assert.deepEqual(states(), ["idle 200", "idle 200"], "both are held, for whoever comes back");
  // Long before the five minutes are over the room is needed.
  await use(cache, "more", 600);
  await pass(3 * LINGER);
  assert.deepEqual(states(), ["idle 600"]);
  const left = await held();
  for (const kind of ["views", "shared", "tables", "deliveries"]) {
    assert.ok(left[kind] - before[kind] <= 1, `${kind}: ${left[kind]} of one resource`);
  }
  await cache.close();
  await pass(3 * LINGER);
  assert.equal(armed.size, 0, "no timer is armed");
});
