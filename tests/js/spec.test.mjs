import assert from "node:assert/strict";
import { test } from "node:test";

import { openCache } from "../../dist/cache/cache.js";
import { abortError, toError, WatchCacheError } from "../../dist/error/errors.js";
import { baseUrl, readOptions } from "../../dist/cache/settings.js";
import { readSpec } from "../../dist/upstream/spec.js";
import { ModelModule } from "./lib/model.mjs";

test("specs name paths", () => {
  const path = (spec) => readSpec(spec).path;
  assert.equal(path("pods"), "/api/v1/pods");
  assert.equal(path("v1/pods"), "/api/v1/pods");
  assert.equal(path("apps/v1/deployments"), "/apis/apps/v1/deployments");
  assert.equal(path("cert-manager.io/v1alpha2/certificates"), "/apis/cert-manager.io/v1alpha2/certificates");
  assert.equal(path({ version: "v1", resource: "pods", namespace: "kube-system" }), "/api/v1/namespaces/kube-system/pods");
  assert.equal(path({ group: "apps", version: "v1", resource: "deployments", namespace: "a" }), "/apis/apps/v1/namespaces/a/deployments");
});

test("a spec that names nothing says why", () => {
  const wrong = [
    "",
    "Pods",
    "pods/log",
    "apps/deployments",
    "a/b/c/d",
    "/api/v1/pods",
    "apps/latest/deployments",
    "v1/../secrets",
    7,
    null,
    undefined,
  ];
  const more = [
    { version: "v1", resource: "pods", namespace: "a/b" },
    { version: "v1", resource: "pods", labelSelector: 7 },
    { version: "v1" },
    { resource: "pods" },
    { source: {}, id: "x" },
    { source: { list() {}, watch() {} }, id: "" },
    { source: { list() {} }, id: "x" },
    { version: "v1", resource: "pods", as: "table" },
    { version: "v1", resource: "pods", as: "" },
    { version: "v1", resource: "pods", poll: 1_000 },
    { version: "v1", resource: "pods", poll: {} },
    { version: "v1", resource: "pods", poll: { everyMs: 0 } },
    { version: "v1", resource: "pods", poll: { everyMs: Infinity } },
    { version: "v1", resource: "pods", poll: { everyMs: 1_000, ms: 1 } },
  ];
  for (const spec of [...wrong, ...more])
    assert.throws(() => readSpec(spec), { name: "WatchCacheError", code: "invalid" }, JSON.stringify(spec));
  assert.throws(() => readSpec({}), { message: /^version is missing/ });
  assert.throws(() => readSpec({ version: "v1" }), { message: /^resource is missing/ });
});

test("what differs in what is held is another resource, and what was not given is none", () => {
  const source = { list() {}, watch() {} };
  const pods = { version: "v1", resource: "pods" };
  const key = (spec) => readSpec(spec).key;
  const keys = [
    pods,
    { ...pods, as: "Table" },
    { ...pods, as: "PartialObjectMetadata" },
    { ...pods, poll: { everyMs: 1_000 } },
    { ...pods, poll: { everyMs: 2_000 } },
    { source, id: "x" },
    { source, id: "x", poll: { everyMs: 1_000 } },
  ].map(key);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(key({ ...pods, as: undefined, poll: undefined }), key("pods"));
  assert.equal(key({ source, id: "x", poll: undefined }), key({ source, id: "x" }));
  assert.equal(readSpec({ source: { list() {} }, id: "x", poll: { everyMs: 1_000 } }).pollMs, 1_000, "who is polled need not watch");
});

test("the server is an absolute address without secrets", () => {
  assert.equal(baseUrl("https://host/"), "https://host");
  assert.equal(baseUrl(new URL("http://127.0.0.1:8001/clusters/x//")), "http://127.0.0.1:8001/clusters/x");
  for (const server of [undefined, "/clusters/x", "ws://host", "https://u:p@host", "https://host?token=x", "https://host#x"]) {
    assert.throws(() => baseUrl(server), { code: "invalid" }, String(server));
  }
});

test("on a page the server is its origin, or relative to it", (t) => {
  t.after(() => delete globalThis.location);
  globalThis.location = new URL("https://page/app/index.html?x=1#y");
  assert.equal(baseUrl(undefined), "https://page");
  assert.equal(baseUrl("/clusters/x"), "https://page/clusters/x");
});

test("options that are the facade's own have its defaults, all others are left to the core, and wrong ones are named", () => {
  const settings = readOptions({ retry: { capMs: 5 } });
  const { transport, credentials, linger, flush, debug, checkConsistency, indexes } = settings;
  assert.deepEqual(
    [transport, credentials, linger, flush, debug, checkConsistency, indexes],
    ["auto", "same-origin", 5_000, "frame", false, false, []],
  );
  assert.deepEqual(settings.retry, { capMs: 5 }, "as it was given");
  for (const name of ["pageSize", "strip", "watchList", "idleTimeout", "trigger", "history", "memory"])
    assert.equal(name in settings, false, `${name} has its default in the core alone`);
  const wrong = [
    { transport: "sse" },
    { pageSize: 0 },
    { pageSize: 1.5 },
    { watchList: 1 },
    { watchList: true, transport: "fetch" },
    { linger: -1 },
    { idleTimeout: "90" },
    { retry: { factor: 0 } },
    { retry: { capMs: Number.NaN } },
  ];
  for (const options of [...wrong, { flush: "never" }, { credentials: "always" }, { auth: "token" }, { fetch: 1 }, { WebSocket: {} }]) {
    assert.throws(() => readOptions(options), { code: "invalid", message: new RegExp(Object.keys(options)[0]) });
  }
});

