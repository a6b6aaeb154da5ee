// One script, driven through `@openshift-console/dynamic-plugin-sdk` from npm and through `watchcache/compat/openshift`, in Chromium under StrictMode
// and against one server. What the two give is the same, but where a test says `differs`: openshift/differences.mjs lists those.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/lib/project.mjs";
import { callTests } from "./openshift/calls.mjs";
import { DIFFERENCES, differs, notShown } from "./openshift/differences.mjs";
import {
  another,
  both,
  calls,
  CONFIG_MAPS,
  configMap,
  configMaps,
  create,
  eventually,
  label,
  list,
  NAMES,
  other,
  page,
  remove,
  request,
  said,
  server,
  short,
  streams,
} from "./openshift/rig.mjs";

test("a list is followed: what is there, created, changed, deleted, each with its kind and apiVersion", async (t) => {
  const [x, y] = [await create("a", "x"), await create("b", "y")];
  const lists = await both(t, CONFIG_MAPS);
  await lists.have(list([x, y]));
  const z = await create("a", "z");
  await lists.have(list([x, y, z]));
  const x2 = await label("a", "x", { tier: "1" });
  await lists.have(list([x2, y, z]));
  await remove("b", "y");
  await lists.have(list([x2, z]));
  differs("order");
  const names = await page.evaluate((id) => globalThis.told(id).result[0].map(({ metadata }) => metadata.name), lists.ids[1]);
  assert.deepEqual(names, ["x", "z"]);
});

test("a namespace, selectors as objects of both forms, a field selector, and kinds by reference narrow alike", async (t) => {
  const web = await create("a", "web", { app: "web", tier: "1" });
  const db = await create("a", "db", { app: "db" });
  const far = await create("b", "far", { app: "web" });
  const specs = [
    [{ ...CONFIG_MAPS, namespace: "a" }, [web, db]],
    [{ ...CONFIG_MAPS, selector: { matchLabels: { app: "web" } } }, [web, far]],
    [{ ...CONFIG_MAPS, selector: { app: "web" }, namespace: "a" }, [web]],
    [{ ...CONFIG_MAPS, selector: {} }, [web, db, far]],
    [{ ...CONFIG_MAPS, selector: { matchExpressions: [{ key: "app", operator: "In", values: ["db", "cache"] }] } }, [db]],
    [{ ...CONFIG_MAPS, selector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["db"] }] } }, [web, far]],
    [{ ...CONFIG_MAPS, selector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] } }, [web]],
    [{ ...CONFIG_MAPS, selector: { matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] } }, [db, far]],
    [{ ...CONFIG_MAPS, selector: { matchExpressions: [{ key: "app", operator: "NotEquals", values: ["web"] }] } }, [db]],
    [{ ...CONFIG_MAPS, selector: { matchExpressions: [{ key: "tier", operator: "GreaterThan", values: ["0"] }] } }, [web]],
    [{ ...CONFIG_MAPS, fieldSelector: "metadata.name=far" }, [far]],
    [{ kind: "core~v1~ConfigMap", isList: true, namespace: "b" }, [far]],
    [{ kind: "ConfigMap", isList: true, namespace: "b" }, [far]],
    // What is for others, or means nothing: all of it is given.
    [{ ...CONFIG_MAPS, limit: 1, optional: true, namespaced: true }, [web, db, far]],
  ];
  const all = [];
  for (const [spec] of specs) all.push(await both(t, spec));
  for (const [i, [, expected]] of specs.entries()) await all[i].have(list(expected));
  // What leaves a selector is gone, and what comes into it is there.
  const left = await label("b", "far", { app: "db" });
  await all[1].have(list([web]));
  await all[4].have(list([db, left]));
  differs("partialMetadata");
  const partial = await both(t, { ...CONFIG_MAPS, partialMetadata: true });
  await partial.have(list([web, db, left]));
});

