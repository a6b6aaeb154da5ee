// Discovery and names through the package, against servers that answer as scripted: which documents there are, who fails, and with what.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { createInformerFactory, createWatchCache } from "watchcache";
import { Asker } from "../../dist/kubernetes/request.js";
import { AGGREGATED, ALL, APPS, VERBS, coded, group, groups, pathOf, resource, serving, version } from "./lib/discovery.mjs";

test("it is asked for in the aggregated form, once, and tells what the server has", async (t) => {
  const { cache, asked } = await serving(t, ALL);
  const [discovery, same] = await Promise.all([cache.discover(), cache.discover()]);
  assert.equal(discovery, same);
  assert.equal(await cache.discover(), discovery);
  assert.deepEqual(asked.map(({ path }) => path).sort(), ["/api", "/apis"]);
  assert.ok(asked.every(({ accept }) => accept.startsWith(AGGREGATED)));
  assert.deepEqual(discovery.find("deploy"), {
    name: "apps/v1/deployments",
    group: "apps",
    version: "v1",
    resource: "deployments",
    singular: "deployment",
    kind: "Deployment",
    namespaced: true,
    verbs: VERBS,
    shortNames: ["deploy"],
    categories: [],
    subresources: [],
    preferred: true,
  });
  assert.deepEqual(discovery.find("po").subresources, [{ name: "log", kind: "Pod", verbs: ["get"] }]);
  assert.equal(discovery.find("nodes").namespaced, false);
  assert.deepEqual(
    discovery.resources.filter(({ group }) => group === "autoscaling").map(({ name, preferred }) => [name, preferred]),
    [
      ["autoscaling/v2/horizontalpodautoscalers", true],
      ["autoscaling/v1/horizontalpodautoscalers", false],
      ["autoscaling/v1/oldies", true],
    ],
  );
  assert.ok(Object.isFrozen(discovery) && Object.isFrozen(discovery.resources) && Object.isFrozen(discovery.resources[0]));
});

test("refresh asks again, and what was known stays where that fails", async (t) => {
  let away = false;
  const WIDGETS = group("example.com", version("v1", [resource("widgets", "Widget", { shortNames: ["wi"] })]));
  let extra = [];
  const answers = (path) => (away ? { code: 503, raw: "" } : path === "/apis" ? groups(APPS, ...extra) : ALL[path]);
  const { cache } = await serving(t, answers);
  await cache.discover();
  assert.throws(() => cache.resource("wi"), coded("not-found", /no resource for wi.*discover\(\{ refresh: true \}\)/));
  extra = [WIDGETS];
  assert.throws(() => cache.resource({ kind: "Widget" }), coded("not-found", /Widget/));
  await cache.discover({ refresh: true });
  assert.equal(cache.resource("wi"), cache.resource("example.com/v1/widgets"));
  away = true;
  await assert.rejects(cache.discover({ refresh: true }), coded("unavailable", /HTTP 503/));
  assert.equal(cache.resource({ kind: "Widget" }), cache.resource("example.com/v1/widgets"));
});

test("a refresh asks anew where discovery is on its way: what that brings may be older", async (t) => {
  const WIDGETS = group("example.com", version("v1", [resource("widgets", "Widget")]));
  let extra = [];
  let asked = 0;
  let go;
  const waits = new Promise((resolve) => (go = resolve));
  const { cache } = await serving(t, ALL, {
    // The first two answers are made before the widgets are there, and come after.
    fetch: async (url, init) => {
      const first = ++asked <= 2;
      const body = JSON.stringify(url.endsWith("/apis") ? groups(APPS, ...extra) : ALL["/api"]);
      if (first) await waits;
      return new Response(body, { headers: { "content-type": "application/json" } });
    },
  });
  const before = cache.discover();
  while (asked < 2) await new Promise((resolve) => setTimeout(resolve, 1));
  extra = [WIDGETS];
  const both = [cache.discover({ refresh: true }), cache.discover({ refresh: true })];
  const joins = cache.discover();
  go();
  assert.equal(await joins, await before, "who wants no newer one gets what comes first");
  const [one, other] = await Promise.all(both);
  assert.equal(one.find("widgets").kind, "Widget");
  assert.equal(one, other);
  assert.equal(asked, 4, "both refreshes share one more");
});

