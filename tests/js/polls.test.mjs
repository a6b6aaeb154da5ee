// Sources that are listed and not watched, through the package: those of a service that knows no versions, such as metrics.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createWatchCache } from "watchcache";

/** Usage of pods, as metrics.k8s.io gives it: neither the list nor its objects have a version. */
function metrics() {
  const usage = new Map([["a", 1]]);
  const source = {
    lists: 0,
    refusal: undefined,
    async list() {
      source.lists++;
      if (source.refusal) throw source.refusal;
      const items = [...usage].map(([name, cpu]) => ({ metadata: { namespace: "web", name }, usage: { cpu: `${cpu}m` } }));
      return { body: JSON.stringify({ kind: "PodMetricsList", apiVersion: "metrics.k8s.io/v1beta1", metadata: {}, items }) };
    },
  };
  return { usage, source };
}

/** @param {(it: any) => Promise<void>} body */
async function withMetrics(everyMs, body) {
  const { usage, source } = metrics();
  const cache = createWatchCache({ flush: "microtask", linger: 60_000, retry: { initialMs: 10, capMs: 20 } });
  const pods = cache.resource({ source, id: "pod metrics", poll: { everyMs } });
  try {
    await pods.synced();
    await body({ usage, source, pods, cache });
  } finally {
    await cache.close();
  }
}

const until = async (condition, what) => {
  for (const deadline = Date.now() + 10_000; !condition(); await sleep(5)) assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
};

test("what differs between two lists is told as events, at versions that grow", () =>
  withMetrics(20, async ({ usage, pods }) => {
    const view = pods.view({ orderBy: [{ path: "metadata.name" }] });
    const told = [];
    const watch = pods.watch({ resourceVersion: pods.resourceVersion });
    const listening = watch.forEach(({ type, object }) => {
      told.push([type, object.metadata.name, object.usage.cpu, Number(object.metadata.resourceVersion)]);
    });
    usage.set("a", 2).set("b", 1);
    await until(() => told.length === 2, "two events");
    usage.delete("a");
    await until(() => told.length === 3, "three events");
    const versions = told.map((event) => event.pop());
    assert.deepEqual(told, [
      ["MODIFIED", "a", "2m"],
      ["ADDED", "b", "1m"],
      ["DELETED", "a", "2m"],
    ]);
    assert.ok(versions.every((version, i) => i === 0 || version > versions[i - 1]) && versions[0] > Date.now() - 60_000, String(versions));
    assert.deepEqual(
      view.rows.map(({ metadata }) => metadata.name),
      ["b"],
    );
    watch.stop();
    await listening;
  }));

test("what does not differ keeps its identity, and nobody is told", () =>
  withMetrics(10, async ({ source, pods }) => {
    const view = pods.view();
    let changes = 0;
    view.subscribe(() => changes++);
    const [object, { rows }, { lists }] = [pods.peek("web/a"), view, source];
    changes = 0;
    await until(() => source.lists > lists + 3, "more lists");
    assert.deepEqual([pods.peek("web/a") === object, view.rows === rows], [true, true]);
    assert.ok(pods.status.stale && pods.status.staleSince > 0);
  }));

test("a list without a version is as new as the source, and one at an old version is none any more", () =>
  withMetrics(600_000, async ({ usage, source, pods }) => {
    usage.set("b", 1);
    assert.equal(pods.size, 1);
    assert.equal((await pods.list()).items.length, 2);
    assert.equal(pods.size, 2, "whoever looks sees it as well");
    const { lists } = source;
    assert.equal((await pods.list({ resourceVersion: "0" })).items.length, 2);
    assert.equal(source.lists, lists, "what is held answers it");
    await assert.rejects(pods.list({ resourceVersion: "1", resourceVersionMatch: "Exact" }), { code: "expired" });
  }));

test("a refusal while it is polled is told, with its code, and rows stay", () =>
  withMetrics(20, async ({ source, pods }) => {
    await sleep(1_100);
    source.refusal = { code: 403, reason: "Forbidden", message: "no more" };
    await until(() => pods.status.phase === "failed", "failed");
    assert.deepEqual([pods.status.error.code, pods.size], ["forbidden", 1]);
    source.refusal = undefined;
    pods.resume();
    await until(() => pods.status.phase === "live", "live");
  }));

test("nobody who looks, no list", () =>
  withMetrics(5, async ({ source, pods, cache }) => {
    pods.pause();
    await sleep(30);
    const { lists } = source;
    await sleep(60);
    assert.equal(source.lists, lists);
    pods.resume();
    await until(() => source.lists > lists, "a list");
    await cache.close();
    const closed = source.lists;
    await sleep(60);
    assert.ok(source.lists <= closed + 1);
  }));
