// The conformance kit for sources. The upstream in memory and the embedded server's API hold every rule. For each rule there is a source that breaks
// it and is caught.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WatchCacheError } from "watchcache";
import { memorySource, sourceConformance } from "watchcache/memory";
import { startServer } from "../../www/server/index.mjs";

let steps = 0;
const objectOf = (name) => ({ metadata: { namespace: "default", name }, data: { step: String(++steps) } });

/** @param change makes a source of it that breaks a rule */
function inMemory(change = (source) => source, options = {}) {
  const upstream = memorySource(options);
  const methods = ["list", "watch", "get", "create", "update", "delete"];
  const bound = {
    ...Object.fromEntries(methods.map((name) => [name, (...given) => upstream[name](...given)])),
    // Which it does not have by itself.
    currentResourceVersion: async () => upstream.resourceVersion,
    requestProgress: async () => upstream.bookmark(),
  };
  return {
    source: change(bound, upstream),
    put: (name) => upstream.put(objectOf(name)),
    remove: (name) => upstream.remove(`default/${name}`),
    compact: () => upstream.expire(),
    objectOf,
  };
}

const quick = { timeoutMs: 150, quietMs: 20 };

describe("the upstream in memory", () => {
  for (const { name, run } of sourceConformance(() => inMemory())) test(name, async () => assert.equal(await run(), "held"));
});

describe("a source over the embedded server's API, by fetch", () => {
  let server;
  before(async () => (server = await startServer({ port: 0, pods: 0, rate: 0 })));
  after(() => server.close());
  let namespaces = 0;

  /** What a program writes that has an API of its own: a namespace of configmaps. */
  async function overHttp() {
    const namespace = `made-${++namespaces}`;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ metadata: { name: namespace } });
    const answer = await fetch(`${server.url}/api/v1/namespaces`, { method: "POST", headers, body });
    assert.equal(answer.status, 201, await answer.text());
    const at = `${server.url}/api/v1/namespaces/${namespace}/configmaps`;
    const ask = async (path, init) => {
      const response = await fetch(at + path, init);
      if (!response.ok) throw await response.json();
      return response;
    };
    const query = (request) => `?${new URLSearchParams(Object.entries(request).map(([name, value]) => [name, String(value)]))}`;
    const write = (method, path, body) => ask(path, { method, body, headers });
    const made = (name) => ({ ...objectOf(name), metadata: { name } });
    return {
      objectOf: made,
      source: {
        list: async (request, signal) => ({ body: (await ask(query(request), { signal })).body }),
        async *watch(request, signal) {
          const { body } = await ask(query({ ...request, watch: true }), { signal });
          let rest = "";
          for await (const text of body.pipeThrough(new TextDecoderStream())) {
            const lines = (rest + text).split("\n");
            rest = lines.pop();
            yield* lines;
          }
        },
        get: async ({ name }, signal) => ({ body: (await ask(`/${name}`, { signal })).body }),
        create: async ({ body }) => ({ body: (await write("POST", "", body)).body }),
        update: async ({ name, body }) => ({ body: (await write("PUT", `/${name}`, body)).body }),
      },
      put: (name) =>
        write("PUT", `/${name}`, JSON.stringify(made(name))).catch((error) => {
          if (error.code !== 404) throw error;
          return write("POST", "", JSON.stringify(made(name)));
        }),
      remove: (name) => write("DELETE", `/${name}`),
      compact: () => server.control.fault("expire", { drop: false }),
    };
  }

  for (const { name, run } of sourceConformance(overHttp)) test(name, async () => assert.match(await run(), /held|not asked/));
});

/** Changes what a list answers. */
const lists = (change) => (source) => ({
  ...source,
  list: async (request, signal) => ({ body: JSON.stringify(change(JSON.parse((await source.list(request, signal)).body), request)) }),
});
/** Changes each frame of a watch; what gives undefined leaves it out. */
const frames = (change) => (source) => ({
  ...source,
  async *watch(request, signal) {
    for await (const frame of source.watch(request, signal)) {
      for (const text of [change(JSON.parse(frame), request)].flat()) if (text !== undefined) yield JSON.stringify(text);
    }
  },
});