test("what is no name and no kind is refused, before anything is looked for or asked", async (t) => {
  const { cache, asked } = await serving(t, ALL);
  const { find } = await cache.discover();
  for (const given of [
    undefined,
    null,
    5,
    "",
    " ",
    [],
    {},
    { kind: 5 },
    { kind: "" },
    { kind: "Pod", group: null },
    { kind: "Pod", apiVersion: 7 },
  ])
    assert.throws(() => find(given), coded("invalid", /./), JSON.stringify(given));
  assert.throws(() => find({ kind: "Pod", apiVersion: "v1", group: "apps" }), coded("invalid", /at once/));
  assert.equal(find({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }).name, "v1/pods", "any object of the API says what it is");
  const before = asked.length;
  for (const given of [{}, " ", "__proto__", "Pods/", { version: "v1", resource: "A b" }])
    await assert.rejects(cache.can({ verb: "get", resource: given }), coded("invalid", /./), JSON.stringify(given));
  assert.equal(asked.length, before);
});

test("names mean what they mean to kubectl", async (t) => {
  const { cache } = await serving(t, ALL);
  const { find } = await cache.discover();
  for (const [name, meant] of [
    ["pods", "v1/pods"],
    ["po", "v1/pods"],
    ["pod", "v1/pods"],
    ["Pod", "v1/pods"],
    ["ev", "v1/events"],
    ["hpa", "autoscaling/v2/horizontalpodautoscalers"],
    ["events.events.k8s.io", "events.k8s.io/v1/events"],
    ["deployments.apps", "apps/v1/deployments"],
    ["deploy.apps", "apps/v1/deployments"],
    ["hpa.v2.autoscaling", "autoscaling/v2/horizontalpodautoscalers"],
    ["horizontalpodautoscalers.v1.autoscaling", "autoscaling/v1/horizontalpodautoscalers"],
    ["pods.b.example.com", "b.example.com/v1/pods"],
    ["oldie", "autoscaling/v1/oldies"],
    ["v1/pods", "v1/pods"],
    ["apps/v1/deployments", "apps/v1/deployments"],
  ])
    assert.equal(pathOf(find(name)), meant, name);
  for (const [kind, meant] of [
    [{ kind: "Deployment" }, "apps/v1/deployments"],
    [{ kind: "Event" }, "v1/events"],
    [{ kind: "Event", group: "events.k8s.io" }, "events.k8s.io/v1/events"],
    [{ kind: "Event", apiVersion: "v1" }, "v1/events"],
    [{ kind: "Pod", group: "" }, "v1/pods"],
    [{ kind: "HorizontalPodAutoscaler" }, "autoscaling/v2/horizontalpodautoscalers"],
    [{ kind: "HorizontalPodAutoscaler", version: "v1" }, "autoscaling/v1/horizontalpodautoscalers"],
    [{ kind: "Cluster", group: "b.example.com" }, "b.example.com/v1/clusters"],
    [{ kind: "Cluster", apiVersion: "a.example.com/v1" }, "a.example.com/v1/clusters"],
  ])
    assert.equal(pathOf(find(kind)), meant, JSON.stringify(kind));
});

test("what stands in several groups is invalid, with the names of all", async (t) => {
  const { cache } = await serving(t, ALL);
  await cache.discover();
  const names = /"clusters.a.example.com" or "clusters.b.example.com"/;
  for (const name of ["clusters", "cluster", "cl"]) assert.throws(() => cache.resource(name), coded("invalid", names));
  const kinds = /\{ kind: "Cluster", apiVersion: "a.example.com\/v1" \} or \{ kind: "Cluster", apiVersion: "b.example.com\/v1" \}/;
  assert.throws(() => cache.resource({ kind: "Cluster" }), coded("invalid", kinds));
  // No word of the core group's is any other's.
  assert.equal(cache.resource("pods"), cache.resource("v1/pods"));
});