test("objects of another group, and of no namespace", async (t) => {
  const spec = {
    selector: { matchLabels: { app: "d" } },
    template: { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  };
  const made = await request("POST", "/apis/apps/v1/namespaces/a/deployments", { metadata: { name: "d" }, spec });
  const kind = { groupVersionKind: { group: "apps", version: "v1", kind: "Deployment" } };
  const deployments = await both(t, { ...kind, isList: true });
  const one = await both(t, { kind: "apps~v1~Deployment", name: "d", namespace: "a" });
  const space = await both(t, { kind: "Namespace", name: "a", namespace: "ignored" });
  await deployments.have(list([short(made, "apps/v1/Deployment")]));
  await one.have({ ...list([]), data: short(made, "apps/v1/Deployment") });
  await space.have({ ...list([]), data: short(await request("GET", "/api/v1/namespaces/a"), "v1/Namespace") });
  await request("DELETE", "/apis/apps/v1/namespaces/a/deployments/d");
});

test("one object: before it exists, created, changed, deleted", async (t) => {
  const one = await both(t, configMap("a", "one"));
  await one.have({ data: "null", loaded: false, error: 404 });
  const made = await create("a", "one");
  await one.have({ data: made, loaded: true, error: "none" });
  const changed = await label("a", "one", { tier: "1" });
  await one.have({ data: changed, loaded: true, error: "none" });
  const gone = short(
    await remove("a", "one").then(({ metadata, details }) => ({ metadata: metadata?.name ? metadata : { ...details, namespace: "a" } })),
  );
  assert.match(gone, /one/);
  differs("gone");
  await eventually(async () => (await one.given(1)).error, 404, "ours");
  assert.deepEqual(await one.given(1), { data: changed, loaded: true, error: 404 });
  assert.equal((await one.given(0)).error, "none");
  const again = await create("a", "one");
  await one.have({ data: again, loaded: true, error: "none" });
  differs("first");
  const first = await Promise.all(one.ids.map((id) => page.evaluate((id) => globalThis.givenSoFar(id)[0], id)));
  assert.deepEqual(
    first.map(({ data }) => data),
    ["{}", "null"],
  );
});

test("null watches nothing, and a spec may come and go; another spec shows none of the rows of the one before", async (t) => {
  const [x, y] = [await create("a", "x"), await create("b", "y")];
  const nothing = { data: "undefined", loaded: true, error: "none" };
  const lists = await both(t, null);
  await lists.have(nothing);
  await lists.render({ ...CONFIG_MAPS, namespace: "a" });
  await lists.have(list([x]));
  await lists.render({ ...CONFIG_MAPS, namespace: "b" });
  await lists.have(list([y]));
  await lists.render(null);
  await lists.have(nothing);
  await eventually(streams, 0, "streams");
  for (const id of lists.ids) {
    const all = await page.evaluate((id) => globalThis.givenSoFar(id), id);
    const wrong = all.filter(({ data, loaded }) => Array.isArray(data) && !loaded && data.length > 0);
    assert.deepEqual(wrong, [], id);
  }
});

test("a kind that nobody registered is told in place, by name, and no render throws", async (t) => {
  const kind = { version: "v1", kind: "Service" };
  differs("model");
  const services = await both(t, { groupVersionKind: kind, isList: true });
  await services.have({ data: [], loaded: true, error: "Model does not exist" }, { data: [], loaded: true, error: 404 });
  const one = await both(t, { groupVersionKind: kind, name: "x", namespace: "a" });
  await one.have({ data: "{}", loaded: true, error: "Model does not exist" }, { data: "{}", loaded: true, error: 404 });
  const error = () => page.evaluate((id) => (({ code, message }) => ({ code, message }))(globalThis.told(id).result[2]), services.ids[1]);
  assert.equal((await error()).code, "not-found");
  assert.match((await error()).message, /no model of core~v1~Service: registerK8s\(\{ models: \[/);
  // Once it is, hooks that stand there go on, as they do in a console that learns of a kind.
  await page.evaluate(() => globalThis.subjects.ours.registerK8s({ models: [globalThis.models.ServiceModel] }));
  await eventually(() => services.given(1), list([]), "ours");
  await eventually(async () => (await one.given(1)).data, "null", "ours");
});

test("several at once, by their names: lists, objects, and what has no model", async (t) => {
  const [x, y] = [await create("a", "x"), await create("b", "y", { app: "db" })];
  const specs = {
    all: CONFIG_MAPS,
    web: { ...CONFIG_MAPS, selector: { matchLabels: { app: "web" } } },
    one: configMap("b", "y"),
    none: configMap("b", "no"),
  };
  const many = await both(t, specs, { many: true });
  const expected = { all: list([x, y]), web: list([x]), one: { ...list([]), data: y }, none: { data: "null", loaded: false, error: 404 } };
  await many.have(expected);
  const y2 = await label("b", "y", { app: "web" });
  await many.have({ ...expected, all: list([x, y2]), web: list([x, y2]), one: { ...list([]), data: y2 } });
  // What did not change stays the same, in each: the results of the other names, and the object.
  const same = await Promise.all(
    many.ids.map((id) =>
      page.evaluate((id) => [globalThis.told(id).all.at(-1).none.data === globalThis.told(id).all.at(-2).none.data], id),
    ),
  );
  assert.deepEqual(same, [[true], [true]]);
  await many.render({ web: specs.web });
  await many.have({ web: list([x, y2]) });
  const unknown = { kind: { groupVersionKind: { version: "v1", kind: "Nonesuch" }, isList: true } };
  await many.render(unknown);
  await many.have({ kind: { data: [], loaded: true, error: "Model does not exist" } }, { kind: { data: [], loaded: true, error: 404 } });
  differs("null");
  const withNull = await both(t, { all: CONFIG_MAPS, none: null }, { many: true });
  await eventually(() => withNull.given(1), { all: list([x, y2]), none: { data: "undefined", loaded: true, error: "none" } }, "ours");
  assert.match((await withNull.given(0)).thrown, /null/);
  said.splice(0, said.length, ...said.filter((line) => !/null \(reading 'groupVersionKind'\)/.test(line)));
});

test("a list of several pages", async (t) => {
  const names = Array.from({ length: 260 }, (_, i) => `x${i}`);
  await Promise.all(names.map((name) => create("a", name, { of: "pages" })));
  // Nobody has asked for these before.
  const maps = await both(t, { ...CONFIG_MAPS, selector: { matchLabels: { of: "pages" } } });
  for (const i of [0, 1]) await eventually(async () => (await maps.given(i))?.data.length, 260, NAMES[i]);
  differs("pages");
  const least = await Promise.all(
    maps.ids.map((id) =>
      page.evaluate((id) => Math.min(...globalThis.givenSoFar(id).flatMap(({ data, loaded }) => (loaded ? data.length : []))), id),
    ),
  );
  assert.deepEqual(least, [250, 260]);
});

test("equal specs share a stream, and data stays the same while nothing changed", async (t) => {
  const x = await create("a", "x");
  const [one, two] = [await both(t, CONFIG_MAPS), await both(t, { isList: true, groupVersionKind: { kind: "ConfigMap", version: "v1" } })];
  for (const lists of [one, two]) await lists.have(list([x]));
  await eventually(streams, 2, "a stream for each subject");
  const renders = (id) => page.evaluate((id) => globalThis.told(id).renders, id);
  for (const [i, id] of one.ids.entries()) {
    const before = await renders(id);
    const same = await page.evaluate(
      async ([id, name, spec]) => {
        const { result } = globalThis.told(id);
        globalThis.show(id, name, { ...spec });
        await new Promise((resolve) => setTimeout(resolve, 50));
        return globalThis.told(id).result === result;
      },
      [id, NAMES[i], CONFIG_MAPS],
    );
    assert.ok(same, NAMES[i]);
    assert.ok((await renders(id)) > before, "it was rendered");
  }
  // One object changes: the others are the same objects.
  const y = await create("a", "y");
  await one.have(list([x, y]));
  for (const id of one.ids) {
    const kept = await page.evaluate((id) => {
      const now = globalThis.told(id).result;
      const before = globalThis.told(id).all.findLast(([data]) => data !== now[0]);
      const named = ([data]) => data.find(({ metadata }) => metadata.name === "x");
      return [named(before) === named(now), before[0] === now[0]];
    }, id);
    assert.deepEqual(kept, [true, false], id);
  }
  differs("own");
  const own = await Promise.all(
    [0, 1].map((i) => page.evaluate(([a, b]) => globalThis.told(a).result[0] === globalThis.told(b).result[0], [one.ids[i], two.ids[i]])),
  );
  assert.deepEqual(own, [true, false]);
  await page.evaluate((id) => globalThis.told(id).result[0].reverse(), one.ids[1]);
  await Promise.all([remove("a", "x"), remove("a", "y")]);
  await one.have(list([]));
});

test("unmounted, nothing is left behind; mounted again, it is all there", async (t) => {
  const x = await create("a", "x");
  const before = await both(t, CONFIG_MAPS);
  const one = await both(t, configMap("a", "x"));
  await before.have(list([x]));
  await one.have({ ...list([]), data: x });
  await before.end();
  await one.end();
  await eventually(streams, 0, "streams");
  const y = await create("a", "y");
  const again = await both(t, CONFIG_MAPS);
  await again.have(list([x, y]));
  differs("kept");
  const first = await Promise.all(again.ids.map((id) => page.evaluate((id) => globalThis.givenSoFar(id)[0], id)));
  assert.deepEqual(first, [{ data: [], loaded: false, error: "none" }, list([x])]);
  await (await both(t, configMap("a", "y"))).have({ ...list([]), data: y });
});

test(
  "a refusal is told and rows stay, a dropped connection loses nothing, and both go on by themselves",
  { timeout: 90_000 },
  async (t) => {
    const x = await create("a", "x");
    server.control.fault("status", { code: 403, resource: "pods" });
    const pods = await both(t, { kind: "Pod", isList: true });
    const pod = await both(t, { kind: "Pod", name: "p", namespace: "a" });
    const maps = await both(t, CONFIG_MAPS);
    await maps.have(list([x]));
    await pods.have({ data: [], loaded: false, error: 403 });
    // The fault refuses lists and watches. The original reads the object first, and that is none.
    await pod.have({ data: "null", loaded: false, error: 404 }, { data: "null", loaded: false, error: 403 });
    await eventually(() => server.control.status().streams.filter(({ resource }) => resource === "configmaps").length, 2, "streams");
    server.control.fault("drop", { resource: "configmaps" });
    const y = await create("a", "y");
    differs("reconnect");
    const since = performance.now();
    await eventually(() => maps.given(1), list([x, y]), "ours");
    const ours = performance.now() - since;
    assert.deepEqual(await maps.given(0), list([x]), "the original does not know yet, and its rows stay");
    server.control.fault("clear");
    await maps.have(list([x, y]));
    const original = performance.now() - since;
    assert.ok(ours < original / 2, `${ours} and ${original} ms`);
    await pods.have(list([]));
    await eventually(async () => (await pod.given(1)).error, 404, "there is no such pod, once it may be asked for");
  },
);

test("a server that cannot be reached is told while it lasts, and rows stay", async (t) => {
  const x = await create("a", "x");
  const maps = await both(t, CONFIG_MAPS);
  await maps.have(list([x]));
  differs("unreachable");
  server.control.fault("status", { code: 503, retryAfterSeconds: 0 });
  server.control.fault("drop");
  await eventually(() => maps.given(1), { data: [x], loaded: true, error: 503 }, "ours");
  assert.deepEqual(await maps.given(0), list([x]), "the original does not know yet");
  server.control.fault("clear");
  await eventually(() => maps.given(1), list([x]), "ours");
});
callTests();

test("specs that cannot be meant are told in place: no name, no namespace, a selector that is none", async (t) => {
  const kind = { groupVersionKind: { version: "v1", kind: "ConfigMap" } };
  for (const [spec, message] of [
    [{ ...kind, namespace: "a" }, /which ConfigMap it is has to be said/],
    [{ ...kind, name: "x" }, /the ConfigMap "x" is in a namespace/],
    [{ ...kind, isList: true, selector: "app=web" }, /a selector is an object/],
    [{ ...kind, isList: true, namespace: "Not A Name" }, /is no namespace/],
    [{ ...kind, isList: true, fieldSelector: "==" }, /./],
  ]) {
    const id = another("wrong");
    t.after(() => page.evaluate((id) => globalThis.end(id), id));
    await page.evaluate((given) => globalThis.show(...given), [id, "ours", spec]);
    const error = () => page.evaluate((id) => globalThis.told(id).result?.[2]?.message, id);
    await eventually(async () => message.test((await error()) ?? ""), true, JSON.stringify(spec));
    assert.equal(await page.evaluate((id) => globalThis.told(id).result[2].code, id), "invalid");
  }
});

test("managedFields are not kept", async (t) => {
  differs("managedFields");
  await create("a", "x");
  const maps = await both(t, CONFIG_MAPS);
  const has = (i) =>
    page.evaluate(
      (id) => globalThis.told(id).result?.[0]?.[0] && "managedFields" in globalThis.told(id).result[0][0].metadata,
      maps.ids[i],
    );
  await eventually(() => has(1), false, "ours");
  await eventually(() => has(0), true, "original");
});

test("without a cache the hook says what to do, to the nearest error boundary", async () => {
  assert.match(await page.evaluate(() => globalThis.unregistered), /^there is no cache here: call registerK8s\(\{ cache, models \}\)/);
});

test("two clusters in one tree: the nearest provider counts, and else what was registered", async (t) => {
  const x = await create("a", "x");
  const [here, there] = [await both(t, CONFIG_MAPS), await both(t, CONFIG_MAPS, { at: "elsewhere" })];
  await here.have(list([x]));
  const made = await (
    await fetch(`${other.url}${configMaps("default")}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: "other" } }),
    })
  ).json();
  await eventually(() => there.given(1), list([short(made)]), "ours");
  // A call says which one it means, where it is not that one.
  const names = await page.evaluate(async () => {
    const { models, subjects, clusters } = globalThis;
    const items = await subjects.ours.k8sListItems({ model: models.ConfigMapModel, cache: clusters.elsewhere });
    return items.map(({ metadata }) => metadata.name);
  });
  assert.deepEqual(names, ["other"]);
});

test("a closed cache is told in place, by hooks and calls", async (t) => {
  for (const spec of [CONFIG_MAPS, configMap("a", "x")]) {
    const id = another("closed");
    t.after(() => page.evaluate((id) => globalThis.end(id), id));
    await page.evaluate((given) => globalThis.show(...given), [id, "ours", spec, { at: "closed" }]);
    await eventually(() => page.evaluate((id) => globalThis.told(id).result?.[2]?.code, id), "closed", JSON.stringify(spec));
  }
  const codes = await page.evaluate(async () => {
    const { models, subjects, clusters } = globalThis;
    const at = { model: models.ConfigMapModel, cache: clusters.closed };
    const data = { metadata: { name: "x", namespace: "a" } };
    const asked = [
      subjects.ours.k8sList(at),
      subjects.ours.k8sGet({ ...at, name: "x", ns: "a" }),
      subjects.ours.k8sCreate({ ...at, data }),
    ];
    return Promise.all(asked.map((call) => call.then(String, ({ code }) => code)));
  });
  assert.deepEqual(codes, ["closed", "closed", "closed"]);
});

test("a cache that is closed while a component stands there is told to it, and its rows stay", async (t) => {
  const x = await create("a", "x");
  const id = another("closing");
  t.after(() => page.evaluate((id) => globalThis.end(id), id));
  await page.evaluate((given) => globalThis.show(...given), [id, "ours", CONFIG_MAPS, { at: "closing" }]);
  const given = () => page.evaluate((id) => globalThis.given(id), id);
  await eventually(given, list([x]), "ours");
  await page.evaluate(() => globalThis.clusters.closing.close());
  await eventually(async () => (await given()).error !== "none", true, "ours");
  assert.equal(await page.evaluate((id) => globalThis.told(id).result[2].code, id), "closed");
  assert.deepEqual((await given()).data, [x]);
});

test("the page of the guide runs, with either import", async (t) => {
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const path = "/apis/apps/v1/namespaces/b/deployments";
  const spec = { replicas: 1, selector: { matchLabels: { app: "web" } }, template };
  for (const name of NAMES) {
    await request("POST", path, { metadata: { name, labels: { app: "web" } }, spec });
    t.after(() => request("DELETE", `${path}/${name}`));
    await page.evaluate(([name, props]) => globalThis.showPage(name, props), [name, { namespace: "b", app: "web" }]);
    t.after(() => page.evaluate((name) => globalThis.end(name), name));
  }
  const cells = (name) =>
    page.locator(`#${name} tr`).evaluateAll((rows) => rows.map((row) => row.innerText.split(/\s+/).slice(0, 2)).sort());
  const shows = async (replicas) => {
    for (const name of NAMES) await eventually(() => cells(name), Object.entries(replicas), name);
  };
  await shows({ original: "1", ours: "1" });
  // Each scales its own, and both see both.
  for (const name of NAMES) await page.locator(`#${name} tr`, { hasText: name }).getByRole("button").click();
  await shows({ original: "2", ours: "2" });
});

test("each difference was shown, and the guide has it word by word", () => {
  assert.deepEqual(notShown(), []);
  const guide = readFileSync(join(root, "docs/moving-over/openshift.md"), "utf8").replaceAll(/ +/g, " ");
  const rows = Object.values(DIFFERENCES).map(({ there, here, why }) => `| ${there} | ${here} | ${why} |`);
  assert.deepEqual(
    rows.filter((row) => !guide.includes(row)),
    [],
  );
});

test("the page says nothing else", () => assert.deepEqual(said, []));
