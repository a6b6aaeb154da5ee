// The hooks in Chromium, under React's development mode and StrictMode, over upstreams in memory and over the embedded server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createElement } from "react";
import { renderToPipeableStream } from "react-dom/server";
import { chromiumOnly, except, launchBrowser, ofTheBrowser } from "../engines/launch.mjs";
import { startServer } from "../../www/server/index.mjs";
import { buildPage } from "./build.mjs";
import { App } from "./page/streamed.js";

/** Both wait for a watch over fetch to be live, and nothing happens on it. */
const QUIET_FETCH = except({ firefox: "its fetch answers with the first bytes of a body, so a watch without events is not live" });

const WORKERS = chromiumOnly("workers and storage have suites of their own there");

let folder;
let server;
let browser;
let page;
/** What the console said in this scenario that nobody expects. */
let said = [];

before(async () => {
  folder = await buildPage();
  server = await startServer({ port: 0, pods: 40, rate: 0, seed: 3, root: folder });
  browser = await launchBrowser();
  page = await browser.newPage();
  page.on("pageerror", (error) => ofTheBrowser(error) || said.push(String(error.stack)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) said.push(message.text());
  });
  await page.goto(server.url);
});

after(async () => {
  await browser?.close();
  await server?.close();
});

/** @param expected words of console lines that the scenario causes */
async function run(name, given, expected = []) {
  said = [];
  const result = await page.evaluate(([name, given]) => globalThis.run(name, given), [name, given]);
  const unexpected = said.filter((line) => !expected.some((word) => line.includes(word)));
  assert.deepEqual(unexpected, [], "the console says nothing else");
  return result;
}

test("useView shows rows as they change, with one view, one list and one stream under StrictMode, and nothing stays behind", async () => {
  assert.deepEqual(await run("rows"), { now: [1, 1, 1], after: [0, 0] });
});

test("a window that moves shows no row of another, and none is missing, in one view", async () => {
  const { seen, views } = await run("windows");
  assert.deepEqual(seen, ["loaded 100: 0 1 2", "loaded 100: 3 4 5", "loaded 100: 50 51 52", "loaded 100: 97 98 99"]);
  assert.equal(views, 1);
});

test("what an object selects follows the object, and another version of it makes no other view", async () => {
  assert.deepEqual(await run("related"), { seen: [], views: 0 });
});

test("a refused spec keeps the last rows, which live on, and tells the error", async () => {
  assert.deepEqual(await run("refused"), []);
  assert.equal(await run("refusedMidway"), "loaded 1333: 1 2 (invalid)");
  assert.equal(await run("refusedFirst"), "loading 0:  (invalid)");
});

test("a filter that is typed opens no more than what is looked at, and no key blanks the rows", async () => {
  const { most, end, streams, blank } = await run("typed");
  assert.ok(most <= 2, `${most} views were open`);
  assert.deepEqual({ end, streams, blank }, { end: 1, streams: 1, blank: [] });
  assert.equal(await run("typedInTransitions"), 1);
});

test("a search moves the view, back to the window of the spec, and both may change in one render", async () => {
  const { seen, stays, same, views, setWindow } = await run("searched");
  assert.deepEqual({ stays, same, views, setWindow }, { stays: "111: 12 13", same: true, views: 1, setWindow: true });
  assert.equal(seen[0], "200: 150 151");
  for (const text of seen) assert.match(text, /^(200|11|111): \d+ \d+$/, `${text}: never a blank row`);
});

test("another resource shows none of the rows of the one before, and none shows none", async () => {
  assert.deepEqual(await run("otherResource"), ["loaded 4: 0 1 2 3", "loading 0: ", "loaded 2: 0 1", "loading 0: "]);
});

test("functions of a spec are taken anew when their deps change, as useMemo has it", async () => {
  const { one, end, renders } = await run("functionsByDeps");
  assert.deepEqual({ one, end }, { one: 1, end: 1 });
  assert.ok(renders < 30, `${renders} renders`);
});

test("functions that each render makes anew are told once, as invalid, and end in no loop", async () => {
  const { message, calm, views } = await run("functionsInPlace");
  assert.match(message, /\(invalid\) the functions of the spec .* give what they depend on/);
  assert.equal(calm, 0);
  assert.equal(views, 1);
});

