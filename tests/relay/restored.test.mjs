// A server whose versions go back: restored from a backup, or for a moment a replica that is behind.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Api } from "../e2e/wire.mjs";
import { JANE, metricsOf, OWN, relayTo } from "./harness.mjs";

const PODS = "/api/v1/pods";
const OWN_LISTS = 'watchcache_relay_upstream_requests_total{verb="list"}';
const BY_RELAY = 'watchcache_relay_requests_total{by="relay",verb="list"}';

/** Pods at a version that a test may set, which the embedded server cannot: its versions only grow. Everybody may see them. */
class Server {
  version = 1_000;
  /** @type {Map<string, object>} */
  pods = new Map();
  /** What the relay's own lists are answered with in place of it: by a replica that is behind. @type {number | undefined} */
  behind;
  /** @type {Set<import("node:http").ServerResponse>} */
  #watches = new Set();
  #server = createServer((request, response) => this.#answer(request, response));

  /** @param {import("node:test").TestContext} t */
  static async start(t) {
    const server = new Server();
    await new Promise((resolve) => server.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    t.after(() => server.#stop());
    return server;
  }

  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.#server.address()).port}`;
  }

  /** Makes a pod at the next version. @param {string} name */
  add(name) {
    const metadata = { name, namespace: "default", uid: name, resourceVersion: String(++this.version) };
    this.pods.set(name, { metadata });
    const object = { kind: "Pod", apiVersion: "v1", metadata };
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: "ADDED", object })}\n`);
    return object;
  }

  /** All watches break, as where a server restarts. */
  cut() {
    for (const watch of this.#watches) watch.destroy();
  }

  #stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  #answer(request, response) {
    const { pathname, searchParams: query } = new URL(String(request.url), "http://server");
    const json = (/** @type {number} */ code, /** @type {object} */ document) =>
      response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(document));
    const isOwn = request.headers.authorization === `Bearer ${OWN}`;
    if (pathname.endsWith("/selfsubjectaccessreviews")) return json(201, { kind: "SelfSubjectAccessReview", status: { allowed: true } });
    if (pathname === "/api/v1") {
      const pods = { name: "pods", kind: "Pod", namespaced: true, verbs: ["list", "watch", "create"] };
      return json(200, { kind: "APIResourceList", resources: [pods] });
    }
    if (request.method === "POST") return json(201, this.add("written"));
    const version = (isOwn ? this.behind : undefined) ?? this.version;
    if (!query.has("watch"))
      return json(200, {
        kind: "PodList",
        apiVersion: "v1",
        metadata: { resourceVersion: String(version) },
        items: [...this.pods.values()],
      });
    // Of a version that it has not reached it knows nothing.
    if (Number(query.get("resourceVersion")) > version)
      return json(410, { kind: "Status", status: "Failure", reason: "Expired", code: 410, message: "too old" });
    response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    this.#watches.add(response);
    return response.on("close", () => this.#watches.delete(response));
  }
}

/** What a watch brings, and how it ends. @param {string} url @param {string} version */
async function watched(url, version) {
  const answer = await fetch(`${url}${PODS}?watch=1&resourceVersion=${version}`, { headers: { authorization: `Bearer ${JANE}` } });
  const events = /** @type {any[]} */ ([]);
  const watch = { status: answer.status, events, ended: false };
  const reading = async () => {
    let text = "";
    for await (const chunk of answer.body ?? []) {
      const lines = (text + Buffer.from(chunk)).split("\n");
      text = /** @type {string} */ (lines.pop());
      events.push(...lines.map((line) => JSON.parse(line)));
    }
  };
  reading()
    .catch(() => {})
    .finally(() => (watch.ended = true));
  return watch;
}

/** Waits until something holds that has to be asked for. @param {() => unknown} condition @param {string} what */
async function until(condition, what) {
  for (const deadline = Date.now() + 10_000; !(await condition()); await sleep(20))
    assert.ok(Date.now() < deadline, `Waited in vain for ${what}`);
}

/** @param {import("node:test").TestContext} t */
async function holding(t) {
  const warn = t.mock.method(console, "warn", () => {});
  const server = await Server.start(t);
  const relay = await relayTo(server.url);
  t.after(() => relay.close());
  const api = new Api(relay.url, JANE);
  await api.list(PODS);
  return { server, relay, api, metrics: () => metricsOf(relay.url), told: () => warn.mock.calls.map(({ arguments: [said] }) => said) };
}

const FROM_START = { resourceVersion: "0" };

test("a server that was restored to lower versions is held again after seconds, and served by itself until then", async (t) => {
  const { server, relay, api, metrics, told } = await holding(t);
  // Of a version that no list will come to any more.
  await api.create("/api/v1/namespaces/default/pods", { metadata: { name: "written" } });
  const version = async () => (await api.get(PODS, FROM_START)).body.metadata?.resourceVersion;
  await until(async () => (await version()) === "1001", "the write");
  const old = await watched(relay.url, "1001");
  [server.version, server.pods] = [5, new Map()];
  server.add("new");
  server.cut();
  await until(() => old.ended, "the end of what no event will come on");
  await until(async () => (await version()) === "6", "the server's own answer");
  const since = performance.now();
  await sleep(100);
  const before = (await metrics())[BY_RELAY];
  for (let i = 0; i < 5; i++) assert.equal(await version(), "6");
  assert.deepEqual([(await metrics())[BY_RELAY], told()], [before, []], "while it may be a replica that is behind");
  await until(async () => (await version()) === "6" && (await metrics())[BY_RELAY] > before, "what is held now");
  assert.ok(performance.now() - since > 2_000, "not at the first answer");
  const again = await watched(relay.url, "1001");
  await until(() => again.ended, "the end of a watch from before");
  assert.deepEqual([again.status, again.events.map(({ type, object }) => [type, object.code])], [200, [["ERROR", 410]]]);
  const [lists, asked] = [(await metrics())[OWN_LISTS], performance.now()];
  assert.equal((await api.list(PODS)).metadata.resourceVersion, "6");
  assert.ok(performance.now() - asked < 1_000, "no list waits for what was written before");
  const watch = await watched(relay.url, "6");
  server.add("next");
  await until(() => watch.events.length === 1, "an event");
  assert.deepEqual([(await metrics())[OWN_LISTS], told().length], [lists, 1], "once");
  assert.match(told()[0], /v1\/pods is listed anew, .* restored: .* version 6, which is older than version 1001 seen before$/);
});

test("a replica that is behind for a moment is no server that was restored, and lists are the server's meanwhile", async (t) => {
  const { server, api, metrics, told } = await holding(t);
  const lists = async () => (await metrics())[OWN_LISTS];
  server.behind = 990;
  server.cut();
  await until(async () => (await lists()) > 2, "more than one list that is older");
  server.add("meanwhile");
  const [before, since] = [(await metrics())[BY_RELAY], performance.now()];
  assert.equal((await api.get(PODS, FROM_START)).body.metadata?.resourceVersion, "1001");
  assert.ok(performance.now() - since < 1_000, "nobody waits");
  assert.equal((await metrics())[BY_RELAY], before);
  server.behind = undefined;
  await until(async () => (await api.list(PODS)).items.length === 1 && (await metrics())[BY_RELAY] > before, "what is held");
  assert.deepEqual(told(), []);
});
