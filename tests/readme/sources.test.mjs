// The source of docs/sources.md, as it stands there, over a REST service with Server-Sent Events. The conformance kit asks it, and a cache lives on it
// while streams break and the past is forgotten.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createWatchCache } from "watchcache";
import { sourceConformance } from "watchcache/memory";
import { root } from "./run.mjs";

const WRITTEN = join(root, "artifacts/sources");
const MOST_LINES = 40;

/** The service: things with versions, a history of their changes, pages of one snapshot, and streams. */
class Service {
  version = 0;
  /** @type {Map<string, any>} */
  things = new Map();
  /** @type {{ event: string, thing: any }[]} */
  changes = [];
  forgotten = 0;
  /** @type {Set<import("node:http").ServerResponse>} */
  streams = new Set();
  /** Snapshots that pages are cut from, by version. @type {Map<number, any[]>} */
  snapshots = new Map();

  change(event, thing) {
    const changed = { ...thing, version: ++this.version };
    if (event === "deleted") this.things.delete(thing.id);
    else this.things.set(thing.id, changed);
    this.changes.push({ event, thing: changed });
    for (const stream of this.streams) stream.write(frame(event, changed));
    return changed;
  }

  put(id, spec) {
    const before = this.things.get(id);
    return this.change(before ? "changed" : "created", { ...spec, id, uid: before?.uid ?? `${id}-${this.version}` });
  }

  tick() {
    for (const stream of this.streams) stream.write(frame("tick", { version: this.version }));
  }

  forget() {
    this.forgotten = this.version;
    this.changes = [];
    this.snapshots.clear();
  }

  drop() {
    for (const stream of this.streams) stream.destroy();
  }

  async answer(request, response) {
    const { pathname, searchParams } = new URL(request.url, "http://service");
    const id = pathname.slice("/things/".length);
    const json = (body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    const refuse = (code, text) => response.writeHead(code).end(text);
    if (pathname === "/things") return this.#page(searchParams, json, refuse);
    if (id === "events") return this.#stream(Number(searchParams.get("after")), response, refuse);
    const thing = this.things.get(id);
    if (!thing) return refuse(404, "there is no such thing");
    if (request.method === "GET") return json(thing);
    if (request.headers["if-match"] !== String(thing.version)) return refuse(412, "it has changed");
    let body = "";
    for await (const chunk of request) body += chunk;
    return json(this.put(id, JSON.parse(body)));
  }

  #page(query, json, refuse) {
    const [version = this.version, from = 0] = query.get("next") ? query.get("next").split("/").map(Number) : [];
    if (version === this.version) this.snapshots.set(version, [...this.things.values()]);
    const all = this.snapshots.get(version);
    if (!all) return refuse(410, "that page is gone");
    const to = from + Number(query.get("limit"));
    return json({ version, things: all.slice(from, to), next: to < all.length ? `${version}/${to}` : undefined });
  }

  #stream(after, response, refuse) {
    if (after < this.forgotten) return refuse(410, "so much is not known any more");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    for (const { event, thing } of this.changes) if (thing.version > after) response.write(frame(event, thing));
    this.streams.add(response);
    return response.on("close", () => this.streams.delete(response));
  }
}

const frame = (event, thing) => `event: ${event}\ndata: ${JSON.stringify(thing)}\n\n`;

let sseSource;
before(async () => {
  const guide = readFileSync(join(root, "docs/sources.md"), "utf8");
  const [, name, text] = guide.match(/^```js file=(\S+)\n(.*?)^```$/ms);
  assert.ok(text.split("\n").filter(Boolean).length < MOST_LINES, "it is said to be so short");
  mkdirSync(WRITTEN, { recursive: true });
  writeFileSync(join(WRITTEN, name), text);
  ({ sseSource } = await import(pathToFileURL(join(WRITTEN, name)).href));
});

const services = [];
after(() => Promise.all(services.map(({ close }) => close())));

/** A service that listens, and a source over it. */
async function start() {
  const service = new Service();
  const server = createServer((request, response) => void service.answer(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  services.push({ close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))) });
  return { service, source: sseSource(`http://127.0.0.1:${server.address().port}`) };
}

describe("the source of the guide holds the rules", () => {
  let steps = 0;
  const make = async () => {
    const { service, source } = await start();
    const objectOf = (name) => ({ metadata: { name }, spec: { step: ++steps } });
    return {
      source,
      put: (name) => service.put(name, { step: ++steps }),
      remove: (name) => service.change("deleted", service.things.get(name)),
      compact: () => service.forget(),
      objectOf,
    };
  };
  const asked = [];
  for (const { name, run } of sourceConformance(make))
    test(name, async () => {
      const answer = await run();
      assert.match(answer, /^(held|not asked)$/);
      if (answer === "held") asked.push(name);
    });
  test("and most of them were asked", () => assert.ok(asked.length >= 11, asked.join("\n")));
});

test("a cache over it follows, resumes, lists anew after a gap, and writes", async (t) => {
  const { service, source } = await start();
  for (let i = 0; i < 20; i++) service.put(`lamp-${i}`, { room: i % 2 ? "kitchen" : "hall" });
  let lists = 0;
  const counted = { ...source, list: (...given) => (lists++, source.list(...given)) };
  const cache = createWatchCache({ flush: "microtask", pageSize: 8, retry: { initialMs: 5, capMs: 20 } });
  t.after(() => cache.close());
  const things = cache.resource({ source: counted, id: "things" });
  const view = things.view({ fieldSelector: "spec.room=kitchen" });
  t.after(view.subscribe(() => {}));
  const until = async (holds, what) => {
    for (const end = Date.now() + 10_000; !holds();) {
      assert.ok(Date.now() < end, what);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };
  await things.synced();
  await until(() => view.total === 10, "the kitchen");
  assert.equal(lists, 3, "pages of eight");

  service.put("lamp-0", { room: "kitchen" });
  await until(() => view.total === 11, "what came into it");
  service.drop();
  service.change("deleted", service.things.get("lamp-1"));
  await until(() => view.total === 10, "what went while the stream was away");
  assert.equal(lists, 3, "it went on from its version");

  const rows = new Set();
  t.after(view.subscribe(() => rows.add(view.total)));
  service.drop();
  service.put("lamp-2", { room: "kitchen" });
  service.forget();
  await until(() => view.total === 11, "what came before the past was forgotten");
  assert.ok(lists > 3, "410 led to a list");
  assert.ok(Math.min(...rows) >= 10, "and no row was taken away for it");

  const updated = await things.update("lamp-2", (lamp) => ({ ...lamp, spec: { room: "hall" } }));
  assert.equal(updated.spec.room, "hall");
  assert.equal(view.total, 10, "it shows when it resolves");
  const both = ["a", "b"].map((by) => things.update("lamp-2", (lamp) => ({ ...lamp, spec: { ...lamp.spec, [by]: true } })));
  await Promise.all(both);
  assert.deepEqual(service.things.get("lamp-2").a && service.things.get("lamp-2").b, true, "412 is a conflict, and nothing is lost");
  await assert.rejects(things.delete("lamp-2"), { code: "invalid", message: "the source has no method delete" });
  await assert.rejects(
    things.update("none", (none) => none),
    { code: "not-found" },
  );
});
