/**
 * Requests that go wrong. Selectors have a typo, tokens and paths are wrong, servers are something else or not there. Each is told with its
 * code, and ends when its cause ends.
 */
import assert from "node:assert/strict";
import { createServer as createTcpServer } from "node:net";
import { describe, test } from "node:test";
import { WatchCacheError, createWatchCache } from "../../dist/node.js";
import { startServer } from "../../www/server/index.mjs";
import { pod } from "../js/lib/pod.mjs";
import { Witness, assertHolds, hasSaidSomething, live, open, plain, rejection, socketOf } from "./bad-input.mjs";
import { assertIntegrity, eventually } from "./cache.mjs";
import { Api } from "./wire.mjs";

const TOKEN = "a-token-that-nobody-may-read";
const TRANSPORTS = /** @type {const} */ (["websocket", "fetch"]);

/** A server of real pods behind a token. @param {import("node:test").TestContext} t */
async function guarded(t) {
  const server = await startServer({ port: 0, pods: 20, rate: 0, tokens: [TOKEN] });
  t.after(() => server.close());
  return { server, api: new Api(server.url, TOKEN), pods: "/api/v1/pods" };
}

/** Creates one more pod. @param {Api} api */
async function writeTo(api) {
  const names = (await api.list("/api/v1/namespaces/default/pods")).items.map(({ metadata }) => metadata.name);
  const name = `written-${names.filter((other) => other?.startsWith("written-")).length}`;
  await api.create("/api/v1/namespaces/default/pods", { metadata: { name }, spec: { containers: [{ name: "main", image: "example" }] } });
}