test("before discovery a name or kind that needs it is invalid with the remedy, and others mean what they always meant", async (t) => {
  const { cache, asked } = await serving(t, ALL);
  for (const spec of ["deploy", "deployments", "po", "Pod", { kind: "Deployment" }])
    assert.throws(() => cache.resource(spec), coded("invalid", /call await cache\.discover\(\) first/), JSON.stringify(spec));
  assert.equal(cache.resource("pods"), cache.resource({ version: "v1", resource: "pods" }));
  assert.equal(cache.resource("v1/things").name, "things");
  assert.equal(cache.resource("apps/v1/deployments").name, "deployments");
  assert.throws(() => cache.resource(""), coded("invalid", /no resource/));
  assert.throws(() => createInformerFactory(cache).forResource("deploy"), coded("invalid", /discover\(\) first/));
  assert.deepEqual(asked, []);
});

test("a kind takes what a spec takes, and is the same resource", async (t) => {
  const { cache } = await serving(t, ALL);
  await cache.discover();
  const narrowed = { namespace: "web", labelSelector: "app=a" };
  const spec = { group: "apps", version: "v1", resource: "deployments", ...narrowed };
  assert.equal(cache.resource({ kind: "Deployment", ...narrowed }), cache.resource(spec));
  assert.equal(cache.resource("deploy"), cache.resource("apps/v1/deployments"));
  const namespaces = ["web", "api"];
  const several = { group: "apps", version: "v1", resource: "deployments", namespaces };
  assert.equal(cache.resource({ kind: "Deployment", namespaces }), cache.resource(several));
  const factory = createInformerFactory(cache, { namespace: "web", labelSelector: "app=a" });
  assert.equal(factory.forResource("deploy"), factory.forResource({ kind: "Deployment", ...narrowed }));
  await factory.shutdown();
  for (const [wrong, message] of [
    [{ kind: "Node", namespace: "web" }, /Node lies in no namespace: leave namespace out/],
    [{ kind: "Node", namespaces: ["web"] }, /Node lies in no namespace: leave namespaces out/],
    [{ kind: "Deployment", apiVersion: "apps/v1", group: "apps" }, /apiVersion says group and version at once/],
    [{ kind: "Deployment", apiVersion: "apps" }, /apiVersion is group and version/],
    [{ kind: "" }, /kind is text/],
    [{ kind: 7 }, /kind is text/],
    [{ kind: "Deployment", resource: "deployments" }, /resource is no option/],
    [{ kind: "Deployment", group: 7 }, /group is text/],
  ])
    assert.throws(() => cache.resource(wrong), coded("invalid", message), JSON.stringify(wrong));
});

test("a group whose server is away is named, and all others are there", async (t) => {
  const { cache } = await serving(t, ALL);
  const { failed, find } = await cache.discover();
  assert.deepEqual(
    failed.map(({ group, version, error }) => [group, version, error.code]),
    [["metrics.k8s.io", "v1beta1", "unavailable"]],
  );
  assert.equal(find("deploy").name, "apps/v1/deployments");
  assert.throws(
    () => find({ kind: "PodMetrics", group: "metrics.k8s.io" }),
    coded("unavailable", /could not tell of metrics\.k8s\.io\/v1beta1/),
  );
  assert.throws(() => find({ kind: "PodMetrics" }), coded("not-found", /could not tell of metrics\.k8s\.io\/v1beta1/));
  assert.throws(() => find("deplyo"), coded("not-found", /did you mean deploy\?/));
});

