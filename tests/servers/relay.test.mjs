/**
 * `watchcache serve` before a real kube-apiserver with RBAC: who sees what, what one stream serves, and how real clients take it.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { createServer } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { after, before, describe, it } from "node:test";
import { CoreV1Api, KubeConfig, makeInformer } from "@kubernetes/client-node";
import { createWatchCache } from "watchcache";
import { eventually } from "../e2e/cache.mjs";
import { Api, concurrently } from "../e2e/wire.mjs";
import { RelayProcess } from "../relay/command.mjs";
import { clientGo, newestKubectl } from "./clients/programs.mjs";
import { Cluster } from "./harness/cluster.mjs";
import { Proxy } from "./harness/proxy.mjs";

/** So often open watches are asked about, in seconds. */
const REVIEW = 1;

/** @type {Cluster} */
let cluster;
/** @type {RelayProcess} */
let relay;
/** Another replica. @type {RelayProcess} */
let other;
/** One that speaks HTTPS: kubectl gives no token to another. @type {RelayProcess} */
let secure;
/** @type {Api} */
let admin;

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** Gives rights. @param {string} name @param {string} user @param {object[]} rules @param {string} [namespace] none: everywhere */
async function grant(name, user, rules, namespace) {
  const [scope, kind] = namespace ? [`${RBAC}/namespaces/${namespace}/`, ""] : [`${RBAC}/`, "Cluster"];
  const path = (/** @type {string} */ what) => `${scope}${kind.toLowerCase()}${what}`;
  await admin.create(path("roles"), { metadata: { name }, rules });
  await admin.create(path("rolebindings"), {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: `${kind}Role`, name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  });
  return () => admin.delete(`${path("rolebindings")}/${name}`);
}

const reads = (/** @type {string} */ resource, more = {}) => [
  { apiGroups: [""], resources: [resource], verbs: ["get", "list", "watch"], ...more },
];

/** @param {RelayProcess} of @param {string} [user] none: nobody says who they are */
const as = (of, user) => new Api(of.url, user === undefined ? undefined : (tokens()[user] ?? "a token of nobody"));
const tokens = () => /** @type {Record<string, string>} */ ({ ...cluster.tokens, ...cluster.others });
/** The server itself. @param {string} [user] */
const direct = (user) => new Api(cluster.url, as(relay, user).token);

const pod = (/** @type {string} */ name) => ({
  metadata: { name },
  spec: { nodeName: "n", containers: [{ name: "main", image: "registry.invalid/app:1" }] },
});
const map = (/** @type {string} */ name, data = {}) => ({ metadata: { name }, data });

