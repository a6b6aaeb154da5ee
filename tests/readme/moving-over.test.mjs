// The worked examples of docs/moving-over, as they stand there: the page of each console over the embedded server, in Chromium. One script for all.
// The shapes of Headlamp's hooks are those of its types at the commit that the page names. The original does not run beside: `@kinvolk/headlamp-plugin`
// brings some hundred packages, Storybook and Material UI among them, for these two hooks.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import react from "@vitejs/plugin-react";
import { chromium } from "playwright-core";
import { build } from "vite";
import { compileScript, parse } from "vue/compiler-sfc";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { alias } from "../react/build.mjs";
import { root } from "./run.mjs";

const WRITTEN = join(root, "artifacts/moving-over");
const CONSOLES = ["headlamp", "rancher", "freelens"];
const NAMESPACE = "shop";

/** Writes the files of a guide, and gives their names. */
function write(console) {
  const text = readFileSync(join(root, `docs/moving-over/${console}.md`), "utf8");
  const files = [...text.matchAll(/^```\w+ file=(\S+)\n(.*?)^```$/gms)];
  assert.ok(files.length >= 2);
  mkdirSync(join(WRITTEN, console), { recursive: true });
  for (const [, name, body] of files) writeFileSync(join(WRITTEN, console, name), body);
}

const vue = {
  name: "vue",
  enforce: "pre",
  transform(code, filename) {
    if (!filename.endsWith(".vue")) return undefined;
    const { descriptor, errors } = parse(code, { filename });
    assert.deepEqual(errors, []);
    return compileScript(descriptor, { id: filename, inlineTemplate: true }).content;
  },
};

let server;
let other;
let browser;
before(async () => {
  CONSOLES.forEach(write);
  const outDir = join(WRITTEN, "dist");
  await build({
    configFile: false,
    root: join(root, "tests/readme/moving-over"),
    mode: "development",
    logLevel: "warn",
    define: {
      "process.env.NODE_ENV": '"development"',
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
    },
    plugins: [vue, react()],
    resolve: { alias: { ...alias, pages: WRITTEN } },
    build: { outDir, emptyOutDir: true, minify: false, chunkSizeWarningLimit: 4_096 },
  });
  server = await startServer({ port: 0, pods: 60, rate: 0, seed: 3, root: outDir });
  other = await startServer({ port: 0, pods: 20, rate: 0, seed: 4 });
  browser = await chromium.launch(launchOptions());
});
after(async () => {
  await browser?.close();
  await Promise.all([server?.close(), other?.close()]);
});

const at = (name = "", of = server) => `${of.url}/api/v1/namespaces/${NAMESPACE}/pods${name && `/${name}`}`;
const json = (body, type = "application/json") => ({ headers: { "content-type": type }, body: JSON.stringify(body) });
async function ask(name, init, of) {
  const response = await fetch(at(name, of), init);
  assert.ok(response.ok, `${response.status} ${await response.clone().text()}`);
  return response.json();
}
const podsOf = async (of) => (await ask("", undefined, of)).items;
const create = (name, of) =>
  ask("", { method: "POST", ...json({ metadata: { name }, spec: { containers: [{ name: "main", image: "example.com/main:1" }] } }) }, of);
const setPhase = (name, phase, of) =>
  ask(`${name}/status`, { method: "PATCH", ...json({ status: { phase } }, "application/merge-patch+json") }, of);
const remove = (name, of) => ask(`${name}?gracePeriodSeconds=0`, { method: "DELETE" }, of);

async function open() {
  // The other cluster is on another origin; a console has all of them on its own.
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const said = [];
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(socket.url()));
  page.on("pageerror", (error) => said.push(String(error.stack)));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
  await page.goto(server.url);
  await page.waitForFunction(() => "pages" in globalThis);
  return { page, said, sockets };
}

const textsOf = (page) =>
  page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent).join(" ")));
