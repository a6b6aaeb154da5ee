// The hooks where a server renders: in Node, without a document. Nothing is opened, and what suspends is sent as its fallback.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import React, { createElement as element, Suspense } from "react";
// That of Node keeps a channel open, which ends no test.
import { renderToReadableStream, renderToStaticMarkup } from "react-dom/server.edge";
import { root } from "../../scripts/lib/project.mjs";
import { createWatchCache } from "watchcache";
import { memorySource } from "watchcache/memory";
import {
  useInformer,
  useCan,
  useDiscovery,
  useObject,
  useResource,
  useStatus,
  useSuspenseView,
  useView,
  useWatch,
  useWatchCache,
  WatchCacheProvider,
} from "watchcache/react";

const source = memorySource({ objects: [{ metadata: { name: "a" } }] });
const cache = createWatchCache();
const provided = (...children) => element(WatchCacheProvider, { cache }, ...children);

const All = () => {
  const things = useResource({ source, id: "things" });
  const { rows, loaded } = useView(things, { orderBy: [{ path: "metadata.name" }] });
  const { object } = useObject(things, "a");
  const { phase } = useStatus(things);
  useWatch(things, () => assert.fail("a server watches nothing"));
  useInformer(things, { onAdd: () => assert.fail("a server follows nothing") });
  return `${rows.length} ${loaded} ${object} ${phase}`;
};

const Waits = () => useSuspenseView(useResource({ source, id: "things" })).rows.length;

test("a server renders what is known, which is nothing, and opens nothing", () => {
  assert.equal(renderToStaticMarkup(provided(element(All))), "0 false undefined idle");
  assert.deepEqual(source.requests, []);
  assert.deepEqual(cache.stats().resources, []);
});

test("a server streams the fallback of what suspends, and ends", { timeout: 10_000 }, async () => {
  const errors = [];
  const app = provided(element("p", null, "above"), element(Suspense, { fallback: "waiting" }, element(Waits)));
  const stream = await renderToReadableStream(app, { onError: (error) => (errors.push(error), error.digest) });
  const html = await new Response(stream).text();
  assert.match(html, /<p>above<\/p>.*waiting<!--/s);
  assert.equal(errors.length, 1);
  assert.match(errors[0].message, /shows the fallback of the nearest Suspense on a server/);
  assert.deepEqual(source.requests, []);
});

test("without a Suspense above it the server says what is missing", async () => {
  await assert.rejects(renderToReadableStream(provided(element(Waits)), { onError() {} }), /fallback of the nearest Suspense/);
});

/** What a component's hooks tell React's developer tools: these ask React's dispatcher, as this does. */
function debugged(useHooks) {
  const internals = React.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
  const told = [];
  const Debugged = () => {
    const own = internals.H;
    internals.H = { ...own, useDebugValue: (value, format) => void told.push(format === undefined ? value : format(value)) };
    try {
      useHooks();
    } finally {
      internals.H = own;
    }
    return null;
  };
  renderToStaticMarkup(provided(element(Debugged)));
  return told;
}

test("React's developer tools name the provider, and say what each hook has", () => {
  assert.equal(WatchCacheProvider.name, "WatchCacheProvider");
  assert.equal(WatchCacheProvider({ cache }).type.displayName, "WatchCache");
  const things = cache.resource({ source, id: "things" });
  const each = {
    useWatchCache: [() => useWatchCache(), [cache]],
    useResource: [() => useResource({ source, id: "things" }), ["things"]],
    useView: [() => useView(things), ["loading, 0 rows"]],
    "useView, refused": [() => useView(things, { labelSelector: 3 }), ["loading, 0 rows, invalid"]],
    useObject: [() => useObject(things, "a"), ["loading"]],
    useStatus: [() => useStatus(things), ["idle"]],
    useWatch: [() => useWatch(things, () => {}), ["watching"]],
    useInformer: [() => useInformer(things, {}), ["not synced"]],
    useDiscovery: [() => useDiscovery(), ["loading"]],
    useCan: [() => useCan({ verb: "get", resource: "pods" }), [undefined]],
  };
  for (const [name, [useHook, expected]] of Object.entries(each)) assert.deepEqual(debugged(useHook), expected, name);
});

/** What each hook says where React has no component for it. */
function refusals(hooks, call) {
  const things = cache.resource({ source, id: "things" });
  const calls = {
    useWatchCache: () => hooks.useWatchCache(),
    useResource: () => hooks.useResource("pods", { cache }),
    useView: () => hooks.useView(things),
    useSuspenseView: () => hooks.useSuspenseView(things),
    useObject: () => hooks.useObject(things, "a"),
    useStatus: () => hooks.useStatus(things),
    useWatch: () => hooks.useWatch(things, () => {}),
    useInformer: () => hooks.useInformer(things, {}),
    useDiscovery: () => hooks.useDiscovery({ cache }),
    useCan: () => hooks.useCan({ verb: "get", resource: "pods" }, { cache }),
  };
  assert.deepEqual(
    Object.keys(hooks)
      .filter((name) => name.startsWith("use"))
      .sort(),
    Object.keys(calls).sort(),
    "every hook",
  );
  return Object.entries(calls).map(([name, hook]) => {
    try {
      call(hook);
    } catch (error) {
      return `${error.code} ${name}: ${error.message}`;
    }
    return `${name} was done`;
  });
}

test("a hook that no component calls, and one of another copy of React, says so with the remedy", async (t) => {
  t.mock.method(console, "error", () => {}); // React itself says it in development
  const folder = mkdtempSync(join(tmpdir(), "watchcache-react-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  cpSync(join(root, "node_modules/react"), join(folder, "node_modules/react"), { recursive: true });
  const other = await import(pathToFileURL(join(folder, "dist/react/index.js")));
  const own = await import("watchcache/react");
  const rendered = (hook) => renderToStaticMarkup(element(() => void hook()));
  const said = [...refusals(own, (hook) => hook()), ...refusals(other, rendered)];
  for (const text of said)
    assert.match(text, /^invalid (use\w+): \1 is called while a component is rendered, and by one React.*npm ls react/, text);
});
