// What `auth` may give and throw, and what the cache does with it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";

import { createWatchCache } from "watchcache";

import { until } from "./lib/package.mjs";

const soon = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));

/** Pods of a server with nothing in it, whose `auth` answers or throws what `answer` says. */
async function pods(t, answer) {
  const asked = [];
  const it = { asked, answer, status: 200, calls: 0, given: [], errors: [] };
  const server = createServer((request, response) => {
    asked.push(request);
    response.writeHead(it.status, { "content-type": "application/json" });
    if (new URL(request.url, "http://host").searchParams.has("watch")) return void response.flushHeaders();
    response.end(JSON.stringify({ kind: "PodList", apiVersion: "v1", metadata: { resourceVersion: "10" }, items: [] }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const auth = (...given) => (it.calls++, it.given.push(...given), it.answer());
  const url = `http://127.0.0.1:${server.address().port}`;
  const cache = createWatchCache({ server: url, transport: "fetch", auth, retry: { initialMs: 5, capMs: 20 } });
  t.after(async () => {
    await cache.close();
    server.closeAllConnections();
    server.close();
  });
  it.cache = cache;
  it.resource = cache.resource("pods");
  it.resource.addEventListener("error", () => it.errors.push(it.resource.status.error));
  return it;
}

const throwing = (value) => () => {
  throw value;
};
const unauthorized = {
  "{ status: 401 }": () => ({ status: 401 }),
  "{ code: 401 }": () => ({ code: 401 }),
  "an Error with a status": () => Object.assign(new Error("session has ended"), { status: 401 }),
  "a Response": () => new Response("", { status: 401 }),
};

for (const [name, make] of Object.entries(unauthorized)) {
  for (const [way, answer] of Object.entries({
    throws: (value) => throwing(value),
    "rejects with": (value) => () => Promise.reject(value),
  })) {
    test(`auth that ${way} ${name}: needs-auth, and it is asked again by and by`, async (t) => {
      const it = await pods(t, answer(make()));
      await assert.rejects(it.resource.synced(), { name: "WatchCacheError", code: "unauthorized" });
      // It tries again within milliseconds, and names no time while it does: all of it is looked at in one snapshot, between two tries.
      let status;
      await until(() => (status = it.resource.status).phase === "needs-auth" && status.retryAt !== undefined);
      assert.equal(status.error.code, "unauthorized");
      assert.ok(status.retryAt > 0);
      assert.equal(it.asked.length, 0, "nothing goes out without credentials");
      it.answer = () => ({ token: "fresh" });
      await until(() => it.resource.status.phase === "live");
      assert.equal(it.asked[0].headers.authorization, "Bearer fresh");
    });
  }
}

test("auth that throws another code is what that code is, and without one a failure of the network", async (t) => {
  for (const [value, code, phase] of [
    [{ status: 403 }, "forbidden", "failed"],
    [new Response("", { status: 503 }), "unavailable", "reconnecting"],
    [{ status: 200 }, "network", "reconnecting"],
    [new TypeError("offline"), "network", "reconnecting"],
    ["offline", "network", "reconnecting"],
  ]) {
    const it = await pods(t, throwing(value));
    void it.resource.synced().catch(() => {});
    // Between two tries, which are milliseconds apart, it is loading.
    let status;
    await until(() => (status = it.resource.status).error !== undefined && status.phase !== "listing");
    assert.deepEqual([status.error.code, status.phase], [code, phase]);
  }
});

const SECRET = 5_318_008;
const nothing = (what) =>
  new RegExp(`^auth gives an object such as \\{ token \\}, and \\{\\} to connect without credentials, not ${what}$`);
const mistaken = {
  "a token that is a number": [{ token: SECRET }, /^auth: token is text, .*, not a value of type number$/],
  "a token that is an object": [{ token: { value: `${SECRET}` } }, /^auth: token is text, .*, not a value of type object$/],
  "a token that is null, as of a storage that has none": [
    { token: null },
    /^auth: token is text, and left out where there is none, not null$/,
  ],
  "an empty token": [{ token: "" }, /^auth: token is text, and left out where there is none, not empty text$/],
  "a misspelled token": [{ tokn: `${SECRET}` }, /^auth: tokn is no option of auth: did you mean token\?$/],
  "a header beside the headers": [
    { Authorization: `Bearer ${SECRET}` },
    /^auth: Authorization is no option of auth: there are headers, token, subprotocols, query$/,
  ],
  "headers misspelled beside a token": [
    { token: `${SECRET}`, heaers: { "Impersonate-User": "jane" } },
    /^auth: heaers is no option of auth: did you mean headers\?$/,
  ],
  "a bare token": [`${SECRET}`, nothing("a value of type string")],
  "a bare number": [SECRET, nothing("a value of type number")],
  "an array": [[`${SECRET}`], nothing("a value of type object")],
  "nothing, as where a return was forgotten": [undefined, nothing("undefined")],
  null: [null, nothing("null")],
  "headers that are a text": [{ headers: `${SECRET}` }, /^auth: headers is an object, not a value of type string$/],
  "a header that is a number": [{ headers: { "X-Id": SECRET } }, /^auth: headers\.X-Id is text, not a value of type number$/],
  "subprotocols that are a text": [{ subprotocols: `${SECRET}` }, /^auth: subprotocols is an array, not a value of type string$/],
  "subprotocols that are a number": [{ subprotocols: SECRET }, /^auth: subprotocols is an array, not a value of type number$/],
  "a subprotocol that is a number": [{ subprotocols: [SECRET] }, /^auth: subprotocols\[0\] is text, not a value of type number$/],
  "a number in the query": [{ query: { id: SECRET } }, /^auth: query\.id is text, not a value of type number$/],
};

for (const [name, [given, message]] of Object.entries(mistaken)) {
  test(`auth that gives ${name} is invalid: told once, nothing is sent, and nothing repeats itself`, async (t) => {
    const it = await pods(t, () => given);
    await assert.rejects(it.resource.synced(), { code: "invalid", message });
    await soon(300);
    const { phase, error, retryAt } = it.resource.status;
    assert.deepEqual([phase, error.code, error.retryable, retryAt], ["failed", "invalid", false, undefined]);
    assert.match(error.message, message);
    assert.deepEqual([it.calls, it.errors.length, it.asked.length], [1, 1, 0]);
    it.resource.resume();
    await until(() => it.calls === 2);
    await soon();
    assert.equal(it.errors.length, 1, "asked again because somebody wants it, and no news");
    it.answer = () => ({ token: "fresh", subprotocols: [], query: { id: "1" } });
    it.resource.resume();
    await until(() => it.resource.status.phase === "live");
  });
}

test("an empty object, or one whose members are undefined, says that there are no credentials", async (t) => {
  for (const given of [{}, { token: undefined }, { headers: undefined, query: { id: undefined }, subprotocols: [] }]) {
    const it = await pods(t, () => given);
    await it.resource.synced();
    assert.equal(it.asked[0].headers.authorization, undefined);
    assert.equal(it.asked[0].url.includes("undefined"), false);
  }
});

test("a whole session may be given: what else stands in it is nobody's mistake", async (t) => {
  class Session {
    expires = 1_700_000_000;
    user = { name: "jane" };
    get token() {
      return "theirs";
    }
  }
  const it = await pods(t, () => new Session());
  await it.resource.synced();
  assert.equal(it.asked[0].headers.authorization, "Bearer theirs");
});

test("headers come as an object, as pairs, as Headers, as a Map or as an iterator, and what is undefined in them is not sent", async (t) => {
  const pairs = [["x-id", "17"]];
  const all = [{ "x-id": "17", "x-none": undefined }, pairs, new Headers(pairs), new Map(pairs)].map((headers) => () => headers);
  for (const headers of [...all, () => pairs.values()]) {
    const it = await pods(t, () => ({ headers: headers(), token: "t" }));
    await it.resource.synced();
    const { "x-id": id, "x-none": none, authorization } = it.asked[0].headers;
    assert.deepEqual([id, none, authorization], ["17", undefined, "Bearer t"]);
  }
});

test("what a getter of the answer throws is as if auth had thrown it", async (t) => {
  const it = await pods(t, () => ({
    get token() {
      throw Object.assign(new Error("session has ended"), { status: 401 });
    },
  }));
  await assert.rejects(it.resource.synced(), { code: "unauthorized", message: /session has ended/ });
  assert.equal(it.asked.length, 0);
  const asking = createWatchCache({
    server: "http://127.0.0.1:1",
    auth: () => ({
      get token() {
        throw new Error("session has ended");
      },
    }),
  });
  t.after(() => asking.close());
  for (const asked of [asking.can({ verb: "get", path: "/" }), asking.discover()])
    await assert.rejects(asked, { name: "WatchCacheError", code: "network", message: /^auth failed: session has ended/ });
});

test("auth is called without an argument, and once for each request, however often the server refuses what it gives", async (t) => {
  const it = await pods(t, () => ({ token: "old" }));
  it.status = 401;
  await assert.rejects(it.resource.synced(), { code: "unauthorized" });
  await assert.rejects(it.resource.get("default/x"), { code: "unauthorized" });
  await until(() => it.calls > 8);
  await it.cache.close();
  await soon();
  assert.deepEqual([it.given, it.calls - it.asked.length <= 1], [[], true]);
});

test("what auth throws is told as such, and not as a failure of the network", async (t) => {
  const it = await pods(t, () => Promise.reject(new Error("session has ended")));
  it.resource.synced().catch(() => {});
  await until(() => it.resource.status.error);
  const { code, message } = it.resource.status.error;
  assert.match(message, /\bauth failed: .*session has ended/);
  assert.equal(code, "network");
  assert.equal(it.asked.length, 0);
});

test("what auth throws means the same to discovery and to questions as to the streams", async (t) => {
  for (const [refusal, code] of [
    [{ status: 401 }, "unauthorized"],
    [{ code: 403 }, "forbidden"],
    [{ code: 503, retryAfterSeconds: 7 }, "unavailable"],
  ]) {
    const it = await pods(t, () => {
      throw Object.assign(new Error("session has ended"), refusal);
    });
    const told = { name: "WatchCacheError", code, message: /session has ended/, retryAfterSeconds: refusal.retryAfterSeconds };
    for (const asked of [it.cache.can({ verb: "get", path: "/" }), it.cache.discover()])
      await assert.rejects(asked, (error) => {
        for (const [name, value] of Object.entries(told))
          name === "message" ? assert.match(error.message, value) : assert.equal(error[name], value);
        return true;
      });
    assert.equal(it.asked.length, 0);
  }
});

test("a request after resume hears of the next try, not of the last one", async (t) => {
  const it = await pods(t, () => {
    throw Object.assign(new Error("session has ended"), { status: 401 });
  });
  await assert.rejects(it.resource.synced(), { code: "unauthorized" });
  await assert.rejects(it.resource.synced(), { code: "unauthorized" }, "nobody has asked again");
  it.resource.resume();
  await assert.rejects(it.resource.synced(), { code: "unauthorized" }, "it ended so again");
  it.answer = () => ({ token: "fresh" });
  it.resource.resume();
  const [, { items }] = await Promise.all([it.resource.synced(), it.resource.list()]);
  assert.ok(Array.isArray(items));
});