/** What the server counts of a resource. @param {string} series its beginning @param {string[]} parts */
async function counted(series, ...parts) {
  const { text } = await admin.request("GET", "/metrics");
  const lines = text.split("\n").filter((line) => line.startsWith(`${series}{`) && parts.every((part) => line.includes(part)));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

/** Lists that the relay has answered itself. */
const held = async () => (await relay.metrics())['watchcache_relay_requests_total{by="relay",verb="list"}'] ?? 0;

/** @param {() => Promise<unknown>} condition @param {string} what */
async function until(condition, what) {
  for (const deadline = Date.now() + 15_000; !(await condition()); await sleep(20))
    assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
}

/** @param {string} path @param {string} user @param {readonly string[]} args */
async function kubectl(path, user, args, { stopAt = /(?!)/ } = {}) {
  const env = { PATH: process.env.PATH, HOME: cluster.dir, KUBECONFIG: join(cluster.dir, `${user}.json`) };
  const context = { name: "it", context: { cluster: "it", user } };
  const config = {
    "current-context": "it",
    contexts: [context],
    clusters: [{ name: "it", cluster: { server: secure.url, "insecure-skip-tls-verify": true } }],
    users: [{ name: user, user: { token: as(relay, user).token } }],
  };
  writeFileSync(env.KUBECONFIG, JSON.stringify({ apiVersion: "v1", kind: "Config", ...config }));
  const child = spawn(path, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const late = setTimeout(() => child.kill("SIGKILL"), 20_000);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (data) => {
    out += data;
    if (stopAt.test(out)) child.kill("SIGTERM");
  });
  child.stderr.setEncoding("utf8").on("data", (data) => (err += data));
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(late);
  return { code, out, err };
}

describe("watchcache serve before kube-apiserver", () => {
  before(async () => {
    cluster = await Cluster.start({ users: ["relay", "alice", "bob"] });
    admin = new Api(cluster.url, cluster.tokens.admin);
    for (const name of ["a", "b"]) await admin.create("/api/v1/namespaces", { metadata: { name } });
    // All that a relay needs: what it is to hold, and who serves a group.
    await grant("relay", "relay", [
      { apiGroups: ["", "example.com"], resources: ["pods", "configmaps", "widgets"], verbs: ["list", "watch"] },
      { apiGroups: ["apiregistration.k8s.io"], resources: ["apiservices"], verbs: ["get"] },
    ]);
    await grant("alice", "alice", reads("pods"), "a");
    await grant("bob", "bob", reads("configmaps", { resourceNames: ["bobs"] }), "a");
    writeFileSync(join(cluster.dir, "relay.token"), `${cluster.others.relay}\n`);
    writeFileSync(join(cluster.dir, "ca.crt"), cluster.certificate);
    const args = [
      "--server",
      cluster.secureUrl,
      "--token-file",
      join(cluster.dir, "relay.token"),
      "--review-seconds",
      String(REVIEW),
      "--drain-seconds",
      "1",
    ];
    const env = { NODE_EXTRA_CA_CERTS: join(cluster.dir, "ca.crt") };
    const tls = ["crt", "key"].map((end, at) => [`--tls-${["cert", "key"][at]}`, join(cluster.dir, "certs", `apiserver.${end}`)]).flat();
    [relay, other, secure] = await Promise.all([args, args, [...args, ...tls]].map((args) => RelayProcess.start(args, env)));
  });
  after(async () => {
    await Promise.all([relay, other, secure].map((process) => process?.kill()));
    await cluster?.stop();
  });

  it("says that it is ready, and passes on what the server says of itself", async () => {
    assert.equal((await as(relay).get("/-/readyz")).text, "ok\n");
    assert.equal((await as(relay).get("/-/livez")).status, 200);
    assert.equal((await as(relay, "admin").get("/version")).text, (await direct("admin").get("/version")).text);
  });

  it("serves twenty caches, an informer of client-node and plain watches from one list and one watch", async () => {
    const count = async () => [
      await counted("apiserver_request_total", 'resource="pods"', 'verb="LIST"', 'code="200"'),
      // The server has one of its own.
      await counted("apiserver_longrunning_requests", 'resource="pods"', 'verb="WATCH"'),
    ];
    const [lists, watches] = await count();
    const pods = "/api/v1/namespaces/a/pods";
    await concurrently(12, (i) => admin.create(pods, pod(`one-${i}`)));
    const { metadata } = await as(relay, "admin").list("/api/v1/pods");
    const caches = Array.from({ length: 20 }, () =>
      createWatchCache({ server: relay.url, auth: () => ({ token: cluster.tokens.admin }), pageSize: 5 }),
    );
    const config = new KubeConfig();
    config.loadFromOptions({
      clusters: [{ name: "it", server: relay.url, skipTLSVerify: true }],
      users: [{ name: "alice", token: cluster.others.alice }],
      contexts: [{ name: "it", cluster: "it", user: "alice" }],
      currentContext: "it",
    });
    const api = config.makeApiClient(CoreV1Api);
    const informer = makeInformer(config, pods, () => api.listNamespacedPod({ namespace: "a" }));
    try {
      const opened = caches.map((cache) => cache.resource({ version: "v1", resource: "pods", namespace: "a" }));
      for (const resource of opened) resource.view().subscribe(() => {});
      await informer.start();
      await eventually(() => opened.every(({ size, status }) => size === 12 && status.phase === "live"), "all caches live");
      const watch = as(relay, "admin").watch("/api/v1/pods", { resourceVersion: metadata.resourceVersion });
      await watch.opened();
      await admin.create(pods, pod("late"));
      await eventually(() => opened.every((resource) => resource.peek("a/late")) && informer.get("late", "a"), "the event, everywhere");
      assert.equal((await watch.event(({ type }) => type === "ADDED", "its event")).object.kind, "Pod");
      assert.deepEqual(await count(), [lists + 1, watches + 1]);
      assert.deepEqual(opened[0].peek("a/late").metadata.uid, (await admin.get(`${pods}/late`)).body.metadata.uid);
      watch.stop();
    } finally {
      await informer.stop();
      await Promise.all(caches.map((cache) => cache.close()));
    }
  });

  it("answers who may not as the server does, whatever is held, and whoever asked before", async () => {
    await as(relay, "admin").list("/api/v1/pods");
    await admin.create("/api/v1/namespaces/a/configmaps", map("bobs"));
    const asked = [
      ["alice", "/api/v1/namespaces/a/pods", 200],
      ["alice", "/api/v1/namespaces/b/pods", 403],
      ["alice", "/api/v1/pods", 403],
      ["alice", "/api/v1/pods?fieldSelector=metadata.namespace%3Da", 403],
      ["alice", "/api/v1/namespaces/a/configmaps", 403],
      ["bob", "/api/v1/namespaces/a/pods", 403],
      ["bob", "/api/v1/namespaces/a/configmaps", 403],
      ["bob", "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Dbobs", 200],
      ["bob", "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Dkube-root-ca.crt", 403],
      ["bob", "/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name!%3Dbobs", 403],
      ["stranger", "/api/v1/namespaces/a/pods", 401],
      [undefined, "/api/v1/namespaces/a/pods", 403],
    ];
    for (const [user, path, status] of /** @type {[string | undefined, string, number][]} */ (asked)) {
      const [plain = "", text = ""] = path.split("?");
      const query = Object.fromEntries(new URLSearchParams(text));
      const before = await held();
      const [ours, theirs] = [await as(relay, user).get(plain, query), await direct(user).get(plain, query)];
      assert.equal((await held()) - before, status === 200 ? 1 : 0, "who may is answered by the relay, and nobody else");
      assert.deepEqual([ours.status, theirs.status], [status, status], `${user} ${path}: ${ours.text}`);
      if (status !== 200) assert.deepEqual(ours.body, theirs.body, path);
      else assert.deepEqual(ours.body.items, theirs.body.items, path);
      const watch = as(relay, user).watch(plain, query, user ? {} : { protocols: [] });
      if (status === 200) (await watch.opened()).stop();
      else assert.equal((await watch.refusal()).status, status, `a watch of ${user} ${path}`);
    }
  });

  it("leaves to the server what the relay itself may not see", async () => {
    const before = await held();
    await admin.create("/api/v1/namespaces/a/secrets", { metadata: { name: "mine" } });
    const path = "/api/v1/secrets";
    assert.deepEqual((await as(relay, "admin").list(path)).items, (await admin.list(path)).items);
    const watch = await as(relay, "admin").watch(path, { resourceVersion: "0" }).opened();
    await watch.event(({ object }) => object.metadata.name === "mine", "the secret");
    watch.stop();
    assert.equal((await as(relay, "alice").get(path)).status, 403);
    assert.equal(await held(), before);
    assert.equal(
      relay.said.match(/^watchcache: v1\/secrets is not held, and served by the server: .*User "relay" cannot list/gm)?.length,
      1,
      relay.said,
    );
  });

  it("holds nothing of a group whose server it may not know, and says what it lacks", async () => {
    const args = ["--server", cluster.secureUrl, "--token", cluster.others.bob];
    const poor = await RelayProcess.start(args, { NODE_EXTRA_CA_CERTS: join(cluster.dir, "ca.crt") });
    try {
      for (let i = 0; i < 2; i++) assert.deepEqual((await as(poor, "admin").list("/apis/apps/v1/deployments")).items, []);
      assert.equal((await poor.metrics())['watchcache_relay_requests_total{by="server",verb="list"}'], 2);
      assert.match(
        poor.said,
        /^watchcache: the server refuses the relay .*\/apiservices\/v1\.apps \(403\), .* it needs the verb get on apiservices$/m,
      );
    } finally {
      await poor.kill();
    }
  });

  it("asks as whom the caller impersonates, in all of its groups", async () => {
    const headers = { "impersonate-user": "alice" };
    const path = "/api/v1/namespaces/a/pods";
    assert.equal((await as(relay, "admin").request("GET", path, { headers })).status, 200);
    const refused = await as(relay, "admin").request("GET", "/api/v1/pods", { headers });
    assert.deepEqual(
      [refused.status, refused.body.message],
      [403, 'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope'],
    );
    // Who may not impersonate is nobody else here either.
    assert.equal((await as(relay, "bob").request("GET", path, { headers })).status, 403);
    // What a trusted proxy would say is not a caller's to say.
    assert.equal(
      (await as(relay).request("GET", path, { headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" } })).status,
      403,
    );
  });

  it("ends an open watch when its right is withdrawn, and leaves the others", async () => {
    const withdraw = await grant("bob-pods", "bob", reads("pods"), "b");
    const path = "/api/v1/namespaces/b/pods";
    await until(async () => (await as(relay, "bob").get(path)).status === 200, "the right");
    await sleep(100);
    const [bobs, theirs] = await Promise.all(
      ["bob", "admin"].map((user) => as(relay, user).watch(path, { resourceVersion: "0" }).opened()),
    );
    await sleep(1_500 * REVIEW);
    assert.equal(bobs.end, undefined, "it is asked anew, and goes on");
    await withdraw();
    const since = Date.now();
    assert.equal((await bobs.closed()).code, 1000);
    assert.ok(Date.now() - since < 5_000 * REVIEW);
    await admin.create(path, pod("secret"));
    await theirs.event(({ object }) => object.metadata.name === "secret", "the event of who still may");
    assert.ok(!bobs.summary().includes("secret"));
    // The last answer is kept for some seconds at most.
    await until(async () => (await as(relay, "bob").get(path)).status === 403, "the refusal");
    theirs.stop();
  });

  it("goes on at another replica, from the version of the first", async () => {
    const path = "/api/v1/namespaces/a/pods";
    // Both hold it: what the second one has not seen it cannot tell.
    await as(other, "alice").list(path);
    const { metadata } = await as(relay, "alice").list(path);
    const first = await as(relay, "alice").watch(path, { resourceVersion: metadata.resourceVersion }).opened();
    await admin.create(path, pod("before"));
    await first.count(1);
    const version = first.events[0].object.metadata.resourceVersion;
    first.stop();
    await admin.create(path, pod("between"));
    const second = await as(other, "alice").watch(path, { resourceVersion: version }).opened();
    await admin.create(path, pod("behind"));
    await second.count(2);
    assert.deepEqual(
      second.events.map(({ type, object }) => `${type} ${object.metadata.name}`),
      ["ADDED between", "ADDED behind"],
    );
    second.stop();
    const pages = await as(relay, "alice").list(path, { limit: 4 });
    const rest = await as(other, "alice").list(path, { limit: 500, continue: pages.metadata.continue });
    assert.equal(pages.items.length + rest.items.length, (await admin.list(path)).items.length);
  });

  it("holds custom resources, which lists and watches show as the server does", async () => {
    const plural = "widgets";
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await admin.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural, singular: "widget", kind: "Widget" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const path = `/apis/example.com/v1/namespaces/a/${plural}`;
    await until(async () => (await admin.get(path)).status === 200, "the new resource");
    await admin.create(path, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "one" } });
    await until(async () => {
      const before = await held();
      const { body } = await as(relay, "admin").get(path);
      return body.kind === "WidgetList" && (await held()) > before && body;
    }, "a list from what is held");
    assert.deepEqual((await as(relay, "admin").list(path)).items, (await admin.list(path)).items);
    const watch = await as(relay, "admin").watch(path, { resourceVersion: "0" }).opened();
    await watch.count(1);
    await admin.patch(`${path}/one`, { size: 1 });
    await watch.count(2);
    const theirs = await admin.watch(path, { resourceVersion: "0" }).opened();
    await theirs.count(1);
    assert.deepEqual(
      [watch.events[1].object, Object.keys(watch.events[0].object)],
      [theirs.events[0].object, Object.keys(theirs.events[0].object).filter((name) => name !== "size")],
    );
    theirs.stop();
    // What is no more is no more here either, and who watches it is told by the end.
    await admin.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.example.com`);
    await watch.closed();
    await until(async () => (await as(relay, "admin").get(path)).status === 404, "404");
  });

  it("holds nothing that another server behind the API serves: each caller is shown their own", async () => {
    const api = { kind: "APIResourceList", apiVersion: "v1", groupVersion: "own.example.com/v1" };
    const things = { name: "things", singularName: "thing", kind: "Thing", namespaced: false, verbs: ["get", "list", "watch"] };
    const behind = createServer(
      { cert: cluster.certificate, key: readFileSync(join(cluster.dir, "certs", "apiserver.key")) },
      (request, response) => {
        const items = [{ metadata: { name: request.headers["x-remote-user"], resourceVersion: "1" } }];
        const list = { kind: "ThingList", apiVersion: api.groupVersion, metadata: { resourceVersion: "1" }, items };
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(request.url?.includes("/things") ? list : { ...api, resources: [things] }));
      },
    );
    await new Promise((resolve) => behind.listen(0, "127.0.0.1", () => resolve(undefined)));
    try {
      const { port } = /** @type {import("node:net").AddressInfo} */ (behind.address());
      await admin.create("/api/v1/namespaces/a/services", {
        metadata: { name: "behind" },
        spec: { type: "ExternalName", externalName: "localhost" },
      });
      await admin.create("/apis/apiregistration.k8s.io/v1/apiservices", {
        metadata: { name: "v1.own.example.com" },
        spec: {
          group: "own.example.com",
          version: "v1",
          service: { namespace: "a", name: "behind", port },
          groupPriorityMinimum: 100,
          versionPriority: 100,
          insecureSkipTLSVerify: true,
        },
      });
      const rules = [{ apiGroups: ["own.example.com"], resources: ["things"], verbs: ["list", "watch"] }];
      for (const user of ["alice", "bob", "relay"]) await grant(`${user}-things`, user, rules);
      const path = "/apis/own.example.com/v1/things";
      await until(async () => (await direct("alice").get(path)).status === 200, "the other server");
      for (const user of ["alice", "bob", "alice"])
        assert.deepEqual(
          (await as(relay, user).list(path)).items.map(({ metadata }) => metadata.name),
          [user],
        );
    } finally {
      behind.closeAllConnections();
      await new Promise((resolve) => behind.close(resolve));
    }
  });

  it("feeds an informer of client-go, which would take protobuf and asks for its state as events", async () => {
    // A client of Go sends no token over plain HTTP.
    const front = await Proxy.start({
      upstream: relay.url,
      serve(request) {
        request.headers.authorization = `Bearer ${cluster.tokens.admin}`;
        return false;
      },
    });
    const path = "/api/v1/namespaces/b/configmaps";
    await admin.create(path, map("first", { n: "1" }));
    const before = await relay.metrics();
    const child = spawn(await clientGo(), [front.url, "b"], { stdio: ["pipe", "pipe", "inherit"] });
    try {
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
      await until(async () => said.includes("SYNCED"), "the informer");
      await admin.patch(`${path}/first`, { data: { n: "2" } });
      await until(async () => said.includes("MODIFIED first=2"), "the change");
      await admin.delete(`${path}/first`);
      await until(async () => said.includes("DELETED first=2"), "the deletion");
      assert.match(said, /^ADDED first=1$/m);
      assert.doesNotMatch(said, /ERROR/);
      const watches = 'watchcache_relay_requests_total{by="relay",verb="watch"}';
      assert.ok((await relay.metrics())[watches] > before[watches], "from what is held");
    } finally {
      child.kill("SIGKILL");
      await front.close();
    }
  });

  it("passes kubectl's tables and writes on, and answers its JSON", async () => {
    const path = await newestKubectl();
    const run = (/** @type {string[]} */ ...args) => kubectl(path, "admin", args);
    assert.match((await run("create", "configmap", "made", "-n", "b", "--from-literal=a=1")).out, /^configmap\/made created/);
    assert.match((await run("get", "configmaps", "-n", "b")).out, /^NAME +DATA +AGE\n/);
    const { items } = JSON.parse((await run("get", "configmaps", "-n", "b", "-o", "json")).out);
    assert.ok(items.some((/** @type {any} */ item) => item.metadata.name === "made" && item.kind === "ConfigMap" && item.data.a === "1"));
    const watched = kubectl(path, "admin", ["get", "configmaps", "-n", "b", "-w", "-o", "name"], { stopAt: /second/ });
    await sleep(500);
    await run("create", "configmap", "second", "-n", "b");
    assert.match((await watched).out, /configmap\/second/);
    assert.match((await run("delete", "configmap", "made", "-n", "b")).out, /deleted/);
    const refused = await kubectl(path, "alice", ["get", "pods", "-A"]);
    assert.match(refused.err, /User "alice" cannot list resource "pods" in API group "" at the cluster scope/);
    assert.match((await kubectl(path, "alice", ["get", "pods", "-n", "a"])).out, /^NAME +READY/);
  });

  it("speaks HTTP/2 where it has a certificate: many watches over one connection, bodies without a length, and an end in good order", async () => {
    const session = connect(secure.url, { rejectUnauthorized: false });
    const authorization = `Bearer ${cluster.tokens.admin}`;
    const path = "/api/v1/namespaces/b/configmaps";
    /** @param {string} method @param {string} path @param {object} [body] */
    const ask = (method, path, body) => {
      const stream = session.request(
        { ":method": method, ":path": path, authorization, ...(body ? { "content-type": "application/json" } : {}) },
        { endStream: !body },
      );
      if (body) {
        const text = JSON.stringify(body);
        stream.write(text.slice(0, 5));
        stream.end(text.slice(5));
      }
      const it = { stream, said: "", status: 0, ended: new Promise((resolve) => stream.on("end", () => resolve(undefined))) };
      stream.on("response", (headers) => (it.status = Number(headers[":status"])));
      stream.setEncoding("utf8").on("data", (text) => (it.said += text));
      return it;
    };
    const whole = async (/** @type {ReturnType<typeof ask>} */ it) => {
      await it.ended;
      return [it.status, JSON.parse(it.said)];
    };
    const [status, list] = await whole(ask("GET", path));
    assert.equal(status, 200);
    const watches = Array.from({ length: 20 }, () => ask("GET", `${path}?watch=1&resourceVersion=${list.metadata.resourceVersion}`));
    assert.equal((await whole(ask("POST", path, map("second-to-none"))))[0], 201);
    await until(async () => watches.every(({ said }) => said.includes("second-to-none")), "the event in each watch");
    assert.equal((await whole(ask("DELETE", `${path}/second-to-none`, { propagationPolicy: "Foreground" })))[1].kind, "ConfigMap");
    assert.deepEqual((await whole(ask("GET", "/api/v1/nothing")))[1], (await direct("admin").get("/api/v1/nothing")).body);
    assert.equal(JSON.parse(watches[0].said.split("\n")[0]).object.kind, "ConfigMap");
    await concurrently(40, (i) => admin.create(path, map(`large-${i}`, { text: "x".repeat(5_000) })));
    const packed = session.request({ ":path": path, authorization, "accept-encoding": "gzip" });
    const chunks = [];
    for await (const chunk of packed) chunks.push(chunk);
    assert.ok(JSON.parse(gunzipSync(Buffer.concat(chunks)).toString()).items.length > 40);
    const gone = new Promise((resolve) => session.once("close", () => resolve(undefined)));
    const since = Date.now();
    secure.child.kill("SIGTERM");
    await Promise.all(watches.map(({ ended }) => ended));
    for (const { said } of watches) assert.ok(said.endsWith("}\n"), "no half of an event");
    await gone;
    assert.deepEqual(await secure.ended, [0, null]);
    assert.ok(Date.now() - since < 4_000, "the connection is told to end, and not waited for");
    assert.equal(
      secure.said
        .split("\n")
        .filter((line) => !/^(watchcache: |$)/.test(line))
        .join("\n"),
      "",
    );
  });

  it("after SIGTERM ends watches in good order, is not ready, and leaves with 0", async () => {
    const path = "/api/v1/namespaces/a/pods";
    const watches = await Promise.all(Array.from({ length: 4 }, () => as(other, "alice").watch(path, { resourceVersion: "0" }).opened()));
    other.child.kill("SIGTERM");
    await eventually(
      async () =>
        (
          await as(other)
            .get("/-/readyz")
            .catch(() => ({ status: 503 }))
        ).status === 503,
      "not ready",
    );
    assert.deepEqual(await Promise.all(watches.map(async (watch) => (await watch.closed()).code)), [1000, 1000, 1000, 1000]);
    assert.deepEqual(await other.ended, [0, null]);
    for (const secret of [...Object.values(cluster.others), cluster.tokens.admin])
      assert.ok(!`${relay.said}${other.said}`.includes(secret));
  });
});