const CLASSIC = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/api/v1": {
    kind: "APIResourceList",
    groupVersion: "v1",
    resources: [
      { name: "pods", singularName: "pod", namespaced: true, kind: "Pod", verbs: VERBS, shortNames: ["po"] },
      { name: "pods/log", singularName: "", namespaced: true, kind: "Pod", verbs: ["get"] },
    ],
  },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "apps",
        versions: [{ version: "v1beta2" }, { version: "v1" }],
        preferredVersion: { version: "v1" },
      },
      { name: "metrics.k8s.io", versions: [{ version: "v1beta1" }] },
    ],
  },
  "/apis/apps/v1": {
    kind: "APIResourceList",
    resources: [
      { name: "deployments", singularName: "deployment", namespaced: true, kind: "Deployment", verbs: VERBS, shortNames: ["deploy"] },
    ],
  },
  "/apis/apps/v1beta2": {
    kind: "APIResourceList",
    resources: [{ name: "deployments", singularName: "deployment", namespaced: true, kind: "Deployment", verbs: VERBS }],
  },
  "/apis/metrics.k8s.io/v1beta1": { code: 503, raw: "service unavailable", type: "text/plain" },
};

test("a server without the aggregated form is asked version by version", async (t) => {
  const { cache, asked } = await serving(t, CLASSIC);
  const { find, failed, resources } = await cache.discover();
  assert.equal(asked.length, 6);
  assert.equal(find("deploy").name, "apps/v1/deployments", "the version that is preferred, and not the first");
  assert.deepEqual(
    resources.map(({ name, preferred }) => `${name} ${preferred}`),
    ["v1/pods true", "apps/v1/deployments true", "apps/v1beta2/deployments false"],
  );
  assert.deepEqual(find("po").subresources, [{ name: "log", kind: "Pod", verbs: ["get"] }]);
  assert.deepEqual(
    failed.map(({ group, version, error }) => [group, version, error.code, error.message]),
    [["metrics.k8s.io", "v1beta1", "unavailable", "/apis/metrics.k8s.io/v1beta1: HTTP 503: service unavailable"]],
  );
});

const HTML = { code: 200, type: "text/html", raw: "<!doctype html>" };
const forbidden = { kind: "Status", apiVersion: "v1", status: "Failure", message: "nobody may", reason: "Forbidden", code: 403 };
for (const [what, answers, code, message] of [
  ["a server without discovery", {}, "not-found", /no discovery: neither \/api nor \/apis/],
  ["a page", { "/api": HTML, "/apis": HTML }, "protocol", /text\/html is no answer of a Kubernetes API/],
  ["a refusal", () => ({ code: 403, raw: JSON.stringify(forbidden) }), "forbidden", /^\/api: nobody may/],
  ["no credentials", () => ({ code: 401, raw: "" }), "unauthorized", /HTTP 401/],
  ["too many requests", () => ({ code: 429, raw: "", headers: { "retry-after": "7" } }), "too-many-requests", /HTTP 429/],
  ["a server that is away", () => ({ code: 502, raw: "" }), "unavailable", /HTTP 502/],
  ["no JSON", () => ({ code: 200, raw: '{"kind":' }), "decode", /no JSON/],
  ["no UTF-8", () => ({ code: 200, raw: Buffer.from([0x22, 0xff, 0x22]) }), "decode", /no JSON/],
  ["JSON that is no object", () => ({ code: 200, raw: "7" }), "protocol", /no JSON object/],
  ["another document", () => ({ kind: "PodList", items: [] }), "protocol", /kind should be APIGroupDiscoveryList.*"PodList"/],
  ["items that are none", { ...ALL, "/apis": groups(7) }, "protocol", /\/apis: its items should be an object, and is 7/],
  [
    "versions that are no list",
    { ...ALL, "/apis": groups({ metadata: { name: "x" }, versions: {} }) },
    "protocol",
    /versions should be an array/,
  ],
  [
    "a resource without a name",
    { ...ALL, "/apis": groups(group("x", version("v1", [{ responseKind: { kind: "X" }, scope: "Cluster" }]))) },
    "protocol",
    /resource should be text, and is missing/,
  ],
])
  test(`${what}: ${code}`, async (t) => {
    const { cache } = await serving(t, answers);
    await assert.rejects(cache.discover(), (error) => {
      if (code === "too-many-requests") assert.equal(error.retryAfterSeconds, 7);
      return coded(code, message)(error);
    });
    assert.throws(() => cache.resource("deploy"), coded("invalid", /discover\(\) first/));
  });

