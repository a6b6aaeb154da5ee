// `watchcache/memory` by itself: the script, and its lists, versions and watches. The embedded server is asked the same, and gives the same
// answers. tests/servers compares that server with the real one.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { createWatchCache } from "watchcache";
import { memorySource, virtualClock } from "watchcache/memory";
import { startServer } from "../../www/server/index.mjs";
import { map, never, page, said } from "./lib/memory.mjs";
import { until } from "./lib/package.mjs";

// ----------------------------------------------------------------------------------- beside a server

describe("beside an API server", () => {
  const PATH = "/api/v1/namespaces/default/configmaps";
  let server;
  let source;
  /** A version of one by that of the other, by their names here. */
  const versions = { server: {}, memory: {} };
  let tokens;

  const call = (method, path, body) =>
    fetch(server.url + path, { method, headers: { "content-type": "application/json" }, ...(body && { body: JSON.stringify(body) }) });

  /** The same write on both sides. */
  async function write(mark, method, name, data) {
    if (method === "DELETE") source.remove(`default/${name}`);
    else source.put(map(name, data));
    const answer = await call(method, method === "POST" ? PATH : `${PATH}/${name}`, method === "DELETE" ? undefined : map(name, data));
    assert.ok(answer.ok, await answer.text());
    versions.memory[mark] = source.resourceVersion;
    versions.server[mark] = (await (await call("GET", `${PATH}?limit=1`)).json()).metadata.resourceVersion;
  }

  before(async () => {
    server = await startServer({ port: 0, pods: 0, rate: 0, firstVersion: 1_000 });
    source = memorySource({ kind: "ConfigMap" });
    for (const name of ["a", "b", "c", "d"]) await write(`v${name}`, "POST", name, { n: "1" });
    await write("changed", "PUT", "b", { n: "2" });
    await write("deleted", "DELETE", "c");
    await write("last", "POST", "e", { n: "1" });
    tokens = {
      memory: (await page(source, { limit: 2, namespace: "default", resourceVersion: versions.memory.vd })).metadata.continue,
      server: (await (await call("GET", `${PATH}?limit=2&resourceVersion=${versions.server.vd}`)).json()).metadata.continue,
    };
  });
  after(() => server?.close());

  const placed = (side, request) =>
    Object.fromEntries(
      Object.entries(request).map(([name, value]) => {
        if (value === "TOKEN") return [name, tokens[side]];
        return [name, versions[side][value] ?? value];
      }),
    );
  const shown = (object, side) => {
    const version = Object.entries(versions[side]).find(([, of]) => of === object.metadata.resourceVersion)?.[0];
    return `${object.metadata.name ?? ""}@${version ?? "?"}`;
  };
  const listed = (list, side) => ({
    kind: list.kind,
    items: list.items.map((item) => shown(item, side)),
    version: shown({ metadata: { ...list.metadata, name: "" } }, side),
    more: list.metadata.continue !== undefined,
    remaining: list.metadata.remainingItemCount,
  });
  const status = ({ code, reason, details }) => ({ code, reason, fields: details?.causes?.map(({ field, reason }) => field ?? reason) });

  const lists = [
    {},
    { resourceVersion: "0" },
    { resourceVersion: "vd" },
    { resourceVersion: "0", resourceVersionMatch: "NotOlderThan" },
    { resourceVersion: "vb", resourceVersionMatch: "NotOlderThan" },
    ...["vb", "vd", "changed", "deleted", "last"].map((resourceVersion) => ({ resourceVersion, resourceVersionMatch: "Exact" })),
    { limit: 2 },
    { limit: 2, resourceVersion: "vd" },
    { limit: 2, resourceVersion: "0" },
    { limit: 2, resourceVersion: "vd", resourceVersionMatch: "NotOlderThan" },
    { limit: 2, resourceVersion: "changed", resourceVersionMatch: "Exact" },
    { limit: 10, continue: "TOKEN" },
    { limit: 1, continue: "TOKEN" },
    { continue: "TOKEN", resourceVersion: "vd" },
    { continue: "TOKEN", resourceVersion: "0" },
    { continue: "TOKEN", resourceVersionMatch: "Exact" },
    { continue: "nonsense" },
    { resourceVersionMatch: "Exact" },
    { resourceVersionMatch: "NotOlderThan" },
    { resourceVersion: "0", resourceVersionMatch: "Exact" },
    { resourceVersion: "abc" },
    { resourceVersion: "999999" },
    { resourceVersion: "999999", resourceVersionMatch: "Exact" },
  ];
  for (const request of lists) {
    test(`list ${JSON.stringify(request)}`, async () => {
      const answer = await call("GET", `${PATH}?${new URLSearchParams(placed("server", request))}`);
      const body = await answer.json();
      const expected = answer.ok ? listed(body, "server") : status(body);
      const given = placed("memory", { namespace: "default", ...request });
      const actual = await page(source, given).then(
        (list) => listed(list, "memory"),
        (error) => status(error.status),
      );
      assert.deepEqual(actual, expected);
    });
  }

  const watches = [
    {},
    { resourceVersion: "0" },
    ...["va", "vd", "changed", "deleted", "last"].map((resourceVersion) => ({ resourceVersion })),
    { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" },
    { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", resourceVersion: "0" },
    { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", resourceVersion: "vb" },
    { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: false },
    { sendInitialEvents: false, resourceVersionMatch: "NotOlderThan", resourceVersion: "vd" },
    { sendInitialEvents: true },
    { resourceVersionMatch: "NotOlderThan", resourceVersion: "vd" },
  ];
  for (const request of watches) {
    test(`watch ${JSON.stringify(request)}`, async () => {
      const query = new URLSearchParams({ watch: "true", allowWatchBookmarks: "true", timeoutSeconds: "1", ...placed("server", request) });
      const answer = await call("GET", `${PATH}?${query}`);
      const told = (events, side) =>
        events
          .map(({ type, object }) => [type, object.metadata.annotations?.["k8s.io/initial-events-end"], shown(object, side)])
          // A server sends a bookmark before it ends the watch.
          .filter(([type, end]) => type !== "BOOKMARK" || end);
      const expected = answer.ok
        ? told(
            (await answer.text())
              .split("\n")
              .filter(Boolean)
              .map((line) => JSON.parse(line)),
            "server",
          )
        : status(await answer.json());
      const actual = await said(source, placed("memory", request)).then(
        (events) => told(events, "memory"),
        (error) => status(error.status),
      );
      assert.deepEqual(actual, expected);
    });
  }

  test("writes and their refusals", async () => {
    const both = async (method, name, body, request) => {
      const answer = await call(method, name === undefined ? PATH : `${PATH}/${name}`, body);
      const theirs = await answer.json();
      const verb = { GET: "get", POST: "create", PUT: "update", DELETE: "delete" }[method];
      const ours = await source[verb]({ namespace: "default", name, body: JSON.stringify(request ?? body) }, never).then(
        ({ body }) => JSON.parse(body),
        (error) => error.status,
      );
      const told = (object) => (object.kind === "Status" && object.code ? status(object) : object.data?.n);
      return [told(ours), told(theirs)];
    };
    const stale = (n) => ({ ...map("a", { n }), metadata: { ...map("a").metadata, resourceVersion: "1" } });
    for (const [actual, expected] of [
      await both("GET", "a"),
      await both("GET", "none"),
      await both("POST", undefined, map("a")),
      await both("POST", undefined, map("w", { n: "7" })),
      await both("PUT", "w", map("w", { n: "8" })),
      await both("PUT", "a", stale("9")),
      await both("DELETE", "w", { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "another" } }),
      await both("DELETE", "none", { kind: "DeleteOptions", apiVersion: "v1" }),
    ]) {
      assert.deepEqual(actual, expected);
    }
  });
});

// ------------------------------------------------------------------------------------------ one by one

test("the past is gone after expire: watches, exact lists and tokens of it get 410, and the token goes on at the newest version", async () => {
  const source = memorySource({ objects: ["a", "b", "c"].map((name) => map(name)) });
  const { metadata } = await page(source, { limit: 1 });
  source.put(map("bb"));
  source.expire();
  const gone = ({ status }) => status.code === 410 && status.reason === "Expired";
  await assert.rejects(said(source, { resourceVersion: "103" }), gone);
  await assert.rejects(page(source, { resourceVersion: "103", resourceVersionMatch: "Exact" }), gone);
  const error = await page(source, { limit: 1, continue: metadata.continue }).catch((error) => error);
  assert.ok(gone(error));
  const rest = await page(source, { continue: error.status.metadata.continue });
  assert.deepEqual([rest.items.map((item) => item.metadata.name), rest.metadata.resourceVersion], [["b", "bb", "c"], "104"]);
  assert.deepEqual(await said(source, { resourceVersion: "104" }), []);
});

test("the past that is kept is bounded", async () => {
  const source = memorySource();
  for (let i = 0; i < 10_001; i++) source.put(map("a", { i }));
  await assert.rejects(said(source, { resourceVersion: "101" }), ({ status }) => status.code === 410);
  const last = String(Number(source.resourceVersion) - 1);
  assert.equal((await said(source, { resourceVersion: last })).length, 1);
});

test("what was put is the source's own: changing it changes nothing", async () => {
  const source = memorySource();
  const mine = map("a", { n: "1" });
  source.put(mine);
  mine.data.n = "2";
  assert.deepEqual((await page(source)).items[0].data, { n: "1" });
});

test("a drop ends the streams in order, breaks them, or cuts them in the midst of a frame, of which nothing is heard", async () => {
  const source = memorySource();
  for (const [options, error] of [
    [undefined, undefined],
    [{ error: new TypeError("the cable") }, /the cable/],
    [{ midFrame: true }, /terminated/],
    [{ midFrame: true, error: new TypeError("the cable") }, /the cable/],
  ]) {
    const heard = [];
    const reads = (async () => {
      const request = { resourceVersion: source.resourceVersion, allowWatchBookmarks: true, timeoutSeconds: 300 };
      for await (const frame of source.watch(request, never)) heard.push(frame);
    })();
    await until(() => source.streams === 1);
    source.delay = 50;
    source.put(map("under-way"));
    source.drop(options);
    assert.equal(source.streams, 0);
    source.delay = 0;
    await reads.then(
      () => assert.equal(error, undefined),
      (thrown) => assert.match(thrown.message, error),
    );
    assert.deepEqual(heard, []);
  }
});

test("failures are of so many requests, or of some verbs, until they are over", async () => {
  const source = memorySource({ objects: [map("a")] });
  source.fail({ code: 503, reason: "ServiceUnavailable", message: "not now" }, { times: 2, verbs: ["list"] });
  for (let i = 0; i < 2; i++) await assert.rejects(page(source), { code: 503, message: "not now" });
  assert.equal((await page(source)).items.length, 1);
  source.fail({ kind: "Status", code: 403, reason: "Forbidden" }, { verbs: ["get"] });
  assert.equal((await page(source)).items.length, 1);
  await assert.rejects(source.get({ namespace: "default", name: "a" }, never), ({ status }) => status.code === 403);
  source.recover();
  await source.get({ namespace: "default", name: "a" }, never);
  assert.deepEqual(
    source.requests.map(({ verb }) => verb),
    ["list", "list", "list", "list", "get", "get"],
  );
});

test("a virtual clock: answers, events and the end of a watch come when it says", async () => {
  const clock = virtualClock(5_000);
  const source = memorySource({ objects: [map("a")], delay: 100, clock });
  let answer;
  void page(source).then((list) => (answer = list));
  await clock.advance(99);
  assert.equal(answer, undefined);
  source.put(map("b"));
  await clock.advance(1);
  assert.deepEqual(
    answer.items.map((item) => item.metadata.name),
    ["a"],
    "of the moment it was asked",
  );

  const heard = [];
  let ended = false;
  const reads = (async () => {
    const request = { resourceVersion: "102", allowWatchBookmarks: true, timeoutSeconds: 2 };
    for await (const frame of source.watch(request, never)) heard.push(JSON.parse(frame).object.metadata.name ?? "bookmark");
    ended = true;
  })();
  await clock.advance(0);
  source.put(map("c"));
  source.delay = 10;
  source.bookmark();
  await clock.advance(9);
  assert.deepEqual(heard, []);
  await clock.advance(1);
  assert.deepEqual(heard, ["c", "bookmark"], "what is sent later, and is quicker, overtakes nothing: it brings along what was sent before");
  await clock.advance(1_989);
  assert.equal(ended, false);
  await clock.advance(1);
  assert.equal(ended, true);
  await reads;
  assert.equal(clock.now(), 7_100);
});

test("an answer that never comes is given up with its signal", async () => {
  const source = memorySource({ delay: Infinity });
  const controller = new AbortController();
  const list = source.list({}, controller.signal);
  controller.abort(new RangeError("enough"));
  await assert.rejects(list, { message: "enough" });
});

test("a bookmark goes to the watches that take bookmarks", async () => {
  const source = memorySource({ kind: "Pod" });
  const types = async (allowWatchBookmarks) =>
    (await said(source, { resourceVersion: "100", allowWatchBookmarks })).map(({ type }) => type);
  const both = [types(true), types(false)];
  await until(() => source.streams === 2);
  source.bookmark();
  assert.deepEqual(await Promise.all(both), [["BOOKMARK"], []]);
});

test("versions that others of the server have used, and a server that was restored", async () => {
  const source = memorySource({ objects: [map("a")] });
  source.resourceVersion = "200";
  assert.equal(source.put(map("b")).metadata.resourceVersion, "201");
  source.resourceVersion = "50";
  assert.equal((await page(source)).metadata.resourceVersion, "50");
  assert.deepEqual(await said(source, { resourceVersion: "201" }), [], "a version that is still to come");
  await assert.rejects(said(source, { resourceVersion: "49" }), ({ status }) => status.code === 410);
});

test("a cache over it writes, and reads what it wrote", async () => {
  const source = memorySource({ kind: "ConfigMap", objects: [map("a")] });
  const cache = createWatchCache({ flush: "microtask" });
  try {
    const maps = cache.resource({ source, id: "configmaps" });
    const made = await maps.create({ metadata: { namespace: "default", generateName: "made-" }, data: {} });
    assert.match(made.metadata.name, /^made-/);
    assert.ok(made.metadata.uid && made.metadata.creationTimestamp);
    await maps.update("default/a", (current) => ({ ...current, data: { n: "2" } }));
    assert.deepEqual(maps.peek("default/a").data, { n: "2" });
    await maps.delete("default/a");
    assert.equal(maps.peek("default/a"), undefined);
    await assert.rejects(maps.get("default/a"), { code: "not-found" });
    assert.deepEqual(
      source.objects.map(({ metadata }) => metadata.name),
      [made.metadata.name],
    );
  } finally {
    await cache.close();
  }
});

// -------------------------------------------------------------------------------------------- the law

/** Numbers from 0 to 1, the same for the same seed. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** All pages of a list. */
async function whole(source, request) {
  const items = [];
  let { metadata, items: more } = await page(source, request);
  for (;;) {
    items.push(...more);
    if (metadata.continue === undefined) return { version: metadata.resourceVersion, items };
    ({ metadata, items: more } = await page(source, { limit: request.limit, continue: metadata.continue }));
  }
}

for (let seed = 1; seed <= 40; seed++) {
  test(`a list with the watch from its version is the list of every later version (seed ${seed})`, async () => {
    const draw = random(seed);
    const pick = (count) => Math.floor(draw() * count);
    const source = memorySource({ pageSize: draw() < 0.5 ? 1 + pick(4) : Infinity, outgoing: undefined });
    /** The objects at each version, as they were told by nobody but `put` and `remove`. */
    const truth = new Map();
    const held = new Map();
    const texts = () => [...held].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => JSON.stringify(object));
    const step = () => {
      const name = `m-${pick(8)}`;
      if (draw() < 0.65) held.set(`default/${name}`, source.put(map(name, { n: pick(1_000) })));
      else if (source.remove(`default/${name}`) !== undefined) held.delete(`default/${name}`);
      truth.set(source.resourceVersion, texts());
    };
    truth.set(source.resourceVersion, []);
    for (let i = 0; i < 30; i++) step();

    // Pages are of one version, whatever happens between them.
    const limit = 1 + pick(4);
    const first = await page(source, { limit });
    const pages = [first];
    while (pages.at(-1).metadata.continue !== undefined) {
      step();
      pages.push(await page(source, { limit, continue: pages.at(-1).metadata.continue }));
    }
    const version = first.metadata.resourceVersion;
    const items = pages.flatMap((each) => each.items);
    assert.deepEqual(
      items.map((item) => JSON.stringify(item)),
      truth.get(version),
    );

    for (let i = 0; i < 30; i++) step();
    const replay = new Map(items.map((item) => [`default/${item.metadata.name}`, item]));
    let last = Number(version);
    for (const { type, object } of await said(source, { resourceVersion: version })) {
      const key = `default/${object.metadata.name}`;
      assert.ok(Number(object.metadata.resourceVersion) > last, "versions grow");
      last = Number(object.metadata.resourceVersion);
      assert.equal(type, type === "DELETED" ? "DELETED" : replay.has(key) ? "MODIFIED" : "ADDED");
      if (type === "DELETED") assert.ok(replay.delete(key));
      else replay.set(key, object);
      const now = [...replay].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => JSON.stringify(each));
      assert.deepEqual(now, truth.get(String(last)), "as it was at that version");
      const exact = await whole(source, { resourceVersion: String(last), resourceVersionMatch: "Exact", limit: 3 });
      assert.deepEqual(
        exact.items.map((item) => JSON.stringify(item)),
        now,
        "and as a list says that it was",
      );
    }
    assert.equal(String(last), source.resourceVersion);
    const initial = await said(source, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" });
    assert.deepEqual(
      initial.slice(0, -1).map(({ object }) => JSON.stringify(object)),
      texts(),
    );
  });
}
