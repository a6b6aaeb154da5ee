/**
 * The synthetic cluster in a real kube-apiserver, as `npm start -- --kubernetes` puts it there: it gets there and follows. Then the embedded
 * server shows the same objects in the same tables.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { populate } from "../../../www/server/cluster/cluster.mjs";
import { Mirror } from "../../../www/server/mirror.mjs";
import { apiVersion } from "../../../www/server/resources.mjs";
import { Store } from "../../../www/server/store.mjs";
import { Traffic } from "../../../www/server/traffic.mjs";
import { bothSides } from "./sides.mjs";

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const OPTIONS = { pods: 80, seed: 5, now: Date.now, rate: 0, historyBytes: 1 << 28 };

/** The kinds of owners that are in the cluster. */
const OWNERS = new Set(["Deployment", "Node", "ReplicaSet"]);

/** @param {import("../../../www/server/resources.mjs").ResourceDefinition} definition */
const pathOf = (definition) =>
  `${definition.group ? `/apis/${apiVersion(definition)}` : `/api/${definition.version}`}/${definition.resource}`;

/** @param {string} url @param {string} accept @returns {Promise<any>} */
const ask = async (url, accept) => {
  const response = await fetch(url, { headers: { accept, "user-agent": "tests" } });
  return { code: response.status, body: await response.json() };
};

/** An age moves while it is asked for. @param {unknown} cell @returns {unknown} */
const still = (cell) => (typeof cell === "string" ? cell.replace(/(\d+[smhdy])+/g, "AGE") : cell);
/** The words of descriptions are the server's own. @param {any} column */
const wordless = ({ description: _description, ...column }) => column;
/** @param {any} row */
const brief = ({ cells, object }) => ({ cells: cells.map(still), object });