describe("selectors with a typo", () => {
  const TYPOS = /** @type {const} */ ([
    [{ labelSelector: "app in (web" }, /app in \(web|found ''/],
    [{ labelSelector: "app=web,," }, /found ','/],
    [{ labelSelector: "app==web==db" }, /found '=='|==/],
    [{ labelSelector: "-app" }, /-app/],
    [{ labelSelector: `app=${"x".repeat(64)}` }, /no more than 63/],
    [{ fieldSelector: "status.phase" }, /status\.phase/],
    [{ fieldSelector: "spec.nodeName=a\\b" }, /a\\b|escape/],
  ]);

  test("are told where they are used, and disturb nobody else", async (t) => {
    const server = await plain(t);
    const pods = open(t, server.url);
    await pods.synced();
    await live(pods);
    const witness = new Witness(pods);
    const seen = witness.watch();
    for (const [selector, words] of TYPOS) {
      await rejection(pods.list(selector), "invalid", words);
      for (const use of [() => pods.view(selector), () => pods.watch(selector)]) {
        assert.throws(use, (error) => error instanceof WatchCacheError && error.code === "invalid" && words.test(error.message));
      }
    }
    await rejection(pods.list({ resourceVersion: "newest" }), "invalid", /newest/);
    assert.throws(() => pods.view({ orderBy: [{ path: "metadata..name" }] }), { code: "invalid" });
    assert.throws(() => pods.view({ groupBy: "status.conditions[?(" }), { code: "invalid" });
    assert.equal(pods.status.error, undefined);
    server.upstream.put(pod("default/new"));
    await seen.count(1);
    assert.equal(seen.events[0].key, "default/new");
    await seen.stop();
    await assertHolds(pods, server);
    witness.assertUnharmed();
  });

  test("of the resource itself are told where it is named; a field that the server does not select by is refused by it", async (t) => {
    const { server } = await guarded(t);
    for (const transport of TRANSPORTS) {
      const wrong = { version: "v1", resource: "pods", labelSelector: "app in (web" };
      const named = () => open(t, server.url, { transport }, wrong);
      assert.throws(named, (error) => error instanceof WatchCacheError && /unable to parse requirement/.test(error.message));
      const spec = { version: "v1", resource: "pods", fieldSelector: "spec.foo=1" };
      const pods = open(t, server.url, { transport, auth: () => ({ token: TOKEN }) }, spec);
      const error = await rejection(pods.synced(), "invalid", /field label not supported/);
      assert.equal(error.status?.code, 400);
      assert.equal(pods.status.phase, "failed");
      assert.equal(typeof pods.status.retryAt, "number");
    }
  });

  test("names of resources and options that are none are told at once", (t) => {
    const cache = createWatchCache({ server: "http://127.0.0.1:1" });
    t.after(() => cache.close());
    for (const [spec, words] of /** @type {const} */ ([
      ["Pods", /"Pods" is no resource/],
      ["apps/deployments", /lacks the version/],
      ["apps/v1/deployments/web", /is no resource/],
      ["", /is no resource/],
      [{ version: "1", resource: "pods" }, /"1" is no API version/],
      [{ version: "v1", resource: "pods", namespace: "../kube-system" }, /is no namespace/],
      [{ version: "v1", resource: "pods", labelSelector: { app: "web" } }, /labelSelector is text/],
      [null, /named by text or by an object/],
      [{ source: {}, id: "x" }, /methods list and watch/],
      [{ source: { list() {}, watch() {} } }, /needs an id/],
    ])) {
      assert.throws(
        () => cache.resource(/** @type {any} */ (spec)),
        (error) => error instanceof WatchCacheError && error.code === "invalid" && words.test(error.message),
      );
    }
    for (const [options, words] of /** @type {const} */ ([
      [{ transport: "carrier-pigeon" }, /transport is one of auto, websocket, fetch/],
      [{ pageSize: 0.5 }, /pageSize is a whole number/],
      [{ retry: { factor: 0 } }, /retry.factor is a number from 1 to 100/],
      [{ auth: "token" }, /auth is a function/],
      [{ idleTimeout: Number.NaN }, /idleTimeout is a number/],
    ])) {
      assert.throws(
        () => createWatchCache(/** @type {any} */ (options)),
        (error) => error instanceof WatchCacheError && error.code === "invalid" && words.test(error.message),
      );
    }
  });
});

describe("wrong tokens", () => {
  for (const transport of TRANSPORTS) {
    test(`over ${transport}: needs-auth, and a right one heals it`, async (t) => {
      const { server, api, pods: path } = await guarded(t);
      let token = "a-token-of-yesterday";
      let asked = 0;
      const pods = open(t, server.url, { transport, auth: () => (asked++, { token }) });
      const error = await rejection(pods.synced(), "unauthorized", /Unauthorized/);
      assert.equal(error.status?.code, 401);
      assert.ok(!JSON.stringify([error, error.message, pods.status]).includes(token), "no token is told");
      assert.equal(pods.status.phase, "needs-auth");
      assert.ok(asked >= 2, "auth was asked again before anybody was bothered");
      token = TOKEN;
      await live(pods);
      await assertIntegrity(pods, api, path);
    });

    test(`over ${transport}, that was right before: what is held stays`, async (t) => {
      const { server, api, pods: path } = await guarded(t);
      const token = { now: TOKEN };
      const pods = open(t, server.url, { transport, auth: () => ({ token: token.now }) });
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods);
      const seen = witness.watch();
      await hasSaidSomething(pods, () => writeTo(api));
      token.now = "revoked";
      server.control.fault("drop");
      // After the first refusal the cache asks for another token. Only after the second somebody has to sign in.
      const { error, retryAt } = await eventually(() => pods.status.phase === "needs-auth" && pods.status, "needs-auth");
      assert.equal(error.code, "unauthorized");
      assert.match(error.message, /Unauthorized/);
      assert.equal(typeof retryAt, "number");
      assert.equal(pods.status.stale, true);
      witness.look();
      token.now = TOKEN;
      await live(pods);
      await assertIntegrity(pods, api, path);
      assert.ok(!seen.ended || (await seen.watcher.ended).reason === "relist");
      await seen.stop();
      assert.deepEqual(
        seen.events.map(({ type, key }) => `${type} ${key}`),
        ["ADDED default/written-0"],
      );
      witness.assertUnharmed();
    });
  }
});

