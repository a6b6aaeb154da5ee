// How views end. Every later reader hears why, and what the core throws meanwhile reaches no reader.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WatchCacheError } from "watchcache";

import { pod, rawError } from "./lib/model.mjs";
import { openModel, settle } from "./lib/open.mjs";

const pods = (count) => Array.from({ length: count }, (_, i) => pod(`a/p0${i}`, i + 1));
const names = (view) => view.getSnapshot().rows.map(({ metadata }) => metadata.name);

/** Each way for a resource to end for good, and the code that tells of it. */
const ENDINGS = {
  "its WebAssembly cannot be loaded": {
    code: "decode",
    options: { ready: false },
    end: ({ runtime }) => runtime.fail(new WatchCacheError("decode", "no WebAssembly")),
  },
  "an option turns out to be wrong": {
    code: "invalid",
    options: { ready: false },
    end({ module, runtime }) {
      module.openSource = () => {
        throw rawError("invalid", "trigger: unexpected");
      };
      runtime.arrive();
    },
  },
  "the server refuses": {
    code: "forbidden",
    end: ({ model }) => model.refuse(rawError("forbidden", "no")),
  },
  "its instance is lost": { code: "internal", end: ({ module }) => module.panic("boom") },
  "it is closed": { code: "closed", end: ({ resource }) => resource.close() },
  "its cache is closed": { code: "closed", end: ({ cache }) => cache.close() },
};

for (const [what, { code, options, end }] of Object.entries(ENDINGS)) {
  test(`a reader that comes after the end hears why: ${what}`, async (t) => {
    // No server, so that reads open.
    globalThis.WorkerGlobalScope = class {};
    t.after(() => delete globalThis.WorkerGlobalScope);
    const opened = await openModel({ objects: pods(2), ...options });
    const { resource } = opened;
    // Made before, and read after.
    const [heard, read, asked, again] = Array.from({ length: 4 }, (_, i) => resource.view({ labelSelector: `a=${i}` }));
    const first = resource.view();
    first.subscribe(() => {});
    again.subscribe(() => {})();
    again.close();
    await settle();
    await end(opened);
    await settle();
    assert.equal(first.getSnapshot().error?.code, code);
    let calls = 0;
    heard.subscribe(() => calls++);
    again.subscribe(() => calls++);
    assert.equal(heard.getSnapshot().error?.code, code, "its first snapshot tells it");
    assert.equal(again.getSnapshot().error?.code, code);
    assert.equal(read.getSnapshot().error?.code, code);
    await assert.rejects(asked.keys(), { name: "WatchCacheError", code });
    if (code !== "closed") {
      const made = resource.view({ labelSelector: "made=after" });
      made.subscribe(() => calls++);
      assert.equal(made.getSnapshot().error?.code, code);
    }
    await settle();
    assert.equal(calls, 0, "what it has read is no news");
    if (code === "forbidden") return; // Of the core, which tries again.
    await assert.rejects(resource.list(), { code });
    await assert.rejects(resource.synced(), { code });
    await assert.rejects(resource.watch().next(), { code });
  });
}

test("r10_keys_settle_however_the_view_ends", async () => {
  const waiting = async (options) => {
    const opened = await openModel({ ready: true });
    const resource = opened.cache.resource({ source: opened.source, id: "not-listed" });
    const view = resource.view(options);
    const keys = view.keys();
    keys.catch(() => {});
    await settle();
    return { ...opened, resource, view, keys, model: opened.module.resources.at(-1) };
  };
  const ends = {
    closed: [({ view }) => view.close(), ({ resource }) => resource.close(), ({ cache }) => cache.close()],
    unavailable: [({ resource }) => resource.pause()],
    forbidden: [({ model }) => model.refuse(rawError("forbidden", "no"))],
    internal: [({ module }) => module.panic("boom")],
    "out-of-memory": [
      ({ model }) => model.refuse(rawError("out-of-memory", "too much")),
      ({ model }) => {
        // Only the view ends, as when the core needs its memory.
        model.viewSync = () => true;
        model.viewError = () => rawError("out-of-memory", "too much");
        model.put(pod("a/x", 11));
      },
    ],
  };
  for (const [code, all] of Object.entries(ends)) {
    for (const end of all) {
      const opened = await waiting();
      await end(opened);
      await settle();
      await assert.rejects(opened.keys, { name: "WatchCacheError", code }, String(end));
    }
  }
  const { view, keys, model } = await waiting();
  model.viewKeys = () => {
    throw rawError("internal", "no keys");
  };
  model.sync(pods(1), "10");
  await assert.rejects(keys, { name: "WatchCacheError", code: "internal" });
  delete model.viewKeys;
  view.close();

  const { resource, keys: held, model: listed } = await waiting({ where: () => true });
  listed.sync(pods(2), "10");
  resource.pause();
  assert.deepEqual(await held, ["a/p00", "a/p01"], "what is held is told while it is paused");
});

test("what the core throws while it is lost reaches no reader", async () => {
  const { resource, model, module } = await openModel({ objects: pods(3) });
  const view = resource.view({ window: { offset: 0, limit: 2 } });
  view.subscribe(() => {});
  const { rows } = view.getSnapshot();
  const unread = resource.view({ groupBy: "status.phase" });
  for (const name of ["viewIndexOf", "viewMove", "viewRows", "viewTotal", "viewSync"]) {
    model[name] = () => {
      throw rawError("internal", "boom");
    };
  }
  assert.equal(view.indexOf("a/p01"), 1, "as far as it is shown");
  assert.doesNotThrow(() => view.setWindow({ offset: 1, limit: 2 }));
  unread.subscribe(() => {});
  assert.equal(unread.getSnapshot().error.code, "internal");
  assert.equal(unread.getSnapshot().error.name, "WatchCacheError");
  module.panic("boom");
  await settle();
  assert.equal(view.getSnapshot().rows, rows);
  assert.equal(view.getSnapshot().error.code, "internal");
});

test("rows that could not be read are read again, and others are not taken for them", async () => {
  const { resource, model } = await openModel({ objects: pods(2) });
  const view = resource.view();
  view.subscribe(() => {});
  assert.deepEqual(names(view), ["p00", "p01"]);
  const { keysOf } = model;
  model.keysOf = () => {
    throw rawError("internal", "once");
  };
  model.put(pod("a/a", 11));
  await settle();
  assert.equal(view.getSnapshot().error.code, "internal");
  assert.deepEqual(names(view), ["p00", "p01"]);
  model.keysOf = keysOf;
  model.put(pod("a/b", 12));
  await settle();
  assert.equal(view.getSnapshot().error, undefined);
  assert.deepEqual(names(view), ["a", "b", "p00", "p01"]);
  assert.deepEqual(view.getSnapshot().keys, ["a/a", "a/b", "a/p00", "a/p01"]);
});

test("r10_keys_that_wait_while_a_callback_closes_their_view_end_once", async () => {
  const { resource, runtime, module, reported } = await openModel({ ready: false });
  const view = resource.view();
  let closes = false;
  view.subscribe(() => closes && view.close());
  const keys = view.keys();
  runtime.arrive();
  await settle();
  closes = true;
  module.resources.at(-1).sync([pod("a/p", 1)], "10");
  await assert.rejects(keys, { code: "closed" });
  await settle();
  assert.deepEqual(reported, []);
});