describe("the synthetic cluster in a real server", () => {
  /** @type {Awaited<ReturnType<typeof bothSides>>} */
  let sides;
  const store = new Store(OPTIONS);
  const tables = [...store.tables.values()];
  before(async () => {
    sides = await bothSides({ flags: ["--service-cluster-ip-range=10.96.0.0/16"] });
  });
  after(() => sides?.stop());

  it("gets there whole, and what its traffic changes is changed there", async () => {
    /** @type {string[]} */
    const problems = [];
    const cluster = populate(store, OPTIONS);
    const mirror = new Mirror(store, { url: sides.real.url, onError: (problem) => problems.push(problem) });
    await mirror.fill();
    mirror.follow();
    const traffic = new Traffic(store, cluster, OPTIONS);
    for (let round = 0; round < 20; round += 1) {
      traffic.step(30);
      await mirror.idle();
    }
    assert.deepEqual(problems, []);
    assert.ok(mirror.counts.changed > 100 && mirror.counts.deleted > 0, JSON.stringify(mirror.counts));
    mirror.stop();
    /** Identities, and those of owners. @type {Set<string>} */
    const uids = new Set();
    /** @type {Map<string, string>} */
    const named = new Map();
    for (const { definition, current } of tables) {
      const { body } = await ask(`${sides.real.url}${pathOf(definition)}`, "application/json");
      const own = new Map(body.items.map((/** @type {any} */ item) => [`${item.metadata.namespace ?? ""}/${item.metadata.name}`, item]));
      for (const object of current.values()) {
        const wanted = object.parse();
        const id = `${wanted.metadata.namespace ?? ""}/${wanted.metadata.name}`;
        // What is about to go here is gone there.
        if (wanted.metadata.deletionTimestamp) continue;
        const found = own.get(id);
        own.delete(id);
        assert.ok(found, `${definition.resource} ${id}`);
        assert.equal(found.status?.phase, wanted.status?.phase, id);
        assert.equal(found.spec?.nodeName, wanted.spec?.nodeName, id);
        // A pod gets labels of its node there.
        assert.deepEqual({ ...found.metadata.labels, ...wanted.metadata.labels }, found.metadata.labels ?? {}, id);
      }
      for (const { metadata } of body.items) {
        uids.add(metadata.uid);
        for (const { kind, uid } of metadata.ownerReferences ?? []) if (OWNERS.has(kind)) named.set(uid, `${kind} of ${metadata.name}`);
      }
      // The rest are objects of the server's own.
      const ours = [...own.values()].filter(({ metadata }) =>
        metadata.managedFields?.some((/** @type {any} */ it) => it.manager === "mirror"),
      );
      assert.deepEqual(
        ours.map(({ metadata }) => metadata.name),
        [],
        definition.resource,
      );
    }
    assert.ok(named.size > 10);
    for (const [uid, owner] of named) assert.ok(uids.has(uid), owner);
  });

  it("is the same table, the same metadata, object by object and as a whole, on the embedded server", async () => {
    for (const { definition } of tables) {
      const list = await ask(`${sides.real.url}${pathOf(definition)}`, "application/json");
      const table = sides.server.control.store?.table(definition);
      assert.ok(table && list.body.items.length > 0, definition.resource);
      for (const object of [...table.current.values()]) table.remove(object.key);
      for (const item of list.body.items) table.put(structuredClone(item));
      const [mine, theirs] = await Promise.all([sides.embedded, sides.real].map(({ url }) => ask(`${url}${pathOf(definition)}`, TABLE)));
      assert.deepEqual(mine.body.columnDefinitions.map(wordless), theirs.body.columnDefinitions.map(wordless), definition.resource);
      const versionless = (/** @type {any} */ row) => {
        const { cells, object } = brief(row);
        const { resourceVersion: _version, ...metadata } = object.metadata;
        return { cells, object: { ...object, metadata } };
      };
      assert.deepEqual(mine.body.rows.map(versionless), theirs.body.rows.map(versionless), definition.resource);
      assert.equal(mine.body.apiVersion, theirs.body.apiVersion);
      const { namespace, name } = list.body.items[0].metadata;
      const one = namespace
        ? pathOf(definition).replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1/${name}`)
        : `${pathOf(definition)}/${name}`;
      for (const accept of [TABLE, METADATA, METADATA_LIST]) {
        const [here, there] = await Promise.all([sides.embedded, sides.real].map(({ url }) => ask(`${url}${one}`, accept)));
        assert.equal(here.code, there.code, `${one} ${accept}`);
        assert.equal(here.body.kind, there.body.kind);
        if (accept === METADATA_LIST) assert.equal(here.body.reason, there.body.reason);
        const [these, those] = await Promise.all(
          [sides.embedded, sides.real].map(({ url }) => ask(`${url}${pathOf(definition)}?limit=2`, accept)),
        );
        assert.equal(these.code, those.code, `${definition.resource} ${accept}`);
        assert.deepEqual(Object.keys(these.body), Object.keys(those.body), `${definition.resource} ${accept}`);
      }
    }
  });

  it("is watched in the same tables", async () => {
    const query = "watch=1&timeoutSeconds=1&allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    const seen = async (/** @type {string} */ url, /** @type {string} */ accept) => {
      const response = await fetch(`${url}/api/v1/namespaces?${query}`, { headers: { accept } });
      const events = (await response.text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      return events.map(({ type, object }) => [
        type,
        object.kind,
        object.apiVersion,
        object.columnDefinitions?.map(wordless),
        object.rows?.map((/** @type {any} */ row) => [...row.cells.map(still), row.object.kind, row.object.metadata.annotations]),
      ]);
    };
    for (const accept of [TABLE, METADATA])
      assert.deepEqual(await seen(sides.embedded.url, accept), await seen(sides.real.url, accept), accept);
  });

  it("is told of by the same discovery, as far as it goes", async () => {
    for (const path of ["/api", "/apis"]) {
      const [mine, theirs] = await Promise.all([sides.embedded, sides.real].map(({ url }) => ask(`${url}${path}`, DISCOVERY)));
      assert.deepEqual(Object.keys(mine.body), Object.keys(theirs.body));
      for (const group of mine.body.items) {
        const other = theirs.body.items.find((/** @type {any} */ { metadata }) => metadata.name === group.metadata.name);
        assert.deepEqual(group.metadata, other.metadata);
        for (const version of group.versions) {
          const wanted = other.versions.find((/** @type {any} */ it) => it.version === version.version);
          for (const resource of version.resources) {
            const { subresources = [], ...found } = wanted.resources.find((/** @type {any} */ it) => it.resource === resource.resource);
            const { subresources: parts = [], ...own } = resource;
            assert.deepEqual(own, found);
            for (const part of parts)
              assert.deepEqual(
                part,
                subresources.find((/** @type {any} */ it) => it.subresource === part.subresource),
              );
          }
        }
      }
    }
  });
});