test("wir_09: the state is asked for over a WebSocket, not over fetch, which browsers may decompress in part", () => {
  const fault = { code: "invalid", message: /watchList needs a WebSocket/ };
  assert.throws(() => readOptions({ watchList: true, transport: "fetch" }), fault);
  for (const usual of /** @type {const} */ (["auto", "fetch"]))
    assert.equal(readOptions({ watchList: true }, undefined, usual).transport, "auto");
});

test("what was given reaches the core and nothing else does, and calls go to the user's functions", async () => {
  const module = new ModelModule();
  const seen = [];
  class Socket {
    constructor(...request) {
      this.request = request;
    }
  }
  const cache = openCache(
    {
      server: "http://127.0.0.1:1/base/",
      WebSocket: Socket,
      fetch: async (...request) => seen.push(request),
      auth: () => ({ token: "t" }),
      strip: [],
      transport: "fetch",
    },
    module.runtime(),
  );
  cache.resource({ version: "v1", resource: "pods", labelSelector: "a=b " }).peek("x");
  const { options, origin } = module.resources[0];
  assert.deepEqual([options.name, options.strip, options.pageSize], ["pods", [], undefined]);
  const { transport } = origin;
  assert.deepEqual(
    [transport.server, transport.path, transport.labelSelector, transport.transport, transport.credentials],
    ["http://127.0.0.1:1/base", "/api/v1/pods", "a=b", "fetch", "same-origin"],
  );
  const socket = Reflect.construct(transport.WebSocket, ["wss://host", ["a"]]);
  assert.ok(socket instanceof Socket);
  assert.deepEqual(socket.request, ["wss://host", ["a"]]);
  assert.deepEqual(await transport.auth(), { token: "t" });
  const call = transport.fetch;
  await call("u", { method: "GET" });
  assert.deepEqual(seen, [["u", { method: "GET" }]]);
  const source = {
    list() {
      return this;
    },
    watch() {
      return this;
    },
  };
  cache.resource({ source, id: "x" }).peek("x");
  const { list, watch } = module.resources[1].origin.source;
  assert.equal(list(), source);
  assert.equal(watch(), source);
  await cache.close();
});

test("without a server the resource fails when it opens, not before", async () => {
  const module = new ModelModule();
  const cache = openCache({ transport: "fetch", logger: console }, module.runtime());
  const resource = cache.resource("pods");
  await assert.rejects(resource.synced(), { code: "invalid", message: /server/ });
  assert.equal(resource.status.phase, "failed");
});

test("whatever is thrown becomes one kind of error", () => {
  const raw = {
    name: "WatchCacheError",
    code: "expired",
    message: "too old",
    retryable: true,
    status: { code: 410 },
    retryAfterSeconds: 3,
  };
  const error = toError(raw, "pods");
  assert.ok(error instanceof WatchCacheError && error instanceof Error);
  const { code, message, retryable, status, retryAfterSeconds, resource } = error;
  assert.deepEqual(
    { code, message, retryable, status, retryAfterSeconds, resource },
    {
      code: "expired",
      message: "too old",
      retryable: true,
      status: { code: 410 },
      retryAfterSeconds: 3,
      resource: "pods",
    },
  );
  assert.equal(toError(error), error);
  assert.equal(toError({ code: "no-such-code", message: "?" }).code, "internal");
  const cause = new TypeError("x is not a function");
  assert.deepEqual([toError(cause).code, toError(cause).cause], ["internal", cause]);
  assert.equal(toError("text").message, "text");
  assert.equal("status" in toError("text"), false);
  const controller = new AbortController();
  controller.abort();
  assert.equal(abortError(controller.signal), controller.signal.reason);
});

const inNamespaces = (namespaces) => ({ version: "v1", resource: "pods", namespaces });

test("what cannot be the namespaces of a resource is refused", () => {
  const wrong = [[""], ["A_b"], ["a".repeat(300)], ["a/b"], [".."], [7], [undefined], [null], [,], "a", "", 7, {}, null, new Set(["a"])];
  for (const namespaces of wrong)
    assert.throws(() => readSpec(inNamespaces(namespaces)), { name: "WatchCacheError", code: "invalid" }, JSON.stringify(namespaces));
  assert.throws(() => readSpec({ ...inNamespaces(["a"]), namespace: "b" }), { code: "invalid" });
});

test("namespaces are a set, which an array that is changed later does not change", () => {
  const given = ["b", "a", "b"];
  const target = readSpec(inNamespaces(given));
  given.push("c");
  assert.deepEqual(
    [target.namespaces, target.spec.namespaces],
    [
      ["a", "b"],
      ["b", "a", "b"],
    ],
  );
  assert.equal(target.key, readSpec(inNamespaces(["a", "b"])).key);
});

test("two resources of a cache have two labels in its metrics", () => {
  const source = { list() {}, watch() {} };
  const pods = { version: "v1", resource: "pods" };
  const specs = [
    pods,
    { ...pods, namespace: "a" },
    inNamespaces([]),
    inNamespaces(["a"]),
    inNamespaces(["a", "b"]),
    { ...pods, labelSelector: "a=b" },
    { ...pods, fieldSelector: "a=b" },
    { ...pods, as: "Table" },
    { ...pods, poll: { everyMs: 1_000 } },
    { ...pods, poll: { everyMs: 2_000 } },
    { source, id: "pods" },
    { source, id: "pods", poll: { everyMs: 1_000 } },
  ];
  const targets = specs.map((spec) => readSpec(spec));
  assert.equal(new Set(targets.map(({ key }) => key)).size, specs.length);
  const series = targets.map(({ name, labels: { group, scope }, source }) => JSON.stringify([source !== undefined, name, group, scope]));
  assert.equal(new Set(series).size, specs.length, series.join());
  assert.equal(readSpec(inNamespaces(["b", "a"])).labels.scope, "?namespaces=a,b");
});