async function shows(page, wanted) {
  const sorted = [...wanted].sort();
  const rows = async () => (await textsOf(page)).sort();
  const until = Date.now() + 10_000;
  while (Date.now() < until && (await rows()).join() !== sorted.join()) await page.waitForTimeout(20);
  assert.deepEqual(await rows(), sorted);
}
const rowsOf = (pods) => pods.map(({ metadata, status }) => `${metadata.name} ${status.phase}`);

for (const way of CONSOLES) {
  test(`${way}: a list with its detail follows changes and deletions, and keeps its rows while the connection is lost`, async () => {
    const { page, said, sockets } = await open();
    await page.evaluate((url) => globalThis.pages.connect({ east: url }), server.url);
    await page.evaluate((way) => globalThis.pages.start(way), way);
    const before = await podsOf();
    assert.ok(before.length > 5);
    await shows(page, rowsOf(before));

    const name = `of-${way}`;
    await create(name);
    await shows(page, rowsOf(await podsOf()));
    await page.locator("tr", { hasText: name }).click();
    const detail = (text) => page.locator("aside", { hasText: text }).waitFor();
    await detail(`${name} Pending`);
    await setPhase(name, "Running");
    await shows(page, rowsOf(await podsOf()));
    await detail(`${name} Running`);

    const opened = sockets.length;
    for (const phase of ["Unknown", "Running"]) await setPhase(name, phase);
    await shows(page, rowsOf(await podsOf()));
    assert.equal(sockets.length, opened, "no event opens another socket");

    // The connection goes, and does not come back yet.
    await page.evaluate(() => globalThis.pages.leastRows());
    await page.context().setOffline(true);
    server.control.fault("drop");
    await page.locator("table.stale").waitFor();
    await setPhase(name, "Failed");
    await page.waitForTimeout(300);
    assert.equal((await textsOf(page)).length, before.length + 1);
    assert.ok((await textsOf(page)).includes(`${name} Running`));
    await page.context().setOffline(false);
    await shows(page, rowsOf(await podsOf()));
    await detail(`${name} Failed`);
    await page.locator("table:not(.stale)").waitFor();
    assert.equal(await page.evaluate(() => globalThis.pages.leastRows()), before.length + 1, "no frame has shown fewer rows");
    const lists = await page.evaluate(() =>
      globalThis.pages
        .caches()
        .east.stats()
        .resources.map(({ lists }) => lists),
    );
    assert.deepEqual([...new Set(lists)], [1], "it went on from where it was, without another list");

    await remove(name);
    await shows(page, rowsOf(before));
    await detail(way === "headlamp" ? `${name} Failed` : "gone");
    await page.evaluate(() => globalThis.pages.stop());
    assert.equal(await page.locator("#root").innerText(), "");
    assert.deepEqual(
      said.filter((text) => !/WebSocket connection to .* failed|ERR_INTERNET_DISCONNECTED/.test(text)),
      [],
    );
    await page.context().close();
  });
}

test("headlamp: a detail beside a list of all namespaces is read from that", async () => {
  const { page } = await open();
  await page.evaluate((url) => globalThis.pages.connect({ east: url }), server.url);
  await page.evaluate(() => globalThis.pages.start("everywhere"));
  const { items } = await (await fetch(`${server.url}/api/v1/pods`)).json();
  await shows(page, rowsOf(items));
  await page.locator("tbody tr").first().click();
  await page.locator("aside", { hasText: /\w+ \w+/ }).waitFor();
  assert.deepEqual(
    await page.evaluate(() =>
      globalThis.pages
        .caches()
        .east.stats()
        .resources.map(({ objects }) => objects),
    ),
    [items.length],
  );
  await page.context().close();
});