test("only rows are rendered whose object changed, or of which a selected field did", async () => {
  const { "odd/thing-3": selected, "thing-3": whole, ...rest } = await run("renders");
  assert.deepEqual({ selected, whole }, { selected: 2, whole: 12 });
  for (const [name, times] of Object.entries(rest)) assert.equal(times, 1, name);
});

test("components over one flush agree, in two roots, under transitions and load", async () => {
  const { wrong, expected } = await run("tearing");
  assert.deepEqual(wrong, []);
  assert.ok(expected, "there were commits to look at");
  assert.equal(await run("oneCommit"), 1);
});

test("useObject shows an object before it exists, while it changes, when it is gone, and when it is there again", async () => {
  assert.equal(await run("objectsLife"), "loading none");
});

test("useObject asks a server for its object alone, and uses the stream of a table where one is open", async () => {
  const [one, two] = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items.map(({ metadata }) => metadata);
  const [name, other] = [one, two].map(({ namespace, name }) => `${namespace}/${name}`);
  const { alone, beside } = await run("objectsStream", { name, other });
  assert.deepEqual(alone, { lists: [`namespaces/${one.namespace}/pods?fieldSelector=metadata.name=${one.name}`], streams: 1 });
  assert.deepEqual(beside, { lists: 0, streams: 1 });
  for (let number = 0; number < 8; number++) {
    const [isWarm, isLast, strict] = [1, 2, 4].map((bit) => (number & bit) !== 0);
    const streams = await run("objectBesideNewTable", { name, isWarm, isLast, strict });
    assert.equal(streams, 1, `mounted with the table: ${JSON.stringify({ isWarm, isLast, strict })}`);
  }
});

test("useObject tells why there is nothing, and keeps what was there", async () => {
  assert.equal(await run("objectRefused"), "stale size 0");
});

test("useStatus is live, and opens nothing", async () => {
  const { opened, seen } = await run("statuses");
  assert.equal(opened, 0);
  assert.equal(seen[0], "idle");
  for (const phase of ["live", "reconnecting", "closed"]) assert.ok(seen.includes(phase), `${phase} among ${seen}`);
});

test("useWatch calls the newest handler that was committed, by one watch", async () => {
  assert.deepEqual(await run("watchesNewest"), { heard: ["a ADDED 1", "b ADDED 4"], watchers: 1 });
  assert.deepEqual(await run("watchesDiscarded"), ["a ADDED 0", "a ADDED 2"]);
});

test("useWatch goes on over lost streams, relists, and versions that are gone", async () => {
  const { first, second, third, refused, after } = await run("watchesOn");
  assert.deepEqual(first.slice(0, 4), ["ADDED 0", "ADDED 1", "ADDED 2", "DELETED 0"]);
  assert.ok(second.includes("ADDED 6"), second.join());
  assert.deepEqual([...third.filter((name) => name !== "ERROR")].sort(), ["ADDED 1", "ADDED 2", "ADDED 6"]);
  assert.match(refused, /labelSelectr is no option of watch: did you mean labelSelector/);
  assert.deepEqual(after, []);
});

test("useWatch tells why nothing comes, and begins when the resource is live", async () => {
  const { asked, states } = await run("watchesRefused");
  assert.ok(asked < 4, `${asked} requests`);
  assert.deepEqual(states, ["forbidden", undefined]);
});

test("useInformer follows objects with the newest handler, and stops when it is unmounted", async () => {
  const { heard, ...rest } = await run("informers");
  assert.deepEqual(heard.sort(), ["a add 1 at first", "a add 2 at first", "b add 4", "b delete odd/thing-1"]);
  assert.deepEqual(rest, { dbs: 1, informers: 1, handlers: 1 });
  assert.match(await run("handlerThatIsNone", undefined, [""]), /handler is a function, not an object/);
});

test("useSuspenseView suspends until the rows are there; a transition keeps what is on the screen", async () => {
  const { seen, views } = await run("suspends");
  assert.equal(seen[0], "waiting");
  assert.equal(seen.lastIndexOf("waiting", seen.indexOf("true 1 2 4 (invalid)")), 0, seen.join(" | "));
  assert.ok(views <= 2, `${views} views`);
});

test("useSuspenseView gives what ends the first load to the error boundary, and later errors to its caller", async () => {
  assert.equal(await run("suspendsRefused", undefined, ["not you", "labelSelector"]), "true 0 1 (forbidden)");
});

