// Random sessions of everything that may be done with views, also inside callbacks, through proxies and by methods that were taken off.
// Each step is held to laws R10 and R11. A snapshot changes if and only if its subscribers are told, once in a flush and all of one state.
// Every request is answered, however it ends, and nothing is left. SESSIONS sets their number, SEED the seed of the first.
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { WatchCacheError } from "watchcache";

import { turned } from "./lib/clock.mjs";
import { compare } from "./lib/model-views.mjs";
import { pod, rawError } from "./lib/model.mjs";
import { openModel, settle } from "./lib/open.mjs";

const SESSIONS = Number(process.env.SESSIONS ?? 100);
const SEED = Number(process.env.SEED ?? 1);
const STEPS = 120;
const LINGER = 1_000;

/** Numbers below a bound, the same for the same seed. */
function drawing(seed) {
  let state = seed * 2_654_435_761;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

const isRunning = ({ status }) => status.phase === "Running";

/** Specs of views, each with what its rows are to be. */
const SPECS = [
  { spec: {}, has: () => true },
  { spec: { namespaces: ["a"], groupBy: "status.phase" }, has: ({ metadata }) => metadata.namespace === "a" },
  { spec: { orderBy: [{ path: "metadata.name", descending: true }] }, has: () => true, descending: true },
  { spec: { where: isRunning }, has: isRunning },
];

const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

class Session {
  /** What is held upstream, by key. */
  store = new Map();
  version = 100;
  handles = [];
  subscriptions = [];
  asked = [];
  /** Who keeps rows of their own by `changes`. */
  keepers = [];
  log = [];
  /** The flush that is telling; a new object for each. */
  flush;
  depth = 0;
  due = 0;

  constructor(seed) {
    this.seed = seed;
    this.draw = drawing(seed);
  }

  pick(list) {
    return list[this.draw(list.length)];
  }

  async run() {
    const mode = this.pick(["microtask", "frame"]);
    this.opened = await openModel({ options: { flush: mode, linger: LINGER }, ready: false });
    this.cache = this.opened.cache;
    this.resource = this.opened.resource;
    this.opened.runtime.arrive();
    for (let i = 0; i < 5; i++) this.put(`a/p${i}`);
    for (let step = 0; step < STEPS; step++) {
      this.step();
      this.unchanged();
      if (this.due > 0) {
        // Timers fire in turns of their own, when all that is due in microtasks has happened.
        await settle();
        mock.timers.tick(this.due);
        this.due = 0;
      }
      if (this.draw(3) === 0) await this.quiet();
    }
    await this.end();
  }

  // ------------------------------------------------------------------------------------- what is done

  step(inside = false) {
    const names = Object.keys(STEPS_BY_WEIGHT).flatMap((name) => Array.from({ length: STEPS_BY_WEIGHT[name] }, () => name));
    const name = this.pick(names);
    this.log.push(`${inside ? "  in a callback: " : ""}${name}`);
    this.depth++;
    try {
      this[name]();
    } finally {
      this.depth--;
    }
  }

  /** One of the handles, as somebody may hold it. */
  handle() {
    if (this.handles.length === 0) this.make();
    return this.pick(this.handles);
  }

  held(handle) {
    return this.pick([handle.view, new Proxy(handle.view, {}), Object.create(handle.view)]);
  }

  make() {
    if (this.cacheClosed) return this.handles[0] ?? assert.fail("no handle");
    const { spec, ...rest } = this.pick(SPECS);
    const window = this.draw(3) === 0 ? undefined : { offset: this.draw(4), limit: 1 + this.draw(4) };
    const view = this.resource.view({ ...spec, ...(window && { window }) });
    this.handles.push({ view, ...rest, spec, window: window ?? { offset: 0, limit: 0xffff_ffff }, resource: this.resource });
  }

  subscribe() {
    const handle = this.handle();
    const controller = this.draw(3) === 0 ? new AbortController() : undefined;
    const subscription = { handle, ended: false, controller, born: this.flush ?? {} };
    const { subscribe } = this.held(handle);
    subscription.off = subscribe(() => this.told(subscription), controller && { signal: controller.signal });
    Object.assign(subscription, { last: handle.view.getSnapshot(), opens: this.opens });
    this.subscriptions.push(subscription);
  }

  unsubscribe() {
    const subscription = this.pick(this.subscriptions);
    if (subscription === undefined) return;
    subscription.ended = true;
    this.subscriptions = this.subscriptions.filter((other) => other !== subscription);
    this.flush?.snapshots.delete(subscription.handle);
    if (subscription.controller === undefined) subscription.off();
    else subscription.controller.abort();
  }

  setWindow() {
    const handle = this.handle();
    const { setWindow } = this.held(handle);
    for (let moves = 1 + this.draw(2); moves > 0; moves--) {
      handle.window = { offset: this.draw(6), limit: handle.window.limit };
      setWindow(handle.window);
    }
  }

  setSearch() {
    const handle = this.handle();
    const { setSearch } = this.held(handle);
    for (let words = 1 + this.draw(2); words > 0; words--) {
      handle.search = this.pick(["", "A", "p1", "a/p", "/P B"]);
      setSearch(handle.search || this.pick(["", " ", null, undefined]));
    }
    handle.searchedIn = this.flush;
  }

  /** Somebody keeps rows by the changes alone, and is quick or slow. */
  changes() {
    const handle = this.handle();
    const controller = this.draw(2) === 0 ? new AbortController() : undefined;
    const iterator = this.held(handle).changes(controller && { signal: controller.signal });
    const keeper = { handle, iterator, controller, rows: [], keys: [], waits: false, over: false };
    this.keepers.push(keeper);
    this.take(keeper);
  }

  take(keeper = this.pick(this.keepers)) {
    if (keeper === undefined || keeper.waits) return;
    keeper.waits = true;
    void keeper.iterator.next().then(({ value: change, done }) => {
      keeper.waits = false;
      keeper.over ||= done;
      if (!done) this.guarded(() => this.keep(keeper, change));
    });
  }

  keep(keeper, { snapshot, added, updated, moved, removed }) {
    const { rows, keys } = keeper;
    for (const { key, row, index } of removed) assert.deepEqual([keys[index], rows[index]], [key, row], "gone as it was told");
    for (const { key, row } of updated) assert.notEqual(rows[keys.indexOf(key)], row, "no update");
    const byKey = new Map(updated.map(({ key, row }) => [key, row]));
    const out = new Set([...removed, ...moved].map(({ key }) => key));
    const stayed = keys.map((key, i) => [key, byKey.get(key) ?? rows[i]]).filter(([key]) => !out.has(key));
    for (const { key, row, index } of [...added, ...moved].sort((a, b) => a.index - b.index)) stayed.splice(index, 0, [key, row]);
    keeper.keys = stayed.map(([key]) => key);
    keeper.rows = stayed.map(([, row]) => row);
    assert.deepEqual(keeper.keys, snapshot.keys);
    assert.ok(keeper.rows.every((row, i) => row === snapshot.rows[i]));
    assert.notEqual(keeper.snapshot, snapshot, "nothing is new");
    keeper.snapshot = snapshot;
  }

  leave() {
    const keeper = this.pick(this.keepers);
    if (keeper === undefined) return;
    this.keepers = this.keepers.filter((other) => other !== keeper);
    if (keeper.controller === undefined) void keeper.iterator.return();
    else keeper.controller.abort();
    void keeper.iterator.next().then(({ done }) => this.guarded(() => assert.ok(done, "it goes on behind its end")));
  }

  close() {
    const handle = this.handle();
    for (const subscription of this.subscriptions) subscription.ended ||= subscription.handle === handle;
    this.subscriptions = this.subscriptions.filter(({ ended }) => !ended);
    this.flush?.snapshots.delete(handle);
    for (const asked of this.asked) asked.closed ||= asked.handle === handle;
    this.held(handle).close();
  }

  read() {
    const handle = this.handle();
    const snapshot = this.held(handle).getSnapshot();
    this.valid(handle, snapshot);
    assert.equal(handle.view.getSnapshot(), snapshot, "twice the same");
    assert.equal(this.held(handle).rows, snapshot.rows);
  }

  keys() {
    const handle = this.handle();
    const asked = { handle, settled: false, closed: false };
    this.asked.push(asked);
    const settled = (check) => (value) => {
      asked.settled = true;
      this.guarded(() => check(value));
    };
    this.held(handle)
      .keys()
      .then(
        settled((keys) => assert.ok(Object.isFrozen(keys) && keys.every((key) => typeof key === "string"))),
        settled((error) => assert.ok(error instanceof WatchCacheError, String(error))),
      );
  }

  put(key = `${this.pick(["a", "b"])}/p${this.draw(8)}`) {
    const object = pod(key, ++this.version, { phase: this.pick(["Running", "Pending"]) });
    this.store.set(key, object);
    this.model()?.put(object);
  }

  remove() {
    const key = this.pick([...this.store.keys()]);
    if (key === undefined) return;
    this.store.delete(key);
    this.model()?.remove(key, String(++this.version));
  }

  pause() {
    this.unlessLost(() => this.resource.pause());
  }

  resume() {
    this.unlessLost(() => this.resource.resume());
  }

  /** A resource throws once what it was lost of; a view never does. */
  unlessLost(call) {
    try {
      call();
    } catch (error) {
      if (!this.panicked || error.code !== "internal") throw error;
    }
  }

  forbid() {
    this.model()?.set({ phase: "failed", error: rawError("forbidden", "no") });
  }

  permit() {
    this.model()?.set({ phase: "live", stale: false, error: undefined });
  }

  wait() {
    this.due = this.pick([1, 16, LINGER / 2, LINGER + 1]);
  }

  waitLong() {
    this.due = 400_000;
  }

  closeResource() {
    this.resource.close();
    if (!this.cacheClosed) this.resource = this.cache.resource({ source: this.opened.source, id: "pods" });
  }

  closeCache() {
    if (this.handles.length === 0) return;
    void this.cache.close();
    this.cacheClosed = true;
  }

  panic() {
    if (this.handles.length === 0 || this.model() === undefined) return;
    this.opened.module.panic("boom");
    this.panicked = true;
  }

  get opens() {
    return this.opened.module.resources.length;
  }

  /** The open half of the core that knows what is upstream. */
  model() {
    const model = this.opened.module.resources.at(-1);
    return model?.listed && !model.closed && !this.panicked ? model : undefined;
  }

  // ----------------------------------------------------------------------------------- what must hold

  /** Assertions inside callbacks would only be reported. */
  guarded(check) {
    try {
      check();
    } catch (error) {
      this.failure ??= error;
    }
  }

  told(subscription) {
    this.guarded(() => {
      const { handle } = subscription;
      assert.equal(subscription.ended, false, "it has ended");
      assert.equal(this.depth, 0, "nobody is called inside of a call");
      if (this.flush === undefined) {
        this.flush = { snapshots: new Map() };
        queueMicrotask(() => (this.flush = undefined));
      }
      assert.notEqual(subscription.flush, this.flush, "twice in one flush");
      subscription.flush = this.flush;
      const snapshot = handle.view.getSnapshot();
      const { last } = subscription;
      assert.ok(
        Object.keys({ ...last, ...snapshot }).some((part) => snapshot[part] !== last[part]),
        "nothing is new",
      );
      this.valid(handle, snapshot, last, subscription.opens);
      Object.assign(subscription, { last: snapshot, opens: this.opens });
      this.oneState();
      if (this.draw(4) === 0) this.step(true);
    });
    if (this.draw(10) === 0) throw new Error("of a subscriber");
  }

  /** What a flush shows stands still while it tells, and equal specs are of one state. */
  oneState() {
    const states = new Map();
    for (const { handle, born } of this.subscriptions) {
      // A view that opens in a callback shows that moment. The others follow in the next microtask.
      if (born === this.flush || handle.resource !== this.resource) continue;
      // So does what is searched for since.
      if (handle.searchedIn === this.flush) continue;
      const snapshot = handle.view.getSnapshot();
      const { snapshots } = this.flush;
      assert.equal(snapshots.get(handle) ?? snapshot, snapshot, "it changed between two callbacks");
      snapshots.set(handle, snapshot);
      const { loaded, total, error } = snapshot;
      // Without the core each keeps what it had.
      const state = [loaded, loaded && total, error?.code];
      const spec = JSON.stringify([SPECS.findIndex(({ spec }) => spec === handle.spec), handle.search || ""]);
      assert.deepEqual(state, states.get(spec) ?? state, "equal specs are of one state");
      states.set(spec, state);
    }
  }

  /** Nothing is shown that was not told. */
  unchanged() {
    if (this.failure !== undefined) throw this.failure;
    for (const { handle, last } of this.subscriptions)
      assert.equal(handle.view.getSnapshot(), last, "another snapshot, and nobody was told");
  }

  /** @param old the last that was seen, when the core had been opened so often */
  valid({ view, has, descending, window: { limit } }, snapshot, old, opens) {
    const { rows, keys, offset, total, counts, loaded, error } = snapshot;
    for (const part of [snapshot, rows, keys]) assert.ok(Object.isFrozen(part));
    assert.deepEqual(keys, rows.map(keyOf));
    assert.ok(rows.every(has), "a row that is none");
    const names = rows.map(({ metadata }) => metadata.name);
    assert.deepEqual(keys, descending ? keys : [...keys].sort());
    if (descending)
      assert.deepEqual(
        names,
        [...names].sort((a, b) => compare(b, a)),
      );
    if (loaded) {
      assert.equal(rows.length, Math.max(0, Math.min(limit, total - offset)));
      if (counts.size > 0)
        assert.equal(
          [...counts.values()].reduce((sum, count) => sum + count),
          total,
        );
    }
    if (error !== undefined) assert.ok(error instanceof WatchCacheError);
    if (view.getSnapshot() === snapshot) keys.forEach((key, i) => assert.equal(view.indexOf(key), offset + i));
    if (old === undefined) return;
    for (const part of ["rows", "keys"]) {
      const same = old[part].length === snapshot[part].length && old[part].every((item, i) => item === snapshot[part][i]);
      if (same) assert.equal(snapshot[part], old[part], `the same ${part} in another array`);
    }
    // Opened anew, the core decodes anew; until it has, old rows stay.
    const before = new Map(opens === this.opens && old.loaded ? old.rows.map((row) => [row.metadata.resourceVersion, row]) : []);
    for (const row of rows) assert.equal(before.get(row.metadata.resourceVersion) ?? row, row, "one version, one object");
  }

  /** Everything that is due has happened: who can be told knows what there is. */
  async quiet() {
    for (let i = 0; i < 6; i++) {
      await settle();
      const model = this.opened.module.resources.at(-1);
      if (model !== undefined && !model.closed && !this.panicked && !model.listed && this.draw(4) > 0) {
        model.listed = true;
        model.sync([...this.store.values()], String(this.version));
      }
      this.unchanged();
      mock.timers.tick(20);
    }
    await settle();
    this.unchanged();
    this.converged();
  }

  converged() {
    const { phase } = this.resource.status;
    for (const asked of this.asked) {
      const ended = asked.closed || asked.handle.resource !== this.resource || this.cacheClosed || this.panicked;
      if (ended || this.model() !== undefined) assert.ok(asked.settled, `keys() was never answered; ${phase}`);
    }
    for (const handle of new Set(this.subscriptions.map(({ handle }) => handle))) {
      const snapshot = handle.view.getSnapshot();
      this.valid(handle, snapshot);
      if (handle.resource !== this.resource || this.cacheClosed) {
        assert.equal(snapshot.error?.code, "closed");
      } else if (this.panicked) {
        assert.equal(snapshot.error?.code, "internal");
      } else if (this.model() !== undefined) {
        const words = (handle.search ?? "").toLowerCase().match(/\S+/g) ?? [];
        const finds = (object) => words.every((word) => keyOf(object).includes(word));
        const all = [...this.store.values()].filter((object) => handle.has(object) && finds(object));
        const { offset, limit } = handle.window;
        assert.equal(snapshot.loaded, true);
        assert.equal(snapshot.total, all.length);
        assert.equal(snapshot.offset, offset);
        if (!handle.descending)
          assert.deepEqual(
            snapshot.keys,
            all
              .map(keyOf)
              .sort()
              .slice(offset, offset + limit),
          );
        assert.deepEqual(
          new Map(snapshot.rows.map((row) => [keyOf(row), row.metadata.resourceVersion])),
          new Map(snapshot.keys.map((key) => [key, this.store.get(key).metadata.resourceVersion])),
        );
        assert.equal(snapshot.stale, this.resource.status.stale);
        assert.equal(snapshot.error?.code, phase === "failed" ? this.resource.status.error.code : undefined);
      }
    }
  }

  async end() {
    await this.quiet();
    for (const keeper of this.keepers) {
      // At most what it has not taken, and then it waits.
      for (let takes = 0; takes < 2; takes++) {
        if (!keeper.over) this.take(keeper);
        await settle();
      }
      const { handle, snapshot, over, waits, iterator } = keeper;
      if (!over) assert.equal(snapshot, handle.view.getSnapshot(), "a change was not told");
      assert.notEqual(waits, over, "it waits, or it is over");
      void iterator.return();
      await settle();
      assert.ok(keeper.over || !waits, "who waits hears of the end");
    }
    if (this.failure !== undefined) throw this.failure;
    for (const { off } of this.subscriptions.splice(0)) off();
    for (let i = 0; i < 5; i++) {
      mock.timers.tick(LINGER + 1);
      await settle();
    }
    for (const { calls, closed } of this.opened.module.resources) {
      const count = (name) => calls.filter(([call]) => call === name).length;
      // Closing the core closes its views.
      if (!closed && !this.panicked) assert.equal(count("viewClose"), count("view"), "views that nobody uses are closed");
    }
    await this.cache.close();
    this.cacheClosed = true;
    for (let i = 0; i < 3; i++) {
      mock.timers.tick(20);
      await settle();
    }
    for (const { settled } of this.asked) assert.ok(settled, "keys() was never answered");
    // A panic is logged as text.
    const unexpected = this.opened.reported.map((error) => error.message ?? error);
    assert.deepEqual(
      unexpected.filter((message) => message !== "of a subscriber" && message !== "boom"),
      [],
    );
  }
}

/** How often each step is taken; the ends are seldom, or nothing else would be seen. */
const STEPS_BY_WEIGHT = {
  make: 6,
  subscribe: 14,
  unsubscribe: 8,
  setWindow: 14,
  setSearch: 10,
  changes: 6,
  take: 12,
  leave: 4,
  close: 6,
  read: 10,
  keys: 6,
  put: 22,
  remove: 6,
  pause: 3,
  resume: 4,
  forbid: 2,
  permit: 2,
  wait: 8,
  waitLong: 1,
  closeResource: 1,
  closeCache: 1,
  panic: 1,
};

test("r11_in_any_session_a_snapshot_changes_if_and_only_if_its_subscribers_are_told", async (t) => {
  globalThis.WorkerGlobalScope = class {};
  t.after(() => delete globalThis.WorkerGlobalScope);
  t.after(turned());
  const done = {};
  for (let seed = SEED; seed < SEED + SESSIONS; seed++) {
    const session = new Session(seed);
    try {
      await session.run();
    } catch (error) {
      error.message = `SEED=${seed} SESSIONS=1: ${error.message}\n${session.log.slice(-30).join("\n")}`;
      throw error;
    }
    for (const line of session.log) done[line.trim()] = (done[line.trim()] ?? 0) + 1;
  }
  for (const name of Object.keys(STEPS_BY_WEIGHT)) {
    assert.ok(SESSIONS < 100 || (done[name] > 10 && done[`in a callback: ${name}`] > 0), `${name} was hardly tried`);
  }
});
