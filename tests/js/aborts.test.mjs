// What a call throws whose signal is aborted: the reason itself where that is one, and else an AbortError with it as its cause.
import assert from "node:assert/strict";
import { test } from "node:test";

import { waitForSync } from "watchcache";
import { memorySource } from "watchcache/memory";

import { open } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

/** An upstream that never answers. */
const silent = () => memorySource({ delay: Infinity });

/** Everything that takes a signal. */
const calls = {
  synced: (resource, signal) => resource.synced({ signal }),
  list: (resource, signal) => resource.list({ signal }),
  get: (resource, signal) => resource.get("ns/a", { signal }),
  create: (resource, signal) => resource.create(pod("ns/a"), { signal }),
  update: (resource, signal) => resource.update("ns/a", (object) => object, { signal }),
  delete: (resource, signal) => resource.delete("ns/a", { signal }),
  waitForSync: (resource, signal) => waitForSync({ informer: resource.informer() }, { signal }),
};

for (const [name, call] of Object.entries(calls)) {
  test(`${name}: the TimeoutError of AbortSignal.timeout comes through as itself`, async () => {
    const { resource } = open(silent());
    const signal = AbortSignal.timeout(5);
    const thrown = await call(resource, signal).catch((error) => error);
    assert.equal(thrown.name, "TimeoutError");
    assert.equal(thrown, signal.reason);
    assert.equal(await call(resource, signal).catch((error) => error), signal.reason, "also when it was aborted before");
  });

  test(`${name}: an AbortError comes through as itself, and any other reason is the cause of one`, async () => {
    const { resource } = open(silent());
    const other = new DOMException("no clone", "DataCloneError");
    for (const reason of [undefined, new DOMException("left", "AbortError"), other, new RangeError("left"), "left", null]) {
      const controller = new AbortController();
      const calling = call(resource, controller.signal).catch((error) => error);
      controller.abort(reason);
      const thrown = await calling;
      assert.deepEqual([thrown instanceof DOMException, thrown.name], [true, "AbortError"]);
      if (reason === undefined || reason?.name === "AbortError") assert.equal(thrown, controller.signal.reason);
      else assert.equal(thrown.cause, reason);
    }
  });
}
