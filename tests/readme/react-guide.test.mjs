// The components of docs/react.md, as they stand there, in Chromium under StrictMode, over the embedded server; and the grid over 100,000 rows.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { launchOptions } from "../../scripts/lib/browser.mjs";
import { startServer } from "../../www/server/index.mjs";
import { buildApp } from "../react/build.mjs";
import { root } from "./run.mjs";

const APP = join(root, "artifacts/react-guide");
const COUNT = 100_000;

const MAIN = `
  import { StrictMode } from "react";
  import { createRoot } from "react-dom/client";
  import { createWatchCache } from "watchcache";
  import { memorySource } from "watchcache/memory";
  import { WatchCacheProvider } from "watchcache/react";
  import { App, cache } from "./app.jsx";
  import { Deployments } from "./deployments.jsx";
  import { Detail } from "./detail.jsx";
  import { Grid } from "./grid.jsx";
  import { Notices } from "./notices.jsx";
  import { Restarting } from "./restarting.jsx";
  import { Selected } from "./selected.jsx";
  import { Session, signIn, signOut } from "./session.jsx";
  import { Suspended } from "./suspended.jsx";
  import { Table } from "./table.jsx";

  const pods = cache.resource("pods");
  const root = createRoot(document.querySelector("#root"));
  globalThis.show = (what, given) => root.render(<StrictMode key={what}>{{
    app: () => <App />,
    deployments: () => <WatchCacheProvider cache={given.broken ? createWatchCache({ server: location.origin + "/nowhere" }) : cache}><Deployments {...given} /></WatchCacheProvider>,
    table: () => <Table pods={pods} />,
    restarting: () => <Restarting pods={pods} {...given} />,
    detail: () => <Detail pods={pods} {...given} />,
    notices: () => <Notices pods={pods} />,
    selected: () => <Selected pods={pods} services={cache.resource("services")} {...given} />,
    suspended: () => <Suspended pods={pods} />,
    session: () => <Session />,
    grid: () => <Grid pods={many()} />,
  }[what]()}</StrictMode>);

  Object.assign(globalThis, { signIn, signOut });

  let held;
  function many() {
    if (held) return held;
    const objects = Array.from({ length: ${COUNT} }, (_, i) => ({ metadata: { namespace: "a", name: "pod-" + i }, status: { phase: "Running" } }));
    globalThis.source = memorySource({ objects, pageSize: 5_000 });
    return (held = createWatchCache().resource({ source: globalThis.source, id: "many" }));
  }
`;

let server;
let browser;
let page;
let pods;
const said = [];