describe("wrong paths and servers", () => {
  for (const transport of TRANSPORTS) {
    test(`a resource that is not there, over ${transport}`, async (t) => {
      const { server } = await guarded(t);
      const auth = () => ({ token: TOKEN });
      for (const [spec, words] of /** @type {const} */ ([
        ["v1/nonesuch", /could not find the requested resource/],
        ["nonesuch.example.com/v1/things", /404 page not found|could not find/],
        ["apps/v9/deployments", /404 page not found|could not find/],
      ])) {
        const error = await rejection(open(t, server.url, { transport, auth }, spec).synced(), "not-found", words);
        assert.equal(error.status?.code, 404);
      }
    });

    test(`a page that answers every address, over ${transport}: protocol, and it recovers when the API is back`, async (t) => {
      const { server, api, pods: path } = await guarded(t);
      const pods = open(t, server.url, { transport, auth: () => ({ token: TOKEN }) });
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods);
      for (const [code, expected, words] of /** @type {const} */ ([
        [200, "protocol", /HTTP 200 with content type text\/html is no answer of a Kubernetes API/],
        [502, "unavailable", /HTTP 502, answered with text\/html instead of a Status/],
      ])) {
        await hasSaidSomething(pods, () => writeTo(api));
        await witness.suffers(
          () => {
            server.control.fault("htmlErrorPage", { on: "all", code });
            server.control.fault("drop");
          },
          { code: expected, words },
        );
        await eventually(() => pods.status.attempt >= 2, "another try");
        witness.look();
        server.control.fault("clear");
        await live(pods);
        await assertIntegrity(pods, api, path);
      }
      witness.assertUnharmed();
    });

    test(`a server behind a prefix, over ${transport}`, async (t) => {
      const server = await plain(t, { prefix: "/clusters/green" });
      for (const slash of ["", "/", "//"]) {
        const pods = open(t, server.url + slash, { transport });
        await pods.synced();
        await live(pods);
        server.upstream.put(pod(`default/after${slash.length}`));
        await assertHolds(pods, server);
        pods.close();
      }
      await rejection(open(t, new URL(server.url).origin, { transport }).synced(), "not-found", /HTTP 404: 404 page not found/);
    });
  }

  test("an address that is none", async (t) => {
    for (const [server, words] of /** @type {const} */ ([
      ["ftp://127.0.0.1", /URL of http or https, not of ftp:/],
      ["localhost:8001", /URL of http or https, not of localhost:/],
      ["http://user:secret@127.0.0.1", /holds credentials/],
      ["http://127.0.0.1?token=secret", /no query and no fragment/],
    ])) {
      assert.throws(
        () => createWatchCache({ server }),
        (error) => error instanceof WatchCacheError && words.test(error.message) && !error.message.includes("secret"),
      );
    }
    // On a page these would be relative to it: only when it opens there is known to be none.
    for (const [server, words] of /** @type {const} */ ([
      ["127.0.0.1:8001", /is no URL/],
      [undefined, /server is missing/],
    ])) {
      const cache = createWatchCache({ ...(server && { server }), WebSocket: socketOf("http://127.0.0.1") });
      t.after(() => cache.close());
      await rejection(cache.resource("pods").synced(), "invalid", words);
    }
  });

  test("upgrades that are refused although lists are answered, where nothing else is allowed", async (t) => {
    const { server, api, pods: path } = await guarded(t);
    const pods = open(t, server.url, { auth: () => ({ token: TOKEN }), transport: "websocket" });
    await pods.synced();
    await live(pods);
    const witness = new Witness(pods);
    await hasSaidSomething(pods, () => writeTo(api));
    await witness.suffers(
      () => {
        server.control.fault("refuseUpgrade", { code: 503 });
        server.control.fault("drop");
      },
      { code: "network", words: /WebSocket could not be opened, although the server answers it over fetch/ },
    );
    server.control.fault("clear");
    await live(pods);
    await assertIntegrity(pods, api, path);
    witness.assertUnharmed();
  });

  test("upgrades that are refused from now on: watches go over fetch at once, and nothing is lost", async (t) => {
    const { server, api, pods: path } = await guarded(t);
    const pods = open(t, server.url, { auth: () => ({ token: TOKEN }) });
    await pods.synced();
    await live(pods);
    assert.equal(pods.stats().transport, "websocket");
    const witness = new Witness(pods);
    await hasSaidSomething(pods, () => writeTo(api));
    server.control.fault("refuseUpgrade", { code: 503 });
    server.control.fault("drop");
    await eventually(() => pods.stats().transport === "fetch", "a watch over fetch");
    await live(pods);
    await hasSaidSomething(pods, () => writeTo(api));
    await assertIntegrity(pods, api, path);
    assert.equal(pods.stats().lists, 1);
    witness.assertUnharmed();
  });

  /** @type {[string, (socket: import("node:net").Socket) => void, RegExp][]} */
  const STRANGERS = [
    ["speaks another protocol", (socket) => socket.end("SSH-2.0-x\r\n"), /the request to http:\/\/\S+ got no answer/],
    ["says nothing", () => {}, /the server has not answered the list for 1 s/],
    [
      "begins an answer and says no more",
      (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"),
      /hardly moved|for 1 s/,
    ],
  ];
  for (const [what, answer, words] of STRANGERS) {
    test(`a port that ${what}: network, and what is there in its place is listed`, async (t) => {
      const server = await plain(t);
      await server.stop();
      /** @type {Set<import("node:net").Socket>} */
      const sockets = new Set();
      const stranger = createTcpServer((socket) => {
        sockets.add(socket.on("error", () => {}));
        socket.once("data", () => answer(socket));
      });
      const close = () => {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => stranger.close(resolve));
      };
      t.after(() => stranger.listening && close());
      await new Promise((resolve) => stranger.listen(server.port, "127.0.0.1", () => resolve(undefined)));
      const pods = open(t, server.url, { idleTimeout: 300 });
      const ready = pods.synced();
      const { error } = await eventually(() => pods.status.retryAt && pods.status, "the time of the next try");
      assert.equal(error.code, "network");
      assert.match(error.message, words);
      await close();
      await server.listen();
      await ready;
      await live(pods);
      await assertHolds(pods, server);
    });
  }

  test("an object that is larger than the server takes: invalid, and nothing is written", async (t) => {
    const { server } = await guarded(t);
    const cache = createWatchCache({ server: server.url, auth: () => ({ token: TOKEN }) });
    t.after(() => cache.close());
    const maps = cache.resource("configmaps");
    const data = { all: "x".repeat(4 << 20) };
    await rejection(maps.create({ metadata: { name: "large", namespace: "default" }, data }), "invalid", /entity too large/);
    await maps.synced();
    assert.equal(maps.peek("default/large"), undefined);
  });

  for (const transport of TRANSPORTS) {
    test(`no server at all, over ${transport}: network, and it is there as soon as one is`, async (t) => {
      const server = await plain(t);
      await server.stop();
      const pods = open(t, server.url, { transport });
      let synced = false;
      const ready = pods.synced().then(() => (synced = true));
      const { error, phase, retryAt } = await eventually(() => pods.status.retryAt && pods.status, "the time of the next try");
      assert.equal(error.code, "network");
      assert.match(error.message, /the request to http:\/\/\S+ got no answer: .*ECONNREFUSED/);
      assert.equal(error.retryable, true);
      assert.equal(phase, "reconnecting");
      assert.equal(typeof retryAt, "number");
      await eventually(() => pods.status.attempt >= 3, "some more tries");
      assert.equal(synced, false, "a network that is down rejects nothing");
      await server.listen();
      await ready;
      await live(pods);
      await assertHolds(pods, server);

      // And once more, with something to lose.
      const witness = new Witness(pods);
      const seen = witness.watch();
      await witness.suffers(() => server.stop(), { code: "network", words: /no answer|closed within a second/ });
      await eventually(() => /ECONNREFUSED/.test(pods.status.error?.message ?? ""), "a refused connection");
      witness.look();
      server.upstream.put(pod("default/meanwhile"));
      await server.listen();
      await live(pods);
      await assertHolds(pods, server);
      witness.assertUnharmed();
      if (seen.ended) assert.equal((await seen.watcher.ended).reason, "relist");
      await seen.stop();
    });
  }
});
