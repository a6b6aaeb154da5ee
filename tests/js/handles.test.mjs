// One rule for every handle of the package: its members work when they are taken off it, and through the proxies of frameworks. The
// members are read from the declarations, so that a new one cannot be forgotten here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { observable } from "mobx";
import { reactive, ref, shallowReactive } from "vue";
import { createInformerFactory, init } from "watchcache";
import { memorySource } from "watchcache/memory";

import { bindable, bindMethods } from "../../dist/language/bound.js";
import { open } from "./lib/package.mjs";
import { pod } from "./lib/pod.mjs";

/** What the host's own types give. */
const HOST = {
  HostEventTarget: ["addEventListener", "removeEventListener", "dispatchEvent"],
  HostAsyncDisposable: ["[Symbol.asyncDispose]"],
};

/** The members of an interface of the package, and of what it extends. */
function membersOf(file, name) {
  const text = readFileSync(new URL(`../../dist/${file}.d.ts`, import.meta.url), "utf8");
  const [, bases, body] = new RegExp(`export interface ${name}(?:<.*>)?(?: extends (.*))? \\{\\n([^]*?)\\n\\}`).exec(text);
  const own = [...body.matchAll(/^ {4}(?:readonly )?(\w+|\[Symbol\.\w+\])[?(<:]/gm)].map(([, member]) => member);
  const from = Object.keys(HOST).filter((host) => bases?.includes(host));
  const all = [...own, ...from.flatMap((host) => HOST[host])];
  return [...new Set(all)].map((member) => (member.startsWith("[") ? Symbol[member.slice(8, -1)] : member));
}

const nothing = () => {};
const listening = ["status", nothing];
const dispose = Symbol.asyncDispose;
const spec = { source: memorySource({ objects: [pod("a/x")] }), id: "other" };

/** Where each type is declared, how one is got, and what its methods are called with. */
const HANDLES = {
  WatchCache: {
    file: "cache/types",
    make: ({ cache }) => cache,
    calls: {
      resource: [spec],
      discover: [],
      can: [{ verb: "get", resource: "pods" }],
      stats: [],
      metrics: [],
      close: [],
      addEventListener: listening,
      removeEventListener: listening,
      dispatchEvent: [],
      [dispose]: [],
    },
  },
  Resource: {
    file: "resource/types",
    make: ({ resource }) => resource,
    calls: {
      synced: [],
      watch: [],
      list: [],
      get: ["a/x"],
      informer: [],
      peek: ["a/x"],
      byIndex: ["namespace", "a"],
      indexValues: ["namespace"],
      view: [],
      childrenOf: [{ metadata: { namespace: "a", uid: "0" } }],
      selectedBy: [{ metadata: { namespace: "a" }, kind: "Service", spec: { selector: { app: "web" } } }],
      eventsOf: [pod("a/x")],
      create: [pod("a/new")],
      update: ["a/x", (object) => object],
      patch: ["a/x", { status: { phase: "Failed" } }, { type: "merge" }],
      deleteCollection: [],
      delete: ["a/x"],
      refresh: [],
      setNamespaces: [["a"]],
      pause: [],
      resume: [],
      close: [],
      addEventListener: listening,
      removeEventListener: listening,
      dispatchEvent: [],
    },
  },
  View: {
    file: "view/types",
    make: ({ resource }) => resource.view(),
    calls: {
      subscribe: [nothing],
      getSnapshot: [],
      getServerSnapshot: [],
      indexOf: ["a/x"],
      keys: [],
      setSearch: ["x"],
      setWindow: [{ offset: 0, limit: 1 }],
      changes: [],
      close: [],
    },
  },
  Watcher: {
    file: "watch/types",
    make: ({ resource }) => resource.watch(),
    calls: { next: [], return: [], batches: [], forEach: [nothing], stop: [], [Symbol.asyncIterator]: [], [dispose]: [] },
  },
  Informer: {
    file: "informer/types",
    make: ({ resource }) => resource.informer({ start: false }),
    calls: {
      addEventHandler: [nothing],
      removeEventHandler: (informer) => [informer.addEventHandler(nothing)],
      addIndexers: [{ phase: "status.phase" }],
      byIndex: ["namespace", "a"],
      indexKeys: ["namespace", "a"],
      indexValues: ["namespace"],
      list: [],
      get: ["a/x"],
      mutated: [{ metadata: { namespace: "a", name: "x", resourceVersion: "1000" } }],
      start: [],
      stop: [],
    },
  },
  HandlerRegistration: {
    file: "informer/types",
    make: ({ resource }) => resource.informer().addEventHandler(nothing),
    calls: { remove: [] },
  },
  InformerFactory: {
    file: "cache/informer-factory-types",
    make: ({ cache }) => createInformerFactory(cache),
    calls: { forResource: [spec], start: [], waitForCacheSync: [], shutdown: [] },
  },
};

/** What stands for a handle where frameworks keep it. */
const STAND_INS = {
  "a plain Proxy": (handle) => new Proxy(handle, {}),
  "a Proxy that hands its receiver on": (handle) => new Proxy(handle, { get: (...given) => Reflect.get(...given) }),
  "a Proxy of a Proxy": (handle) => new Proxy(new Proxy(handle, {}), {}),
  "an object that inherits from it": (handle) => Object.create(handle),
  "Vue's reactive": (handle) => reactive(handle),
  "Vue's shallowReactive": (handle) => shallowReactive(handle),
  "Vue's ref": (handle) => ref({ handle }).value.handle,
  "MobX's observable": (handle) => observable({ handle }).handle,
};

/** What came of a call: its value, or of what kind it was, once it is there; of `forEach` that comes when its watch ends. */
async function outcome(name, call) {
  const called = call();
  const value = name === "forEach" ? called : await called;
  // Metrics differ from call to call.
  return typeof value === "string" ? value.slice(0, 20) : Object(value) === value ? Object.prototype.toString.call(value) : value;
}

await init();

for (const [type, { file, make, calls }] of Object.entries(HANDLES)) {
  /** One of its own, in the same state each time. */
  const fresh = async () => {
    const opened = open(memorySource({ objects: [pod("a/x")] }));
    await opened.resource.synced();
    const handle = make(opened);
    handle.synced?.catch?.(nothing);
    return handle;
  };
  const argumentsOf = (name, handle) => {
    if (name === "dispatchEvent") return [new Event("status")];
    return typeof calls[name] === "function" ? calls[name](handle) : calls[name];
  };
  const tried = async (name, way) => {
    const handle = await fresh();
    const given = argumentsOf(name, handle);
    return outcome(name, () => way(handle, given)).catch((error) => `${error.code} ${error.message}`);
  };

  test(`r10_every_method_of_a_${type}_works_detached_and_through_a_proxy`, async () => {
    const probe = await fresh();
    const members = membersOf(file, type);
    const methods = members.filter((name) => typeof probe[name] === "function");
    assert.deepEqual(new Set(methods), new Set(Reflect.ownKeys(calls)), "each method that is declared has a call here");
    for (const name of methods) {
      const expected = await tried(name, (handle, given) => handle[name](...given));
      assert.doesNotMatch(String(expected), /^undefined ./, `${String(name)} itself throws what is none of the package's errors`);
      const detached = await tried(name, ({ [name]: method }, given) => method(...given));
      assert.equal(detached, expected, `${String(name)} detached`);
      for (const [what, around] of Object.entries(STAND_INS)) {
        assert.equal(await tried(name, (handle, given) => around(handle)[name](...given)), expected, `${String(name)} through ${what}`);
      }
    }
  });

  test(`r10_a_${type}_is_the_same_after_it_was_touched_through_a_proxy`, async () => {
    const members = membersOf(file, type);
    for (const [what, around] of Object.entries(STAND_INS)) {
      const handle = await fresh();
      const standIn = around(handle);
      for (const name of members) assert.equal(standIn[name], handle[name], `${String(name)} through ${what}`);
      assert.doesNotMatch(inspect(standIn), /TypeError/, `printed through ${what}`);
    }
  });
}

test("r10_a_listener_is_added_and_removed_by_methods_that_were_taken_off", () => {
  const opened = open(memorySource({ objects: [] }));
  for (const target of [opened.resource, opened.cache]) {
    const { addEventListener, removeEventListener, dispatchEvent } = target;
    let calls = 0;
    const listener = () => calls++;
    addEventListener("error", listener);
    dispatchEvent(new Event("error"));
    assert.equal(calls, 1);
    removeEventListener("error", listener);
    dispatchEvent(new Event("error"));
    assert.equal(calls, 1);
  }
});

test("r10_a_registration_is_removed_also_where_a_proxy_of_it_is_given", async () => {
  const upstream = memorySource({ objects: [] });
  const { resource } = open(upstream);
  const informer = resource.informer();
  let calls = 0;
  const registration = informer.addEventHandler({ onAdd: () => calls++ });
  await registration.synced;
  await new Proxy(informer, {}).removeEventHandler(new Proxy(registration, {}));
  upstream.put(pod("a/x"));
  await informer.synced;
  while (informer.list().length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.equal(calls, 0);
});

test("what a class inherits may come from another realm, as the EventTarget of a test runner does", () => {
  const Target = runInNewContext("class Target { hear() { return this.word; } }; Target");
  class Handle extends Target {
    word = "heard";
    constructor() {
      super();
      bindable(this);
    }
  }
  bindMethods(Handle.prototype);
  const { hear } = new Handle();
  assert.equal(hear(), "heard");
});