test("useSuspenseView lets go where what waited is gone, and waits on where it is not", { timeout: 60_000 }, async () => {
  assert.equal(await run("suspendsAbandoned"), "let go");
  const { seen, lists } = await run("suspendsLong");
  assert.deepEqual(seen, ["waiting", "true 0 1"]);
  assert.equal(lists, 1);
});

test("useSuspenseView with functions that each try makes anew says so, and tries no more", async () => {
  assert.match(await run("suspendsRestless", undefined, ["functions of the spec"]), /^caught invalid: the functions of the spec/);
});

test("two clusters stand in one tree, by nested providers and by the option", async () => {
  assert.deepEqual(await run("clusters"), [1, 1, 1]);
});

test("a resource's spec is compared by content", async () => {
  assert.deepEqual(await run("specsInPlace"), [1, 2]);
});

test("mistakes reach the error boundary, each with its remedy", async () => {
  const all = await run("mistakes", undefined, [""]);
  for (const [at, words] of [/WatchCacheProvider above this component/, /is no resource|version/, /cache=\{cache\}/, /closed/].entries())
    assert.match(all[at], words);
});

test("what Activity hides lets go, and goes on where it was", async () => {
  assert.deepEqual(await run("hidden"), { after: "11 12", views: 1 });
});

test("mounting and unmounting a hundred times leaves no view and no stream", async () => {
  assert.equal(await run("comings"), 1);
});

test("what a server sent is taken over as it is, and is live from then on", async () => {
  const { sent, same, errors } = await run("hydrated");
  assert.equal(sent, "loadingnoneidlewaiting");
  assert.equal(same, true, "nothing was rendered anew");
  assert.deepEqual(
    errors.filter((error) => !/fallback of the nearest Suspense|Switched to client rendering/.test(error)),
    [],
  );
});

test("a spec that is none is refused by name, in the hook's error", async () => {
  const { map, number, text, loop, bigint, nan, unknown, ...fine } = await run("wrongSpecs");
  assert.match(map, /^invalid: derive is a plain object/);
  for (const said of [number, text]) assert.match(said, /^invalid: what view is given is an object/);
  assert.match(loop, /^invalid: labelSelector is text, not an object/);
  for (const said of [bigint, nan]) assert.match(said, /^invalid: window.offset is a whole number/);
  assert.match(unknown, /did you mean labelSelector/);
  assert.deepEqual(fine, { null: "2", nothing: "2", member: "2" });
});

test("what is no resource is refused by each hook, with what to give", async () => {
  const all = await run("wrongResources", undefined, [""]);
  assert.equal(all.length, 24);
  for (const said of all) assert.match(said, /^caught invalid: use\w+ takes a resource, as useResource\("pods"\)/);
});

test("a spec that is changed in place is another one at the next render", async () => assert.equal(await run("mutatedSpec"), "1 2"));

test("a hundred objects beside a table use its stream", async () => assert.equal(await run("manyObjects"), 1));

test("useObject takes every name that an object may have, and finds none for keys that are none", async () => {
  assert.deepEqual(await run("oddKeys"), ["1", "2", "loading", "none", "none", "none", "none"]);
});

test("what is closed under a component says so, and keeps what was there", async () => {
  assert.deepEqual(await run("closedUnderneath"), { after: "3 closed 0 closed closed", watched: "closed" });
});

test("a handler may throw, set state, and take its component away", async () => {
  assert.deepEqual(await run("wildHandlers", undefined, ["thrown"]), { heard: 3, reported: ["thrown"] });
});

test("no handler is called once its component has gone", async () => {
  assert.deepEqual(await run("heardWhenGone"), { at: 1, heard: ["informer thing-0", "watch even/thing-0"] });
});

test("no hook renders for what it does not show", async () => {
  assert.deepEqual(await run("idleRenders"), { view: 0, object: 0, status: 0, watch: 0, selected: 0 });
});

test("500 components come and go, and leave no view, no watch and no listener", async () => {
  assert.deepEqual(await run("comeAndGo"), { watchers: 0, views: 1, informers: 0, listeners: 0 });
});

test("a first window or search that is refused is mended by the next one", async () => {
  assert.deepEqual(await run("mended"), ["loaded 5: 0 1", "loaded 5: 0", "loaded 1: 1", "loaded 1: 1"]);
});

