// The calls of `watchcache/compat/openshift` beside the original's: reads, writes, and what is refused. Part of openshift.test.mjs, whose page it uses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differs } from "./differences.mjs";
import { both, calls, configMaps, create, list, NAMES, page, remove, request, said, CONFIG_MAPS } from "./rig.mjs";

export function callTests() {
  test("reads: one object, lists with selectors, in pages, and whole answers", async () => {
    const [web, db] = [await create("a", "web"), await create("a", "db", { app: "db" })];
    const brief =
      "(value) => [].concat(value).map(({ apiVersion, kind, metadata: { namespace, name, resourceVersion } }) => `${apiVersion}/${kind} ${namespace}/${name}@${resourceVersion}`).sort()";
    const both = (value) => [{ value }, { value }];
    assert.deepEqual(await calls("k8sGet", { model: "ConfigMapModel", name: "web", ns: "a" }, brief), both([web]));
    assert.deepEqual(await calls("k8sList", { model: "ConfigMapModel", queryParams: { ns: "a" } }, brief), both([db, web].sort()));
    const selected = { ns: "a", labelSelector: { matchLabels: { app: "db" } }, fieldSelector: "metadata.namespace=a" };
    assert.deepEqual(await calls("k8sListItems", { model: "ConfigMapModel", queryParams: selected }, brief), both([db]));
    const head =
      "({ kind, apiVersion, items, metadata }) => ({ kind, apiVersion, items: items.length, more: Boolean(metadata.continue), version: Boolean(metadata.resourceVersion) })";
    const page = { kind: "ConfigMapList", apiVersion: "v1", items: 1, more: true, version: true };
    assert.deepEqual(await calls("k8sList", { model: "ConfigMapModel", queryParams: { ns: "a", limit: 1 }, raw: true }, head), both(page));
    const [missing, missed] = await calls("k8sGet", { model: "ConfigMapModel", name: "no", ns: "a" });
    assert.deepEqual([missing.status, missed.status], [404, 404]);
    differs("code");
    assert.deepEqual([missing.code, missed.code], [404, "not-found"]);
  });

  test("writes: create, update, patch and delete, with their conflicts", async (t) => {
    const data = (name) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "a" }, data: { n: "0" } });
    const statuses = (answers) => answers.map(({ status }) => status);
    const shown = await both(t, { ...CONFIG_MAPS, namespace: "a" });
    const content = "({ apiVersion, kind, metadata: { namespace }, data }) => ({ apiVersion, kind, namespace, data })";
    const as = (data) => ({ value: { apiVersion: "v1", kind: "ConfigMap", namespace: "a", data } });

    assert.deepEqual(await calls("k8sCreate", (name) => ({ model: "ConfigMapModel", data: data(name) }), content), [
      as({ n: "0" }),
      as({ n: "0" }),
    ]);
    assert.deepEqual(statuses(await calls("k8sCreate", (name) => ({ model: "ConfigMapModel", data: data(name) }))), [409, 409]);

    const read = (name) => request("GET", `${configMaps("a")}/${name}`);
    const old = { original: await read("original"), ours: await read("ours") };
    const next = (name, n) => ({ ...old[name], data: { n } });
    assert.deepEqual(await calls("k8sUpdate", (name) => ({ model: "ConfigMapModel", data: next(name, "1") }), content), [
      as({ n: "1" }),
      as({ n: "1" }),
    ]);
    const conflicts = await calls("k8sUpdate", (name) => ({ model: "ConfigMapModel", data: next(name, "2") }));
    assert.deepEqual(statuses(conflicts), [409, 409]);
    assert.equal(conflicts[1].code, "conflict");
    for (const name of NAMES) assert.equal((await read(name)).data.n, "1", "the newer one stands");
    const without = (name) => ({ ...data(name), data: { n: "3", a: "b" } });
    assert.deepEqual(await calls("k8sUpdate", (name) => ({ model: "ConfigMapModel", data: without(name) }), content), [
      as({ n: "3", a: "b" }),
      as({ n: "3", a: "b" }),
    ]);

    const patch = [
      { op: "test", path: "/data/n", value: "3" },
      null,
      { op: "replace", path: "/data/n", value: "4" },
      { op: "copy", from: "/data/n", path: "/data/m" },
      { op: "move", from: "/data/a", path: "/data/b~1c" },
      { op: "add", path: "/metadata/labels", value: { app: "web" } },
      { op: "remove", path: "/data/m" },
    ];
    const patched = as({ n: "4", "b/c": "b" });
    const patching = (data) => (name) => ({ model: "ConfigMapModel", resource: old[name], data });
    assert.deepEqual(await calls("k8sPatch", patching(patch), content), [patched, patched]);
    for (const data of [
      [{ op: "test", path: "/data/n", value: "3" }],
      [{ op: "remove", path: "/data/none" }],
      [{ op: "replace", path: "/nothing/here", value: 1 }],
    ]) {
      const refused = await calls("k8sPatch", patching(data));
      assert.deepEqual(statuses(refused), [422, 422], JSON.stringify(data));
      assert.equal(refused[1].code, "invalid");
    }
    assert.deepEqual(
      await calls("k8sPatch", patching([]), "({ data }) => data"),
      [{ value: { n: "0" } }, { value: { n: "0" } }],
      "no patch is no request",
    );
    for (const name of NAMES) assert.deepEqual((await read(name)).metadata.labels, { app: "web" });

    differs("deleted");
    const deleted = await calls(
      "k8sDelete",
      (name) => ({ model: "ConfigMapModel", resource: old[name], json: { propagationPolicy: "Background" } }),
      "({ kind, status }) => [kind, status]",
    );
    assert.deepEqual(deleted[1], { value: ["Status", "Success"] });
    assert.ok("value" in deleted[0]);
    assert.deepEqual(statuses(await calls("k8sDelete", (name) => ({ model: "ConfigMapModel", resource: old[name] }))), [404, 404]);
    await shown.have(list([]));
  });

  test("what is written shows by the time the call is over; there it shows with the next look at the socket", async (t) => {
    differs("written");
    const shown = await both(t, { ...CONFIG_MAPS, namespace: "b" });
    await shown.have(list([]));
    const seen = await page.evaluate(async (id) => {
      const { models, subjects } = globalThis;
      await subjects.ours.k8sCreate({ model: models.ConfigMapModel, data: { metadata: { name: "quick", namespace: "b" } } });
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return globalThis.given(id).data.length;
    }, shown.ids[1]);
    assert.equal(seen, 1);
  });

  test("parts of objects, and writes that keep nothing, are those of the original", async (t) => {
    const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "main", image: "web:1" }] } };
    const spec = { replicas: 2, selector: { matchLabels: { app: "web" } }, template };
    const path = "/apis/apps/v1/namespaces/b/deployments";
    for (const name of NAMES) {
      await request("POST", path, { metadata: { name }, spec });
      t.after(() => request("DELETE", `${path}/${name}`));
    }
    const model = "DeploymentModel";
    const brief = "({ kind, apiVersion, spec }) => [kind, apiVersion, spec.replicas]";
    const both = (...value) => [{ value }, { value }];
    const scale = (name) => ({ model, name, ns: "b", path: "scale" });
    assert.deepEqual(await calls("k8sGet", scale, brief), both("Scale", "autoscaling/v1", 2));
    const resource = (name) => ({ metadata: { name, namespace: "b" } });
    const to = (value) => [{ op: "replace", path: "/spec/replicas", value }];
    const patching = (more) => (name) => ({ model, resource: resource(name), data: to(5), ...more });
    assert.deepEqual(await calls("k8sPatch", patching({ path: "scale" }), brief), both("Scale", "autoscaling/v1", 5));
    const dry = { queryParams: { dryRun: "All", fieldManager: "me" } };
    assert.deepEqual(await calls("k8sPatch", patching({ ...dry, data: to(9) }), brief), both("Deployment", "apps/v1", 9));
    const [made] = await Promise.all(NAMES.map((name) => request("GET", `${path}/${name}`)));
    const larger = (name) => ({
      model,
      name,
      ns: "b",
      data: { ...made, metadata: { name, namespace: "b" }, spec: { ...spec, replicas: 7 } },
    });
    assert.deepEqual(await calls("k8sUpdate", (name) => ({ ...larger(name), ...dry }), brief), both("Deployment", "apps/v1", 7));
    await calls("k8sDelete", (name) => ({ model, resource: resource(name), ...dry }));
    // As DeleteOptions of a server have it, and as ours do.
    for (const dryRun of [["All"], true])
      await page.evaluate((given) => globalThis.call("ours", "k8sDelete", given), { model, resource: resource("ours"), json: { dryRun } });
    for (const name of NAMES) assert.equal((await request("GET", `${path}/${name}`)).spec.replicas, 5, "the scale alone was kept");
  });

  test("a write opens a stream of its object alone, and none beside one that is open", async () => {
    const opened = await page.evaluate(async () => {
      const { models, subjects, cache } = globalThis;
      const asked = [];
      const { fetch } = globalThis;
      globalThis.fetch = (url, init) => {
        if (!init?.method || init.method === "GET") asked.push(decodeURIComponent(String(url)).replace(/^.*kubernetes/, ""));
        return fetch(url, init);
      };
      const at = { model: models.ConfigMapModel, ns: "b" };
      await subjects.ours.k8sCreate({ ...at, data: { metadata: { name: "w" } } });
      await subjects.ours.k8sPatch({
        ...at,
        resource: { metadata: { name: "w" } },
        data: [{ op: "add", path: "/data", value: { n: "1" } }],
      });
      const alone = asked.splice(0);
      const all = cache.resource("configmaps");
      const end = all.view().subscribe(() => {});
      await all.synced();
      asked.length = 0;
      await subjects.ours.k8sDelete({ ...at, resource: { metadata: { name: "w" } } });
      end();
      globalThis.fetch = fetch;
      return { alone, beside: asked };
    });
    assert.ok(opened.alone.length > 0);
    for (const url of opened.alone) assert.match(url, /^\/api\/v1\/namespaces\/b\/configmaps(\/w|\?.*fieldSelector=metadata\.name=w)/);
    // The newest version is asked for, and no stream is opened.
    for (const url of opened.beside) assert.match(url, /^\/api\/v1\/configmaps\?limit=1&/);
  });

  test("what the cache cannot send is refused by name, and nothing of it is dropped in silence", async () => {
    differs("refused");
    const at = { model: "ConfigMapModel", name: "x", ns: "a" };
    const ours = (call, options) => page.evaluate((given) => globalThis.call("ours", ...given), [call, { ...at, ...options }]);
    const resource = { metadata: { name: "x", namespace: "a" } };
    for (const [call, options, message] of [
      ["k8sGet", { path: "proxy/metrics" }, /no such part of an object, and path is "proxy\/metrics"/],
      ["k8sList", { path: "scale" }, /no such part of an object, and path is "scale"/],
      ["k8sDelete", { resource, path: "status" }, /no such part of an object, and path is "status"/],
      ["k8sDelete", { resource, json: { dryRun: "All" } }, /json.dryRun is true or \["All"\], not "All"/],
      ["k8sGet", { queryParams: { pretty: "true" } }, /takes no pretty in queryParams/],
      ["k8sCreate", { data: resource, queryParams: { force: "true" } }, /takes no force in queryParams/],
      ["k8sCreate", { data: resource, queryParams: { dryRun: "Some" } }, /dryRun in queryParams is "All", not "Some"/],
      ["k8sDelete", { resource, requestInit: { headers: {} } }, /the signal of requestInit alone, and it has headers/],
      ["k8sList", { queryParams: { ns: "a", timeoutSeconds: 1 } }, /no timeoutSeconds in queryParams/],
      ["k8sGet", { ns: undefined }, /the ConfigMap "x" is in a namespace/],
      ["k8sUpdate", { name: undefined, data: { metadata: { namespace: "a" } } }, /which ConfigMap it is has to be said by its name/],
      ["k8sGet", { model: "NoModel" }, /model is an object/],
      ["k8sList", { queryParams: { labelSelector: { matchExpressions: [{ key: "a", operator: "Like" }] } } }, /"Like" is no operator/],
    ]) {
      const { code, message: text } = await ours(call, options);
      assert.equal(code, "invalid", call);
      assert.match(text, message);
    }
  });
}
