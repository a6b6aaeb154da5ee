// What a page leaves behind: a session of a thousand mounts, filters and routes over the real core, under a clock that the test turns. After
// `linger` no stream, view, watcher or listener of it is left; five minutes later no object, array or timer either.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import v8 from "node:v8";

import { createWatchCache, init } from "watchcache";

import * as delivery from "../../dist/delivery.js";
import * as informer from "../../dist/informer.js";
import * as objects from "../../dist/objects.js";
import * as registration from "../../dist/registration.js";
import * as resource from "../../dist/resource.js";
import * as shared from "../../dist/shared-view.js";
import * as view from "../../dist/view.js";
import * as watcher from "../../dist/watcher.js";
import { pod, Upstream } from "./lib/upstream.mjs";

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

const real = { setTimeout };
/** Lets the host have its turns: finalizers run in tasks of their own. */
const turns = async (count = 10) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => real.setTimeout.call(globalThis, resolve, 1));
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

/** Timers that are armed now, as the clock of the test has them. */
function timers() {
  const armed = new Set();
  const { setTimeout: set, clearTimeout: clear, setInterval: setEvery, clearInterval: clearEvery } = globalThis;
  globalThis.setTimeout = (call, ...rest) => {
    const id = set(
      () => {
        armed.delete(id);
        call();
      },
      ...rest,
    );
    armed.add(id);
    return id;
  };
  globalThis.clearTimeout = (id) => {
    armed.delete(id);
    clear(id);
  };
  globalThis.setInterval = (...given) => {
    const id = setEvery(...given);
    armed.add(id);
    return id;
  };
  globalThis.clearInterval = (id) => {
    armed.delete(id);
    clearEvery(id);
  };
  return armed;
}

/** Moves the clock in small steps, with the host's turns between. */
async function pass(ms, step = 500) {
  for (let passed = 0; passed < ms; passed += step) {
    mock.timers.tick(Math.min(step, ms - passed));
    await turns(1);
  }
}

const PHASES = ["Running", "Pending", "Failed"];
const LINGER = 1_000;

/** What one user does: everything that a dashboard does with a handle, and nothing is closed that a component would not close. */
async function mount(cache, source, i) {
  const pods = cache.resource({ source, id: "pods" });
  // Filters typed letter by letter, each a new view.
  const text = `app=web${i}x`;
  for (let letters = 5; letters <= text.length; letters++) pods.view({ labelSelector: text.slice(0, letters) }).getSnapshot();
  // A component: StrictMode subscribes twice.
  const view = pods.view({
    fieldSelector: `status.phase=${PHASES[i % 3]}`,
    window: { offset: i % 5, limit: 3 },
    orderBy: [{ path: "metadata.name" }],
  });
  view.subscribe(() => {})();
  const controller = new AbortController();
  const off = view.subscribe(() => void view.rows.length, { signal: controller.signal });
  view.setWindow({ offset: 0, limit: 1 + (i % 4) });
  const watch = pods.watch({ labelSelector: text });
  void watch.next();
  const handled = pods.informer();
  handled.addEventHandler({ onAdd() {} }, { labelSelector: text });
  // A filter box over an informer, reads by index, an informer that is made and never started, a resource that is only named.
  handled.list(text);
  handled.byIndex("namespace", `ns-${i}`);
  pods.byIndex("namespace", `ns-${i}`);
  pods.peek(`ns-${i % 7}/p-${i % 7}`);
  pods.informer({ start: false });
  cache.resource({ source, id: `route-${i}` });
  if (i % 10 === 0) cache.resource({ source: new Upstream([pod("a/x")]), id: `other-${i}` }).resume();
  await turns(1);
  // The route changes.
  off();
  controller.abort();
  watch.stop();
  handled.stop();
}

test("r10_nothing_is_left_of_a_thousand_mounts_filters_and_routes", { timeout: 240_000 }, async (t) => {
  await init();
  mock.timers.enable({ apis: ["setTimeout", "setInterval", "Date"], now: 1_000_000 });
  const [set, clear, every, clearEvery] = [setTimeout, clearTimeout, setInterval, clearInterval];
  t.after(() => {
    Object.assign(globalThis, { setTimeout: set, clearTimeout: clear, setInterval: every, clearInterval: clearEvery });
    mock.timers.reset();
  });
  const armed = timers();
  const upstream = new Upstream(Array.from({ length: 50 }, (_, i) => pod(`ns-${i % 7}/p-${i}`, { phase: PHASES[i % 3] })));
  const cache = createWatchCache({ flush: "microtask", linger: LINGER, logger: { debug() {}, info() {}, warn() {}, error() {} } });
  const open = () => cache.stats().resources.map(({ views, watchers, informers, handlers }) => ({ views, watchers, informers, handlers }));

  const synced = cache.resource({ source: upstream, id: "pods" }).synced();
  await pass(2_000);
  await synced;
  for (let i = 0; i < 1_000; i++) await mount(cache, upstream, i);
  assert.ok(open()[0].views > 0, "they are still there for a moment");

  await pass(3 * LINGER);
  for (const resource of open()) assert.deepEqual(resource, { views: 0, watchers: 0, informers: 0, handlers: 0 });
  assert.equal(upstream.open, 0, "no stream is open");
  const soon = await held();
  for (const kind of ["views", "shared", "watchers"]) assert.equal(soon[kind], 0, kind);
  assert.ok(soon.resources <= 101, `resources that were only named are gone: ${soon.resources}`);

  await pass(400_000, 10_000);
  await pass(3 * LINGER);
  assert.deepEqual(cache.stats().resources, []);
  assert.deepEqual(await held(), Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0])));
  assert.equal(armed.size, 0, "no timer is armed");

  // And all of it can be used again.
  const again = cache.resource({ source: upstream, id: "pods" });
  const back = again.synced();
  await pass(2_000);
  await back;
  assert.equal(again.size, 50);
  await cache.close();
});