test("useSuspenseView without a resource, and deps that are no array, are refused by name", async () => {
  assert.match(await run("suspendsOnNothing", undefined, [""]), /^caught invalid: useSuspenseView waits for rows of a resource/);
  const [number, text, object, none] = await run("wrongDeps", undefined, [""]);
  for (const said of [number, text, object]) assert.match(said, /^caught invalid: deps is an array .* not (5|text|an object)$/);
  assert.equal(none, "loaded 2: 0 1");
  assert.equal(await run("depsOfAnotherLength", undefined, ["changed size between renders"]), "loaded 4: 1 2 3 4");
});

test("useObject shows the object of its key, and no other of that name", async () => {
  assert.deepEqual(await run("exactKeys"), [
    "odd/thing-1: loaded 1 1",
    "thing-1: loaded free free",
    "thing-2: loaded none none",
    "b: loaded none none",
    "a/b: loaded ab ab",
    "even/thing-1: loaded none none",
  ]);
  assert.deepEqual(await run("objectMadeAgain"), { uids: 3, text: "false true" });
  assert.deepEqual(await run("comesAndGoes"), [
    "loading none none",
    "loaded 1 1",
    "loading none none",
    "loaded 1 1",
    "loading none none",
    "loaded 3 3",
  ]);
});

test("useObject over a resource of one namespace stays within it, and uses its stream where that is open", async () => {
  const all = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items.map(({ metadata }) => metadata);
  const [{ namespace, name }] = all;
  const other = all.find((one) => one.namespace !== namespace);
  const given = { namespace, name, elsewhere: `${other.namespace}/${other.name}` };
  assert.deepEqual(await run("objectsNarrowed", given), {
    alone: [`namespaces/${namespace}/pods?fieldSelector=metadata.name=${name}`],
    beside: [],
    streams: 1,
  });
});

test("useObject over several namespaces asks the one that the object is of, and shows none of another", async () => {
  const all = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items.map(({ metadata }) => metadata);
  const [{ namespace, name }] = all;
  const [, second, third] = [...new Set(all.map((one) => one.namespace))];
  const other = all.find((one) => one.namespace === third);
  const given = { namespaces: [namespace, second], namespace, name, elsewhere: `${third}/${other.name}` };
  assert.deepEqual(await run("objectOfNamespaces", given), {
    alone: [`namespaces/${namespace}/pods?fieldSelector=metadata.name=${name}`],
    elsewhere: "none",
  });
});

test("useObject that was hidden shows what it had, and opens no list of everything when it is shown again", QUIET_FETCH, async () => {
  const [{ metadata }] = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items;
  const { namespace, name } = metadata;
  assert.deepEqual(await run("objectHiddenAlone", { name: `${namespace}/${name}` }), {
    seen: [`true false ${name}`],
    asked: [`namespaces/${namespace}/pods?fieldSelector=metadata.name=${name}`],
  });
  const seen = await run("objectHidden");
  assert.equal(seen.at(-1), "loaded 11 11");
  for (const text of seen) assert.match(text, /^loaded( stale)? (1 1|11 11)$/);
});

test("useWatch tells no error of what it does not watch any more", async () => assert.equal(await run("watchErrorEnds"), undefined));

test("a provider with another cache shows none of the rows of the one before", async () => {
  assert.deepEqual(await run("otherCache"), ["3", "…", "3"]);
});

test("a cache or view that is closed at any time, also in callbacks and effects, is told and breaks nothing", async () => {
  assert.deepEqual(await run("closedMidway"), ["loading 0:  (closed)loading none none (closed)", "closed", "closed", "3"]);
});

test("useObject over a closed cache says so in place, and keeps what it had", async () => {
  assert.deepEqual(await run("objectOfClosed"), ["loading none none (closed)", "loaded stale 1 1 (closed)"]);
});

test("a component may go in the flush that tells it", async () => assert.equal(await run("goesInItsFlush"), "gone"));

test("a server that is down when the page opens and comes back: what waits waits on", async () => {
  const seen = await run("downAtFirst");
  assert.equal(seen[0], "waiting loading 0:  loading none none");
  assert.equal(seen.at(-1), "2 loaded 2: 0 1 loaded 1 1");
});