test("rancher: one object without a list, labels, and what is forgotten", async () => {
  const { page } = await open();
  await page.evaluate((url) => globalThis.pages.connect({ east: url }), server.url);
  const pods = await podsOf();
  const { name, labels } = pods[0].metadata;
  const id = `${NAMESPACE}/${name}`;
  const { found, streams } = await page.evaluate(async (id) => {
    globalThis.pages.store = globalThis.pages.storeOf();
    const found = await globalThis.pages.store.dispatch("cluster/find", { type: "pod", id });
    const streams = globalThis.pages
      .caches()
      .east.stats()
      .resources.map(({ objects }) => objects);
    return { found: found.metadata.name, streams };
  }, id);
  assert.deepEqual([found, streams], [name, [1]], "the server was asked for this object alone");
  const asked = await page.evaluate(
    async ([id, selector, namespace]) => {
      const { dispatch, getters } = globalThis.pages.store;
      const all = await dispatch("cluster/findAll", { type: "pod" });
      const matching = getters["cluster/matching"]("pod", selector, namespace);
      const nowhere = getters["cluster/matching"]("pod", selector, "nowhere").length;
      const byId = getters["cluster/byId"]("pod", id) === all.find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === id);
      return { all: all.length, matching: matching.length, nowhere, byId };
    },
    [id, `app=${labels.app}`, NAMESPACE],
  );
  const matching = pods.filter(({ metadata }) => metadata.labels.app === labels.app).length;
  assert.deepEqual(asked, { all: pods.length, matching, nowhere: 0, byId: true });

  const label = (app) => ask(name, { method: "PATCH", ...json({ metadata: { labels: { app } } }, "application/merge-patch+json") });
  const matches = (count) =>
    page.waitForFunction(
      ([selector, namespace, count]) => globalThis.pages.store.getters["cluster/matching"]("pod", selector, namespace).length === count,
      [`app=${labels.app}`, NAMESPACE, count],
    );
  await label("another");
  await matches(matching - 1);
  await label(labels.app);
  await matches(matching);

  const left = await page.evaluate(async () => {
    const { dispatch, getters } = globalThis.pages.store;
    await dispatch("cluster/forgetType", "pod");
    return getters["cluster/all"]("pod").length;
  });
  assert.equal(left, 0);
  // Nothing of it goes on: its views end after a while.
  const isOver = () => {
    const { resources } = globalThis.pages.caches().east.stats();
    return resources.every(({ views }) => views === 0);
  };
  await page.waitForFunction(isOver, undefined, { timeout: 20_000 });
  await page.context().close();
});

test("freelens: lookups, namespaces that are chosen, writes, and a store that nobody observes", async () => {
  const { page } = await open();
  await page.evaluate((url) => globalThis.pages.connect({ east: url }), server.url);
  await page.evaluate(() => globalThis.pages.start("freelens"));
  const everything = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items;
  const shop = await podsOf();
  await shows(page, rowsOf(shop));
  await page.evaluate(() => globalThis.pages.context.contextNamespaces.push("kube-system"));
  await shows(page, rowsOf(everything.filter(({ metadata }) => [NAMESPACE, "kube-system"].includes(metadata.namespace))));
  await page.evaluate(() => globalThis.pages.context.contextNamespaces.pop());
  await shows(page, rowsOf(shop));

  await create("to-write");
  await shows(page, rowsOf(await podsOf()));
  const found = await page.evaluate(async (namespace) => {
    const { store } = globalThis.pages;
    const all = (await store.loadAll()).length;
    const pod = store.getByName("to-write", namespace);
    const same = store.getById(pod.getId()) === pod && store.items.includes(pod);
    await store.update(pod, (current) => ({ ...current, metadata: { ...current.metadata, labels: { moved: "over" } } }));
    const label = store.getByName("to-write", namespace).metadata.labels.moved;
    await store.remove(pod);
    return { same, label, all };
  }, NAMESPACE);
  assert.deepEqual(found, { same: true, label: "over", all: everything.length + 1 });
  await shows(page, rowsOf(shop));

  const views = () =>
    page.evaluate(() =>
      globalThis.pages
        .caches()
        .east.stats()
        .resources.map(({ views }) => views),
    );
  const end = await page.evaluateHandle(() => globalThis.pages.store.subscribe());
  await page.evaluate(() => globalThis.pages.stop());
  assert.deepEqual(await views(), [1]);
  await end.evaluate((end) => end());
  await page.waitForFunction(
    () =>
      globalThis.pages
        .caches()
        .east.stats()
        .resources.every(({ views }) => views === 0),
    undefined,
    { timeout: 8_000 },
  );
  await page.context().close();
});