test("a refusal means what it means to any other request, also one that breaks off", async (t) => {
  const status = (code, reason) => JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", message: "no", reason, code });
  for (const [answer, code] of [
    [{ code: 408, raw: "" }, "timeout"],
    [{ code: 412, raw: "" }, "conflict"],
    [{ code: 500, raw: status(504, "Timeout") }, "timeout"],
    [{ code: 403, raw: status(403, "Forbidden"), headers: { "content-length": "999" } }, "forbidden"],
  ]) {
    const answers = (_path, request) => {
      if (answer.headers) setTimeout(() => request.socket.destroy(), 50);
      return answer;
    };
    const { cache } = await serving(t, answers);
    await assert.rejects(cache.discover(), { name: "WatchCacheError", code }, JSON.stringify(answer));
  }
});

test("a date in Retry-After counts from the answer's own clock, and what is none is left out", async (t) => {
  const headers = { date: "Sun, 06 Nov 1994 08:49:37 GMT" };
  for (const [given, seconds] of [
    ["Sun, 06 Nov 1994 08:50:07 GMT", 30],
    ["Sun, 06 Nov 1994 08:49:37 GMT", undefined],
    ["soon", undefined],
    [" 5 ", 5],
  ]) {
    const { cache } = await serving(t, () => ({ code: 503, raw: "", headers: { ...headers, "retry-after": given } }));
    await assert.rejects(cache.discover(), (error) => {
      assert.deepEqual([error.code, error.retryable, error.retryAfterSeconds], ["unavailable", true, seconds], given);
      return true;
    });
  }
});

test("one of both roots is enough", async (t) => {
  const { cache } = await serving(t, { "/apis": ALL["/apis"] });
  assert.equal((await cache.discover()).find("deploy").name, "apps/v1/deployments");
});

test("groups that nobody may see are told of, and why no name is found in them", async (t) => {
  const refused = { code: 403, raw: JSON.stringify(forbidden) };
  for (const [hidden, group, name, missing, also] of [
    ["/api", "", "deploy", { kind: "Pod", group: "" }, /the core group: \/api: nobody may/],
    ["/apis", "*", "po", "deployments.apps", /any group but the core group: \/apis: nobody may/],
  ]) {
    const { cache } = await serving(t, { ...ALL, [hidden]: refused });
    const { failed, find } = await cache.discover();
    assert.deepEqual(
      failed.filter(({ group }) => group !== "metrics.k8s.io").map(({ group, version, error }) => [group, version, error.code]),
      [[group, undefined, "forbidden"]],
    );
    assert.ok(find(name));
    assert.throws(() => find(missing), coded("forbidden", also));
    assert.throws(() => find("strangers"), coded("not-found", /could not tell of (the core group|any group but the core group)/));
  }
});

test("a server that nobody hears of, a signal and the end of the cache each have their own error", async (t) => {
  const unheard = createWatchCache({ server: "http://127.0.0.1:1" });
  t.after(() => unheard.close());
  await assert.rejects(unheard.discover(), coded("network", /127\.0\.0\.1:1\/api got no answer/));
  let go;
  const waits = new Promise((resolve) => (go = resolve));
  const { cache } = await serving(t, ALL, { fetch: async (...request) => (await waits, fetch(...request)) });
  await assert.rejects(cache.discover({ signal: AbortSignal.abort() }), { name: "AbortError" });
  const abort = new AbortController();
  const [given, left] = [cache.discover({ signal: abort.signal }), cache.discover()];
  abort.abort();
  await assert.rejects(given, { name: "AbortError" });
  go();
  assert.equal((await left).find("po").name, "v1/pods", "others wait for the same answer");
  await assert.rejects(cache.discover({ refresh: 1 }), coded("invalid", /refresh is true or false/));
  const late = cache.discover({ refresh: true });
  await cache.close();
  await assert.rejects(late, coded("closed", /closed/));
  await assert.rejects(cache.discover(), coded("closed", /closed/));
});