test("windows are as large as numbers are, and no larger", async () => {
  assert.deepEqual(await run("hugeWindows"), [
    "loaded 5: 0 1 2 3 4",
    "loaded 5: ",
    "loaded 5: 4",
    "loaded 5: ",
    ...Array(3).fill("loading 0:  (invalid)"),
  ]);
});

test("an error boundary is reset with the status that follows resume", async () => {
  assert.deepEqual(await run("boundaryReset", undefined, ["not you"]), ["caught forbidden: not you", 0]);
});

test(
  "what Node streams is taken over without a mismatch, before and after its last part has come",
  { timeout: 30_000, ...QUIET_FETCH },
  async () => {
    const [{ metadata }] = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items;
    const id = `${metadata.namespace}/${metadata.name}`;
    const [script] = readFileSync(join(folder, "index.html"), "utf8").match(/\/assets\/[^"]+\.js/);
    const errors = [];
    const sent = [];
    const own = createServer((request, response) => {
      if (!request.url.startsWith("/?")) {
        const type = request.url.endsWith(".js") ? "text/javascript" : "application/wasm";
        return response.setHeader("content-type", type).end(readFileSync(join(folder, new URL(request.url, "http://own").pathname)));
      }
      const { pipe } = renderToPipeableStream(createElement(App, { id }), {
        bootstrapModules: [script],
        bootstrapScriptContent: "globalThis.shell = document.querySelector('#all')",
        onShellReady: () => pipe(response.setHeader("content-type", "text/html")),
        onError: (error) => (errors.push(error.message), error.digest),
      });
      const { write } = response;
      response.write = (chunk, ...rest) => (sent.push(Buffer.from(chunk)), write.call(response, chunk, ...rest));
      return response;
    });
    await new Promise((resolve) => own.listen(0, "127.0.0.1", resolve));
    const streamed = await browser.newPage();
    const noise = [];
    streamed.on("pageerror", (error) => noise.push(String(error)));
    streamed.on("console", (message) => ["error", "warning"].includes(message.type()) && noise.push(message.text()));
    try {
      await streamed.goto(`http://127.0.0.1:${own.address().port}/?${new URLSearchParams({ id, server: server.url })}`);
      const wanted = `true 40 ${metadata.name} live`;
      await streamed.waitForFunction((text) => document.querySelector("#all").textContent === text, wanted, { timeout: 10_000 });
      await streamed.waitForFunction(() => document.querySelectorAll("#waits").length === 2, undefined, { timeout: 10_000 });
      assert.deepEqual(await streamed.locator("#waits").allInnerTexts(), ["2", "2"]);
      assert.equal(await streamed.evaluate(() => globalThis.shell === document.querySelector("#all")), true, "nothing was rendered anew");
      const recovered = await streamed.evaluate(() => globalThis.recovered);
      assert.equal(recovered.length, 2, recovered.join());
      for (const text of recovered) assert.match(text, /server could not finish this Suspense boundary|Switched to client rendering/, text);
      assert.deepEqual(noise, []);
      assert.match(Buffer.concat(sent).toString(), /false 0 none idle.*waiting/s);
      assert.equal(new Set(errors).size, 1, errors.join());
    } finally {
      await streamed.close();
      own.closeAllConnections();
      await new Promise((resolve) => own.close(resolve));
    }
  },
);

for (const mode of ["worker", "shared"]) {
  const firstPod = async () => {
    const all = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items.map(({ metadata: { namespace, name } }) => ({
      namespace,
      name,
    }));
    const [{ namespace, name }] = all.sort((a, b) => (a.name < b.name ? -1 : 1));
    return `${namespace}/${name}`;
  };

  test(`all hooks under StrictMode behind a worker are one stream, and leave nothing: ${mode}`, WORKERS, async () => {
    const id = await firstPod();
    const before = { ...server.control.status().counts };
    // The table and its object are a view each.
    const there = { mode, views: 2, watchers: 1, informers: 1 };
    assert.deepEqual(await run("behindWorker", { mode, id }), { there, named: true, label: mode, views: 0 });
    const { lists, watches } = server.control.status().counts;
    assert.deepEqual([lists - before.lists, watches - before.watches], [1, 1]);
  });

  test(`a warm start in React is stale until the server has spoken, and never blank: ${mode}`, WORKERS, async () => {
    const seen = await run("warmStart", { mode, id: await firstPod() }, ["503"]);
    assert.deepEqual(seen, ["rows stale", "rows live"]);
  });
}