describe("headlamp: the shapes of useList and useGet", () => {
  let page;
  let said;
  before(async () => {
    ({ page, said } = await open());
    await page.evaluate(([east, west]) => globalThis.pages.connect({ east, west }), [server.url, other.url]);
  });
  afterEach(() => page.evaluate(() => globalThis.pages.probe.stop()));
  after(() => page.context().close());

  const render = (...given) => page.evaluate((given) => globalThis.pages.probe.render(...given), given);
  const results = () => page.evaluate(() => globalThis.pages.probe.results());
  async function until(holds) {
    const end = Date.now() + 10_000;
    for (;;) {
      const all = await results();
      if (all.length > 0 && holds(all.at(-1))) return all;
      if (Date.now() > end) assert.fail(JSON.stringify(all.at(-1)));
      await page.waitForTimeout(20);
    }
  }
  const namesOf = (items) => items.map(({ name }) => name).sort();
  const named = (pods) => pods.map(({ metadata }) => metadata.name).sort();
  const everyPod = async (of = server) => (await (await fetch(`${of.url}/api/v1/pods`)).json()).items;

  test("no items while it loads, then all of them; members and pair say the same in each render", async () => {
    await render("useList", "Pod", { cluster: "east" });
    const all = await until(({ items }) => items?.length > 0);
    assert.ok(all.every(({ pair }) => pair));
    const { items, ...first } = all[0];
    assert.deepEqual(
      [items, first],
      [null, { isLoading: true, isFetching: true, isError: false, isSuccess: false, pair: true, error: null, errors: null }],
    );
    assert.deepEqual(namesOf(all.at(-1).items), named(await everyPod()));
    assert.ok(all.at(-1).items.every(({ isOfKind, cluster }) => isOfKind && cluster === "east"));
    const { isLoading, isFetching, isError, isSuccess, error, errors } = all.at(-1);
    assert.deepEqual([isLoading, isFetching, isError, isSuccess, error, errors], [false, false, false, true, null, null]);
  });

  for (const [namespace, holds] of [
    [NAMESPACE, (name) => name === NAMESPACE],
    [[NAMESPACE, "kube-system"], (name) => [NAMESPACE, "kube-system"].includes(name)],
    [[], () => true],
  ]) {
    test(`namespace: ${JSON.stringify(namespace)}`, async () => {
      const wanted = named((await everyPod()).filter(({ metadata }) => holds(metadata.namespace)));
      await render("useList", "Pod", { cluster: "east", namespace });
      const all = await until(({ isSuccess }) => isSuccess);
      assert.deepEqual(namesOf(all.at(-1).items), wanted);
    });
  }

  test("selectors, and one that cannot be read", async () => {
    const pods = await everyPod();
    const { app } = pods[0].metadata.labels;
    await render("useList", "Pod", { cluster: "east", labelSelector: `app=${app}` });
    const byLabel = await until(({ isSuccess, items }) => isSuccess && items.length < pods.length);
    assert.deepEqual(namesOf(byLabel.at(-1).items), named(pods.filter(({ metadata }) => metadata.labels.app === app)));
    await render("useList", "Pod", { cluster: "east", fieldSelector: "status.phase!=Running" });
    const wanted = named(pods.filter(({ status }) => status.phase !== "Running"));
    const byField = await until(({ isSuccess, items }) => isSuccess && items.length === wanted.length);
    assert.deepEqual(namesOf(byField.at(-1).items), wanted);
    await render("useList", "Pod", { cluster: "east", labelSelector: "app in (" });
    const { items, isError, isLoading, error, errors } = (await until(({ isError }) => isError)).at(-1);
    assert.deepEqual([items, isError, isLoading, errors.length, error.cluster], [null, true, false, 1, "east"]);
    assert.match(error.text, /unable to parse requirement/);
  });

  test("a resource that is not there", async () => {
    await render("useList", "Widget", { cluster: "east", namespace: NAMESPACE });
    const { items, isError, isLoading, isSuccess, error, errors } = (await until(({ isError }) => isError)).at(-1);
    assert.deepEqual([items, isError, isLoading, isSuccess], [null, true, false, false]);
    assert.deepEqual([error.status, error.cluster, error.namespace], [404, "east", NAMESPACE]);
    assert.deepEqual(errors, [error]);
  });

  test("two clusters are one list; where one refuses, the items of the other are there", async () => {
    await render("useList", "Pod", { namespace: NAMESPACE });
    const both = [...(await podsOf(server)), ...(await podsOf(other))];
    const { items } = (await until(({ isSuccess }) => isSuccess)).at(-1);
    assert.deepEqual(namesOf(items), named(both));
    assert.deepEqual([...new Set(items.map(({ cluster }) => cluster))], ["east", "west"]);
    other.control.fault("status", { code: 403 });
    await render("useList", "Pod", { namespace: "kube-system", clusters: ["east", "west"] });
    const refused = (await until(({ isError }) => isError)).at(-1);
    other.control.fault("clear");
    assert.deepEqual(namesOf(refused.items), named((await everyPod()).filter(({ metadata }) => metadata.namespace === "kube-system")));
    assert.deepEqual(
      refused.errors.map(({ status, cluster, namespace }) => [status, cluster, namespace]),
      [[403, "west", "kube-system"]],
    );
    assert.deepEqual([refused.isError, refused.isSuccess], [true, false]);
  });

  test("an event leaves all other items the objects that they were; options written in place open nothing anew", async () => {
    await render("useList", "Pod", { cluster: "east", namespace: NAMESPACE });
    const { items } = (await until(({ isSuccess }) => isSuccess)).at(-1);
    const before = await page.evaluate(() => globalThis.pages.caches().east.stats().resources.length);
    await page.evaluate(() => void globalThis.pages.probe.keep());
    await setPhase(items[0].name, "Unknown");
    await until(({ items }) => items.some(({ phase }) => phase === "Unknown"));
    const same = await page.evaluate(() => globalThis.pages.probe.same());
    assert.deepEqual([same.length, same.filter((is) => !is).length], [items.length, 1]);
    for (let i = 0; i < 3; i++)
      await render("useList", "Pod", { cluster: "east", namespace: [NAMESPACE], limit: 1000, refetchInterval: 5000 });
    await until(({ isSuccess }) => isSuccess);
    assert.equal(await page.evaluate(() => globalThis.pages.caches().east.stats().resources.length), before);
  });

  test("one object: none while it loads, then it, its changes, and its last version after it is gone", async () => {
    await create("one", other);
    await render("useGet", "Pod", "one", NAMESPACE, { cluster: "west" });
    const all = await until(({ data }) => data !== null);
    assert.deepEqual([all[0].data, all[0].isLoading, all[0].status, all[0].error], [null, true, "pending", null]);
    const { data, status, isSuccess, pair } = all.at(-1);
    assert.deepEqual([data.name, data.isOfKind, data.cluster, status, isSuccess, pair], ["one", true, "west", "success", true, true]);
    await setPhase("one", "Running", other);
    await until(({ data }) => data.phase === "Running");
    await remove("one", other);
    await page.waitForTimeout(200);
    const { data: last, error } = (await results()).at(-1);
    assert.deepEqual([last.name, last.phase, error], ["one", "Running", null]);
  });

  test("one object that is not there", async () => {
    await render("useGet", "Pod", "nobody", NAMESPACE, { cluster: "east" });
    const { data, status, isError, isLoading, error } = (await until(({ isError }) => isError)).at(-1);
    assert.deepEqual([data, status, isError, isLoading, error.status], [null, "error", true, false, 404]);
  });

  test("nothing was thrown, and React had nothing to say", () =>
    assert.deepEqual(
      said.filter((text) => !/WebSocket connection to|Failed to load resource/.test(text)),
      [],
    ));
});