/** By rule: a source that breaks it, and what the check says of that. */
const mutants = [
  ["a list of nothing is a list, at a version", lists(({ metadata }) => ({ metadata })), /an array, an empty one/],
  ["a list of nothing is a list, at a version", lists((list) => ({ ...list, metadata: {} })), /text of decimal digits/],
  [
    "a list holds what was put and not removed, each once, none newer than the list",
    lists((list) => ({ ...list, metadata: { resourceVersion: "1" } })),
    /the newest of all that it shows/,
  ],
  [
    "a list holds what was put and not removed, each once, none newer than the list",
    lists((list) => ({ ...list, items: list.items.slice(1) })),
    /List what there is now/,
  ],
  ["versions grow with each change", lists((list) => ({ ...list, metadata: { resourceVersion: "900" } })), /Count each change/],
  [
    "the pages of a list are of one version, and hold each object once",
    (source) => ({ ...source, list: (request, signal) => source.list({ limit: request.limit }, signal) }),
    /more than 1,000 pages|Each page begins/,
  ],
  [
    "the pages of a list are of one version, and hold each object once",
    // Each page is of the newest state: what is there by then.
    (source, upstream) => ({
      ...source,
      list: async ({ limit = 100, continue: from = "" }) => {
        const items = [...upstream.objects]
          .filter(({ metadata }) => metadata.name > from)
          .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
        const token = items.length > limit ? items[limit - 1].metadata.name : undefined;
        const metadata = { resourceVersion: upstream.resourceVersion, continue: token };
        return { body: JSON.stringify({ metadata, items: items.slice(0, limit) }) };
      },
    }),
    /reads on in the state of its first page/,
  ],
  [
    "a watch tells what came after its version: in order, each change once, by its type",
    frames((frame) => [frame, frame]),
    /Tell each change once/,
  ],
  [
    "a watch tells what came after its version: in order, each change once, by its type",
    frames(({ type, object }) => ({ type: type === "MODIFIED" ? "ADDED" : type, object })),
    /Tell each change once/,
  ],
  [
    "events have growing versions, a deletion its own, and it carries the last state",
    frames(({ type, object }) => ({ type, object: type === "DELETED" ? { metadata: object.metadata } : object })),
    /Send the whole object/,
  ],
  [
    "events have growing versions, a deletion its own, and it carries the last state",
    frames(({ type, object }) => ({
      type,
      object: type === "DELETED" ? { ...object, metadata: { ...object.metadata, resourceVersion: "101" } } : object,
    })),
    /that of a deletion too/,
  ],
  [
    "nothing is lost between a list and a watch from its version",
    (source, upstream) => ({
      ...source,
      watch: (request, signal) => source.watch({ ...request, resourceVersion: upstream.resourceVersion }, signal),
    }),
    /did not come within/,
  ],
  [
    "a watch resumes exactly from the version of any event",
    (source) => ({
      ...source,
      watch: (request, signal) => {
        const before = String(BigInt(request.resourceVersion) - 1n);
        return source.watch({ ...request, resourceVersion: request.resourceVersion === "100" ? "100" : before }, signal);
      },
    }),
    /Begin behind the version/,
  ],
  [
    "two watches are told the same",
    (source) => {
      // One queue for all of them: each event is told to whoever asks first.
      const told = new Set();
      return frames((frame) => {
        const { resourceVersion } = frame.object.metadata;
        if (told.has(resourceVersion)) return undefined;
        told.add(resourceVersion);
        return frame;
      })(source);
    },
    /did not come within/,
  ],
  [
    "a version that is gone is refused with 410, not skipped over",
    (source, upstream) => ({
      ...source,
      watch: (request, signal) => source.watch({ ...request, resourceVersion: upstream.resourceVersion }, signal),
    }),
    /did not come within/,
  ],
  [
    "a version that is gone is refused with 410, not skipped over",
    frames((frame) => (frame.type === "ERROR" ? { type: "ERROR", object: { code: 500 } } : frame)),
    /refused with 500|lists anew/,
    (source) => ({
      ...source,
      async *watch(request, signal) {
        try {
          yield* source.watch(request, signal);
        } catch {
          throw { code: 500 };
        }
      },
    }),
  ],
  [
    "a watch that is aborted ends, and tells nothing more",
    (source) => ({ ...source, watch: (request) => source.watch(request, new AbortController().signal) }),
    /did not come within|Listen to the signal/,
  ],
  [
    "bookmarks have a version that the stream has reached",
    frames((frame) => (frame.type === "BOOKMARK" ? undefined : frame)),
    /a bookmark after requestProgress.* did not come/,
  ],
  [
    "bookmarks have a version that the stream has reached",
    frames((frame) =>
      frame.type === "BOOKMARK" ? { type: "BOOKMARK", object: { ...frame.object, metadata: { resourceVersion: "9999" } } } : frame,
    ),
    /everything up to its version was told/,
  ],
  [
    "writes are told by watches, and conflicts are refused with 409",
    (source) => ({ ...source, create: (request, signal) => source.create(request, signal).catch(() => ({ body: request.body })) }),
    /Refuse it with code 409/,
  ],
  [
    "writes are told by watches, and conflicts are refused with 409",
    (source) => ({ ...source, update: async ({ body }) => ({ body }) }),
    /Compare metadata.resourceVersion/,
  ],
];

describe("a source that breaks a rule is caught by it", () => {
  const rules = sourceConformance(() => inMemory());
  for (const [index, [name, change, says, more = (source) => source]] of mutants.entries()) {
    test(`${name} (${index + 1})`, async () => {
      const broken = sourceConformance(() => inMemory((source, upstream) => more(change(source, upstream))), quick);
      const { run } = broken.find((rule) => rule.name === name);
      await assert.rejects(run, (error) => says.test(error.message) || assert.fail(error.message));
    });
  }

  test("each rule has such a source", () => {
    assert.deepEqual([...new Set(mutants.map(([name]) => name))].sort(), rules.map(({ name }) => name).sort());
  });

  test("what a source does not have is not asked of it, and what is no function is refused", async () => {
    const bare = () => {
      const { source, put, remove } = inMemory(({ list, watch }) => ({ list, watch }));
      return { source, put, remove };
    };
    const asked = await Promise.all(sourceConformance(bare).map(({ run }) => run()));
    assert.equal(asked.filter((answer) => answer === "not asked").length, 3);
    assert.throws(
      () => sourceConformance(memorySource()),
      (error) => error instanceof WatchCacheError && error.code === "invalid",
    );
  });
});
