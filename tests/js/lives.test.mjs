// What a page leaves behind: a session of a thousand mounts, filters and routes over the real core, under a clock that the test turns. After
// `linger` no stream, view, watcher or listener of it is left; five minutes later no object, array or timer either.
import assert from "node:assert/strict";
import { test } from "node:test";
import v8 from "node:v8";

import * as delivery from "../../dist/delivery.js";
import * as informer from "../../dist/informer.js";
import * as objects from "../../dist/objects.js";
import * as registration from "../../dist/registration.js";
import * as resource from "../../dist/resource.js";
import * as shared from "../../dist/shared-view.js";
import * as view from "../../dist/view.js";
import * as watcher from "../../dist/watcher.js";
import { openSession, turns } from "./lib/session.mjs";

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
  await session.mounts(1_000);
  assert.ok(open()[0].views > 0, "they are still there for a moment");

  await session.linger();
  for (const resource of open()) assert.deepEqual(resource, { views: 0, watchers: 0, informers: 0, handlers: 0 });
  assert.equal(upstream.open, 0, "no stream is open");
  const soon = await held();
  for (const kind of ["views", "shared", "watchers"]) assert.equal(soon[kind], 0, kind);
  assert.ok(soon.resources <= 101, `resources that were only named are gone: ${soon.resources}`);

  await session.fiveMinutes();
  assert.deepEqual(cache.stats().resources, []);
  assert.deepEqual(await held(), Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0])));
  assert.equal(armed.size, 0, "no timer is armed");

  // And all of it can be used again.
  await session.sync();
  assert.equal(session.pods().size, 50);
  await cache.close();
});