test("a refusal whose meaning is not known before the WebAssembly is there ends with the cache all the same", async () => {
  const refused = async () => new Response("no", { status: 403, headers: { "content-type": "text/plain" } });
  let asked;
  const reached = new Promise((resolve) => (asked = resolve));
  const check = () => (asked(), new Promise(() => {}));
  const asker = new Asker({ base: () => "http://server", auth: undefined, fetch: refused, credentials: "omit", check });
  const answer = asker.ask({ path: "/api", accept: "application/json" });
  await reached;
  asker.close();
  await assert.rejects(answer, coded("closed", /closed/));
});

test("the end of the cache is heard whatever a host's fetch, its body or auth waits for", async () => {
  const never = () => new Promise(() => {});
  const silent = () => new Response(new ReadableStream({ pull: never }), { headers: { "content-type": "application/json" } });
  for (const [what, options] of Object.entries({
    fetch: { fetch: never },
    body: { fetch: async () => silent() },
    auth: { auth: never, fetch: never },
  })) {
    const cache = createWatchCache({ server: "http://h", ...options });
    const asked = [cache.discover(), cache.can({ verb: "get", path: "/" })];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await cache.close();
    for (const one of asked) await assert.rejects(one, coded("closed", /closed/), what);
  }
});

test("credentials go with each request, are asked anew after a 401, and stand in no message", async (t) => {
  let tokens = 0;
  const old = { code: 401, raw: "" };
  const answers = (path, { headers }) => (headers.authorization === "Bearer canary-1" ? old : ALL[path]);
  const { cache, asked } = await serving(t, answers, {
    auth: () => ({ token: `canary-${Math.min(++tokens, 3)}`, headers: { "impersonate-user": "jane" }, query: { key: "canary-q" } }),
  });
  await cache.discover();
  assert.ok(asked.every(({ search }) => search === "?key=canary-q"));
  const broken = createWatchCache({ server: "http://127.0.0.1:1", auth: () => ({ token: "canary\nx", query: { key: "canary" } }) });
  t.after(() => broken.close());
  await assert.rejects(
    broken.discover(),
    (error) => !/canary/.test(`${error.stack} ${error.message} ${error.cause}`) && error.code === "invalid",
  );
  const away = createWatchCache({ server: "http://127.0.0.1:1", auth: () => ({ token: "canary", query: { key: "canary" } }) });
  t.after(() => away.close());
  const quoting = createWatchCache({
    server: "http://127.0.0.1:1",
    auth: () => ({ query: { key: "canary" } }),
    fetch: async (url) => {
      throw new TypeError(`failed to fetch ${url}`);
    },
  });
  t.after(() => quoting.close());
  await assert.rejects(
    quoting.discover(),
    (error) => /failed to fetch/.test(error.message) && !/canary/.test(`${error.stack} ${error.message} ${error.cause}`),
  );
  await assert.rejects(
    away.discover(),
    (error) => !/canary/.test(`${error.stack} ${error.message} ${error.cause}`) && error.code === "network",
  );
});

test("headers of auth are sent in each form that the host takes", async (t) => {
  const pairs = [["authorization", "Bearer mine"]];
  for (const headers of [
    () => Object.fromEntries(pairs),
    () => pairs,
    () => new Headers(pairs),
    () => new Map(pairs),
    () => pairs.values(),
  ]) {
    const { cache, asked } = await serving(t, ALL, { auth: () => ({ headers: headers() }) });
    await cache.discover();
    assert.deepEqual(new Set(asked.map(({ authorization }) => authorization)), new Set(["Bearer mine"]));
  }
});