before(async () => {
  mkdirSync(APP, { recursive: true });
  const guide = readFileSync(join(root, "docs/react.md"), "utf8");
  const recipes = [...guide.matchAll(/^```jsx file=(\S+)\n(.*?)^```$/gms)];
  assert.equal(recipes.length, guide.match(/^```jsx/gm).length, "each of them has a name");
  for (const [, name, text] of recipes) writeFileSync(join(APP, name), text);
  writeFileSync(join(APP, "main.jsx"), MAIN);
  writeFileSync(
    join(APP, "index.html"),
    `<!doctype html><link rel="icon" href="./icon.svg" /><div id="root"></div><script type="module" src="./main.jsx"></script>`,
  );
  mkdirSync(join(APP, "public"), { recursive: true });
  writeFileSync(join(APP, "public/icon.svg"), `<svg xmlns="http://www.w3.org/2000/svg" />`);
  const outDir = await buildApp(APP);
  // What the guide styles in place is for the reader; the server's policy for the demo forbids it.
  server = await startServer({ port: 0, pods: 300, rate: 0, seed: 3, root: outDir });
  pods = (await (await fetch(`${server.url}/api/v1/pods`)).json()).items;
  browser = await chromium.launch(launchOptions());
  page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => said.push(String(error.stack)));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) said.push(message.text());
  });
  await page.goto(server.url);
  await page.waitForFunction(() => "show" in globalThis);
});

after(async () => {
  await browser?.close();
  await server?.close();
});

const show = (what, given) => page.evaluate(([what, given]) => globalThis.show(what, given), [what, given]);
const shows = async (pattern) => {
  const text = () => page.locator("#root").innerText();
  try {
    await page.waitForFunction((source) => new RegExp(source, "s").test(document.querySelector("#root").innerText), pattern.source);
  } catch {
    assert.match(await text(), pattern);
  }
  return text();
};
const count = (holds) => pods.filter(holds).length;
const restartsOf = ({ status }) => (status.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0);

test("the cache: a provider, and specs in place", async () => {
  await show("app");
  await shows(new RegExp(`300 pods, live.*${count(({ metadata }) => metadata.namespace === "kube-system")} pods, live`));
});

test("whoever signs in has a cache, whoever signs out leaves nothing, and the next one begins anew", async () => {
  await show("session");
  await shows(/^nobody is signed in$/);
  const signIn = (id) => page.evaluate((id) => globalThis.signIn({ id, getToken: () => id }), id);
  const kept = () =>
    page.evaluate(async () => {
      const request = indexedDB.open("watchcache");
      await new Promise((resolve) => (request.onsuccess = resolve));
      const { result: database } = request;
      const asked = database.objectStoreNames.contains("states") && database.transaction("states").objectStore("states").getAllKeys();
      await new Promise((resolve) => (asked ? (asked.onsuccess = resolve) : resolve()));
      database.close();
      return asked ? asked.result.map(([identity]) => identity) : [];
    });
  const isKept = async (id) => {
    for (const deadline = Date.now() + 20_000; !(await kept()).includes(id); await page.waitForTimeout(100))
      assert.ok(Date.now() < deadline, `${id} is never kept`);
  };
  await signIn("jane");
  await shows(/^300 pods$/);
  await isKept("jane");
  // Without a word from the old one.
  await signIn("joe");
  await shows(/^300 pods$/);
  await isKept("joe");
  assert.deepEqual(await kept(), ["joe"]);
  await page.evaluate(() => globalThis.signOut());
  await shows(/^nobody is signed in$/);
  assert.deepEqual(await kept(), []);
});

test("a table: computed columns, order, a filter that is typed, a mistake, a search", async () => {
  await show("table");
  await shows(/300 pods, live/);
  const first = await page.locator("tbody tr").first().innerText();
  assert.equal(Number(first.split("\t")[2]), Math.max(...pods.map(restartsOf)));
  const [search, label] = [page.getByPlaceholder("name"), page.getByPlaceholder("app=web")];
  const { app } = pods[0].metadata.labels;
  await label.pressSequentially(`app in (${app}`);
  await shows(/300 pods, live/);
  assert.match(await page.locator("em").innerText(), /\S/);
  assert.equal(await page.locator("tbody tr").count(), 50);
  await label.press(")");
  await shows(new RegExp(`^[^]*\\b${count(({ metadata }) => metadata.labels.app === app)} pods, live`));
  assert.equal(await page.locator("em").count(), 0);
  await label.fill("");
  await search.fill(pods[7].metadata.name);
  await shows(/\b1 pods, live/);
});

test("functions that depend on something", async () => {
  const restarting = (least) => count(({ status }) => (status.containerStatuses ?? []).some(({ restartCount }) => restartCount >= least));
  for (const least of [1, 2]) {
    await show("restarting", { least });
    await shows(new RegExp(`^${restarting(least)} restarting`));
  }
  assert.notEqual(restarting(1), restarting(2));
});

test("kinds and rights: a kind waits for discovery, a button for the right, and a failure can be tried again", async () => {
  const deployments = (await (await fetch(`${server.url}/apis/apps/v1/namespaces/shop/deployments`)).json()).items.length;
  const answers = [];
  page.on("response", (response) => answers.push(new URL(response.url()).pathname));
  await show("deployments", { namespace: "shop" });
  await shows(new RegExp(`^${deployments} deployments delete$`));
  assert.ok(deployments > 0);
  assert.deepEqual(
    answers.filter((path) => /^\/apis?$|reviews$/.test(path)).sort(),
    ["/api", "/apis", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"],
    "asked once each, though effects run twice under StrictMode",
  );
  said.length = 0;
  await show("deployments", { namespace: "shop", broken: true });
  await shows(/^the server has no discovery.*try again$/);
  const again = page.waitForResponse((response) => response.url().endsWith("/nowhere/apis"));
  await page.locator("button").click();
  await again;
  await shows(/^the server has no discovery.*try again$/);
  said.length = 0;
});

test("what a service selects: nothing before it is there, and its pods as labels change", async () => {
  const instance = "app.kubernetes.io/instance";
  const { metadata } = pods.find((pod) => pod.metadata.labels[instance] !== undefined);
  const selector = { [instance]: metadata.labels[instance] };
  const { namespace } = metadata;
  const all = count((pod) => pod.metadata.namespace === namespace && pod.metadata.labels[instance] === selector[instance]);
  await show("selected", { id: `${namespace}/latecomer` });
  await shows(/^0 pods: *$/);
  const send = (method, path, body, type = "application/json") =>
    fetch(`${server.url}/api/v1/namespaces/${namespace}/${path}`, {
      method,
      body: JSON.stringify(body),
      headers: { "content-type": type },
    });
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "latecomer", namespace },
    spec: { selector, ports: [{ port: 80 }] },
  };
  assert.equal((await send("POST", "services", service)).status, 201);
  await shows(new RegExp(`^${all} pods: .*${metadata.name}`));
  const label = (value) =>
    send("PATCH", `pods/${metadata.name}`, { metadata: { labels: { [instance]: value } } }, "application/merge-patch+json");
  await label(null);
  await shows(new RegExp(`^${all - 1} pods: (?!.*${metadata.name})`));
  await label(selector[instance]);
  await shows(new RegExp(`^${all} pods: .*${metadata.name}`));
});

test("one object, before it exists, while it is there, and after it is gone; and events beside it", async () => {
  const { metadata, ...rest } = pods[3];
  const { resourceVersion, uid, ...named } = metadata;
  const at = `${server.url}/api/v1/namespaces/${metadata.namespace}/pods`;
  const id = `${metadata.namespace}/made-by-hand`;
  await show("detail", { id });
  await shows(/^no such pod yet/);
  const body = JSON.stringify({ ...rest, metadata: { ...named, name: "made-by-hand" } });
  const made = await fetch(at, { method: "POST", headers: { "content-type": "application/json" }, body });
  assert.equal(made.status, 201, await made.text());
  await shows(/^made-by-hand \w+/);
  await fetch(`${at}/made-by-hand?gracePeriodSeconds=0`, { method: "DELETE" });
  await shows(/^made-by-hand is gone. Its last phase was \w+/);
  await show("notices");
  await shows(/^gone:$/);
  // The watch may begin after it: then this is deleted, too.
  await page.waitForTimeout(200);
  await fetch(`${at}/${metadata.name}?gracePeriodSeconds=0`, { method: "DELETE" });
  await shows(new RegExp(`^gone: ${metadata.namespace}/${metadata.name}`));
});

test("what suspends", async () => {
  await show("suspended");
  await shows(/^3 names/);
});

test("a grid of 100,000 rows, of which only those on the screen exist", { timeout: 60_000 }, async () => {
  await show("grid");
  await page.locator(`[aria-rowcount="${COUNT}"]`).waitFor();
  await page.getByText("pod-0 ", { exact: false }).first().waitFor();
  for (const row of [50_000, 99_990, 3]) {
    await page.locator("[role=grid]").evaluate((grid, top) => (grid.scrollTop = top), row * 24);
    const cell = page.locator(`[aria-rowindex="${row + 1}"]`);
    await cell.getByText(`pod-${row}`).waitFor();
    assert.match(await cell.innerText(), /Running/);
    assert.ok((await page.locator("[role=row]").count()) < 60);
  }
  await page.evaluate(() => globalThis.source.put({ metadata: { namespace: "a", name: "pod-5" }, status: { phase: "Failed" } }));
  await page.locator('[aria-rowindex="6"]').getByText("Failed").waitFor();
});

test("the console says nothing", () => assert.deepEqual(said, []));
