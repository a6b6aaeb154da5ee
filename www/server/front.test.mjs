// What the package's cache before the store answers that the store alone would not, and what it leaves to the store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { brief, namesOf, openStream, serverFor } from "./testing.mjs";

/** @param {import("node:test").TestContext} t */
async function cachedServer(t) {
  const server = await serverFor(t, { cache: true });
  const { store } = server.control;
  const table = [...(store?.tables.values() ?? [])].find(({ definition }) => definition.resource === "pods");
  assert.ok(table);
  await server.createPod("default", "a", { labels: { app: "web" } });
  await server.createPod("default", "b");
  return { ...server, table, counts: () => /** @type {Record<string, number>} */ (server.control.status().counts) };
}

/** @param {() => Promise<boolean>} holds */
async function eventually(holds) {
  for (let tries = 0; !(await holds()); tries += 1) {
    assert.ok(tries < 200, "it never came true");
    await sleep(50);
  }
}

test("lists and watches are the cache's, and the store is not asked for them", async (t) => {
  const { api, watch, url, table, counts } = await cachedServer(t);
  table.at = () => {
    throw new Error("the store was asked");
  };
  // It keeps what a page continues, and none is continued here.
  table.keep = () => {};
  const { resourceVersion } = (await api("/api/v1/pods")).body.metadata;
  for (const query of ["", "?limit=1", "?resourceVersion=0", `?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`])
    assert.equal((await api(`/api/v1/pods${query}`)).code, 200, query);
  const socket = await watch("/api/v1/pods?watch=1");
  const stream = await openStream(url, `/api/v1/pods?watch=1&resourceVersion=${resourceVersion}`);
  assert.deepEqual(await socket.nextBrief(2), ["ADDED default/a", "ADDED default/b"]);
  stream.close();
  const { lists, watches, cached } = counts();
  assert.deepEqual([lists, watches, cached], [5, 2, 7]);
});

test("an object goes out as it is stored, to the byte, in lists, events and at the end", async (t) => {
  const { api, watch, table, control } = await cachedServer(t);
  const version = control.status().resourceVersion;
  const socket = await watch(`/api/v1/pods?watch=1&resourceVersion=0`);
  await socket.nextBrief(2);
  const [a, b] = [...table.current.values()];
  assert.deepEqual(
    socket.frames,
    [a, b].map((object) => String(object.frame("ADDED"))),
  );
  const { text } = await api(`/api/v1/pods?pretty=false&resourceVersion=${version}&resourceVersionMatch=Exact`);
  assert.equal(
    text,
    `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"},"items":[{${a.body()},{${b.body()}]}\n`,
  );
  await api("/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0", { method: "DELETE" });
  await socket.nextBrief(2);
  const { last } = table.window.at(table.window.end - 1);
  assert.equal(socket.frames.at(-1), String(last?.frame("DELETED")));
});

test("while the cache is not ready it says so, with the time to come back", async (t) => {
  const { api, watch, table, createPod, url } = await cachedServer(t);
  const open = await openStream(url, "/api/v1/pods?watch=1&resourceVersion=0");
  await open.nextBrief(2);
  // The stream from the store is overtaken by its history, and the store cannot be listed.
  const { at } = table;
  const { first } = table.window;
  table.at = () => {
    throw new Error("the disk is gone");
  };
  table.window.first = table.window.end + 1;
  for (const listener of table.listeners) listener();
  await eventually(async () => (await api("/api/v1/pods?resourceVersion=0")).code === 429);
  assert.equal((await open.ended).error, undefined);
  const refused = await api("/api/v1/pods?watch=1");
  assert.deepEqual(
    [refused.code, refused.body.kind, refused.body.status, refused.body.reason],
    [429, "Status", "Failure", "TooManyRequests"],
  );
  assert.match(refused.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
  assert.equal(refused.headers.get("retry-after"), String(refused.body.details.retryAfterSeconds));
  await assert.rejects(watch("/api/v1/pods?watch=1"), { code: 429 });
  table.at = at;
  table.window.first = first;
  await eventually(async () => (await api("/api/v1/pods?resourceVersion=0")).code === 200);
  await createPod("default", "c");
  assert.deepEqual(namesOf((await api("/api/v1/pods")).body), ["default/a", "default/b", "default/c"]);
});

test("fields that stand nowhere in an object are the store's", async (t) => {
  const { api, watch, createPod, counts } = await cachedServer(t);
  const before = counts().cached;
  const selector = "fieldSelector=spec.hostNetwork%3Dfalse";
  assert.deepEqual(namesOf((await api(`/api/v1/pods?${selector}`)).body), ["default/a", "default/b"]);
  const socket = await watch(`/api/v1/pods?watch=1&${selector}`);
  await createPod("default", "c");
  assert.deepEqual(await socket.nextBrief(3), ["ADDED default/a", "ADDED default/b", "ADDED default/c"]);
  assert.equal(counts().cached, before);
  // An old name of a field is the field.
  assert.deepEqual((await api("/api/v1/pods?fieldSelector=spec.host%3Dnone")).body.items, []);
  assert.equal(counts().cached, before + 1);
});

test("a replica that is behind is the store's, and the cache goes on when it has caught up", async (t) => {
  const { api, control, counts } = await cachedServer(t);
  const before = counts().cached;
  control.fault("staleReplica", { behind: 1, ms: 0 });
  assert.deepEqual(namesOf((await api("/api/v1/pods")).body), ["default/a"]);
  assert.equal(counts().cached, before);
  control.fault("clear");
  assert.deepEqual(namesOf((await api("/api/v1/pods")).body), ["default/a", "default/b"]);
  assert.equal(counts().cached, before + 1);
});

test("what was asked before the history went is answered after it", async (t) => {
  const { api, watch, control, createPod } = await cachedServer(t);
  const next = Number(control.status().resourceVersion) + 2;
  const pending = api(`/api/v1/pods?resourceVersion=${next}`);
  const open = await watch("/api/v1/pods?watch=1");
  await open.nextBrief(2);
  control.fault("expire", { drop: false });
  await createPod("default", "c");
  const answer = await pending;
  assert.equal(answer.code, 200, answer.text);
  assert.deepEqual(namesOf(answer.body), ["default/a", "default/b", "default/c"]);
  assert.equal(brief(await open.next()), "ADDED default/c", "an open watch stays");
});

test("it serves its own objects only", async () => {
  const { startServer } = await import("./index.mjs");
  await assert.rejects(startServer({ port: 0, cache: true, proxy: "http://127.0.0.1:1" }), { name: "TypeError", message: /--cache/ });
});
