/**
 * Pages of a list that no sound server answers: at the start, when nothing is held yet, and when a list has to cure something.
 * Each is told with its code, nothing that was held is lost, and the cache comes to the server's exact state by itself.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pod } from "../js/lib/pod.mjs";
import { RawServer, Witness, assertHolds, keyOf, live, open, podsOf } from "./bad-input.mjs";
import { eventually } from "./cache.mjs";

/** @typedef {import("./bad-input.mjs").Page} Page */

const HTML = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>Sign in to go on</body></html>\n";

/** Changes what an honest page says. @param {(list: any) => any} change @returns {(body: string) => Page} */
const changed = (change) => (body) => {
  const list = JSON.parse(body);
  return { body: JSON.stringify(change(list) ?? list) };
};

/** Inside an item's label stand bytes that are no UTF-8. @param {string} body */
const withoutUtf8 = (body) => {
  const [before, after] = [body.slice(0, body.indexOf("kubelet") || 0), body.slice(body.indexOf("kubelet"))];
  return { body: Buffer.concat([Buffer.from(before), Buffer.from([0xc3, 0x28]), Buffer.from(after)]) };
};

/** How a page is spoiled, the code that tells it, and the words. @type {Record<string, [(body: string) => Page, string, RegExp]>} */
const SPOILED = {
  "JSON that breaks off": [
    (body) => ({ body: body.slice(0, -20) }),
    "decode",
    /decode the list: unexpected end of the document at byte \d+/,
  ],
  "JSON with a comma too many": [(body) => ({ body: body.replace("}]", "},]") }), "decode", /decode the list: .* at byte \d+/],
  "bytes that are no UTF-8": [withoutUtf8, "decode", /decode the list: invalid UTF-8 at byte \d+/],
  "nothing at all": [() => ({ body: "" }), "decode", /unexpected end of the document at byte 0/],
  "nothing but null": [() => ({ body: "null" }), "decode", /expected an object at byte 0/],
  "two lists in one": [(body) => ({ body: body + body }), "decode", /characters behind the document at byte \d+/],
  "items that are no array": [changed((list) => void (list.items = {})), "decode", /expected an array of items/],
  "an item that is no object": [changed((list) => void (list.items[2] = "pod")), "decode", /at byte \d+/],
  "items twice": [(body) => ({ body: body.replace(/}$/, ',"items":[]}') }), "decode", /duplicate `items`/],
  "half a page and a reset": [() => ({ cut: true }), "network", /the answer broke off/],
  "a page of HTML with code 200": [
    () => ({ body: HTML, type: "text/html; charset=utf-8" }),
    "protocol",
    /HTTP 200 with content type text\/html is no answer of a Kubernetes API/,
  ],
  "a page of HTML that says it is JSON": [() => ({ body: HTML }), "decode", /decode the list: expected .* at byte 0/],
  "a page of HTML with code 502": [
    () => ({ status: 502, body: HTML, type: "text/html" }),
    "unavailable",
    /HTTP 502, answered with text\/html instead of a Status/,
  ],
  "a Status with the code of a success": [
    () => ({ body: JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code: 403, message: "no" }) }),
    "protocol",
    /answered with a Status/,
  ],
  "an error of something else": [() => ({ body: '{"error":"upstream connect error"}' }), "protocol", /neither kind nor items/],
  "one object instead of a list": [
    () => ({ body: JSON.stringify({ ...pod("default/one"), metadata: { name: "one", namespace: "default", resourceVersion: "9000" } }) }),
    "protocol",
    /answered with a Pod, which is no list/,
  ],
  "a table instead of a list": [
    () => ({ body: JSON.stringify({ kind: "Table", metadata: { resourceVersion: "9000" }, rows: [] }) }),
    "protocol",
    /answered with a Table/,
  ],
  "a list without a version": [
    changed((list) => void delete list.metadata.resourceVersion),
    "protocol",
    /list has no metadata.resourceVersion/,
  ],
  "a list with a version that is no number": [
    changed((list) => void (list.metadata.resourceVersion = "newest")),
    "protocol",
    /list has no usable version.*newest/,
  ],
  "an item without a name": [
    changed((list) => void delete list.items[3].metadata.name),
    "protocol",
    /item 4 of the page \(uid "default\/[^"]+"\): metadata.name.*may not be empty/,
  ],
  "an item without a version": [
    changed((list) => void delete list.items[3].metadata.resourceVersion),
    "protocol",
    /item 4 of the page: .*"default\/[^"]+" has no metadata.resourceVersion/,
  ],
  "an item without metadata": [changed((list) => void (list.items[3] = { kind: "Pod" })), "protocol", /item 4 of the page.*metadata.name/],
};

/** Those that spoil one item alone: the second time it is set apart under its key, and the list is taken without it. */
const APART = new Set(["JSON with a comma too many", "bytes that are no UTF-8", "an item without a name", "an item without a version"]);

/** A list of pages of 4. @param {import("node:test").TestContext} t @param {number} count */
async function paged(t, count) {
  const server = await RawServer.start(podsOf(count), { pageSize: 4 });
  t.after(() => server.stop());
  return server;
}

describe("spoiled pages", () => {
  for (const place of /** @type {const} */ (["the only page", "a page after a good one"])) {
    test(`${place} of the first list: it waits, tells why, and begins anew`, async (t) => {
      for (const [name, [spoil, code, words]] of Object.entries(SPOILED)) {
        const server = await RawServer.start(podsOf(8), { pageSize: place === "the only page" ? Infinity : 4 });
        const pods = open(t, server.url);
        try {
          let spoiled = 0;
          server.page = ({ token }, body) => {
            if (place !== "the only page" && token === undefined) return undefined;
            spoiled++;
            return spoil(body);
          };
          let synced = false;
          const view = pods.view();
          let most = 0;
          /** @type {string[]} */
          const blinks = [];
          view.subscribe(() => {
            const { length } = view.rows;
            if (length < most) blinks.push(`${length} after ${most}`);
            most = Math.max(most, length);
          });
          /** @type {any} */
          let error;
          pods.addEventListener("error", ({ detail }) => (error = detail.error));
          const ready = pods.synced().then(() => (synced = true));
          await eventually(() => error, `an error of ${name}`);
          assert.equal(error.code, code, `${name}: ${error.message}`);
          assert.match(error.message, words, name);
          await eventually(() => spoiled >= 2, "another try");
          if (APART.has(name)) {
            await ready;
            await eventually(() => pods.status.phase === "live", "live, with one apart");
            const [apart, ...others] = pods.status.quarantined ?? [];
            assert.match(String(apart), /^default\/(pod-0\d|\(uid default\/pod-0\d\))$/, name);
            assert.deepEqual([others.length, pods.size, error.code], [0, 7, code], name);
            server.page = undefined;
            await pods.refresh();
            await live(pods);
            await assertHolds(pods, server);
            assert.deepEqual([pods.status.quarantined, blinks], [undefined, []], name);
            continue;
          }
          assert.equal(synced, false, `${name}: nothing whole has come`);
          // Behind a good first page its watch is open, and let go with its list.
          if (place === "the only page") assert.equal(server.watches, 0, `${name}: there is nothing to watch from`);
          else assert.ok(server.watches <= spoiled, `${name}: a watch for each list at most`);
          const firstRow = pods.peek(keyOf(0));
          assert.equal(firstRow !== undefined, place !== "the only page", "sound pages are shown while the rest is on its way");
          server.page = undefined;
          await ready;
          await live(pods);
          await assertHolds(pods, server);
          if (firstRow !== undefined) assert.equal(pods.peek(keyOf(0)), firstRow, name);
          assert.deepEqual(blinks, [], name);
        } finally {
          pods.close();
          await server.stop();
        }
      }
    });

    test(`${place} of a list that has to cure something: what is held stays`, async (t) => {
      const server = await RawServer.start(podsOf(12));
      t.after(() => server.stop());
      const pods = open(t, server.url);
      await pods.synced();
      await live(pods);
      const { upstream } = server;
      const witness = new Witness(pods, [keyOf(10)]);
      server.pageSize = place === "the only page" ? Infinity : 4;
      for (const [name, [spoil, code, words]] of Object.entries(SPOILED)) {
        const seen = witness.watch();
        server.page = ({ token }, body) => (place !== "the only page" && token === undefined ? undefined : spoil(body));
        const from = witness.statuses.length;
        upstream.put(pod(keyOf(10), { labels: { round: name.replaceAll(" ", "-") } }));
        await eventually(() => pods.peek(keyOf(10))?.metadata.labels.round === name.replaceAll(" ", "-"), "the write before");
        upstream.put(pod(`default/after-${from}`));
        await eventually(() => seen.events.length === 2, "both writes");
        const rows = pods.size;
        pods.refresh().catch(() => {});
        const told = () => witness.statuses.slice(from).find(({ error }) => error?.code === code && words.test(error.message));
        const status = await eventually(told, () => `${name}: ${code} ${words}; told were ${witness.phases(from)}`);
        assert.ok(["reconnecting", "failed"].includes(status.phase), status.phase);
        assert.equal(typeof status.retryAt, "number");
        assert.equal(status.stale, true);
        upstream.put(pod(`default/during-${from}`));
        witness.look();
        witness.assertUnharmed();
        assert.equal(pods.size, rows, name);
        server.page = undefined;
        // What was set apart meanwhile is well again.
        if (APART.has(name)) await pods.refresh();
        await live(pods);
        await assertHolds(pods, server);
        await eventually(() => seen.ended, "the end of the watch");
        assert.equal((await seen.watcher.ended).reason, "relist");
        assert.deepEqual(
          seen.events.map(({ type, key }) => `${type} ${key}`),
          [`MODIFIED ${keyOf(10)}`, `ADDED default/after-${from}`],
        );
      }
      witness.assertUnharmed();
    });
  }

  test("an item of which nobody can say whose it is: the waits grow, what is held stays, and it ends with the trouble", async (t) => {
    const server = await RawServer.start(podsOf(8));
    t.after(() => server.stop());
    const pods = open(t, server.url, { retry: { initialMs: 20, factor: 2, capMs: 320, jitter: 0 } });
    await pods.synced();
    await live(pods);
    const witness = new Witness(pods);
    server.page = (_, body) => SPOILED["an item without metadata"][0](body);
    const lists = server.lists;
    pods.refresh().catch(() => {});
    await eventually(
      () => pods.status.attempt >= 5,
      () => `the fifth try; told were ${witness.phases()}`,
    );
    assert.match(pods.status.error.message, /item 4 of the page: metadata.name/);
    const waits = witness.statuses.filter(({ retryAt }) => retryAt !== undefined).map(({ attempt, retryAt }) => ({ attempt, retryAt }));
    const tries = waits.filter(({ attempt }, i) => attempt !== waits[i - 1]?.attempt);
    assert.deepEqual(
      tries.map(({ attempt }) => attempt),
      tries.map((_, i) => i + 1),
    );
    // A try cannot begin before its time: the time between two announcements is at least the wait between them.
    for (let i = 1; i < tries.length; i++) {
      assert.ok(tries[i].retryAt - tries[i - 1].retryAt >= 20 * 2 ** i - 2, `wait ${i} is shorter than it should be`);
    }
    assert.ok(server.lists - lists <= pods.status.attempt + 1, "each try asks once");
    assert.equal(server.watches, 1, "nothing is watched on the ground of a list that cannot be taken");
    witness.look();
    witness.assertUnharmed();
    server.upstream.put(pod("default/new"));
    server.page = undefined;
    await live(pods);
    await assertHolds(pods, server);
    witness.assertUnharmed();
  });

  test("an item that no list cures is set apart: what was held of it stays, everything else goes on, and its first sound word ends that", async (t) => {
    const server = await RawServer.start(podsOf(8));
    t.after(() => server.stop());
    const pods = open(t, server.url);
    await pods.synced();
    await live(pods);
    const held = pods.peek(keyOf(3));
    pods.view().subscribe(() => {}); // which keeps the stream
    let told = 0;
    let message = "";
    pods.addEventListener("error", ({ detail }) => {
      if (!detail.quarantined?.includes("default/(uid default/pod-03)")) return;
      told++;
      message = detail.error.message;
    });
    server.page = (_, body) => SPOILED["an item without a name"][0](body);
    await pods.refresh();
    await eventually(() => pods.status.phase === "live", "live, with one apart");
    assert.deepEqual([pods.status.quarantined, pods.status.stale, told], [["default/(uid default/pod-03)"], false, 1]);
    assert.match(message, /\(uid default\/pod-03\) cannot be taken: item 4 of the page/);
    const { lists } = server;
    server.upstream.put(pod("default/new"));
    await eventually(() => pods.peek("default/new"), "what came after it");
    assert.deepEqual([pods.peek(keyOf(3)), server.lists], [held, lists]);
    server.upstream.put(pod(keyOf(3), { labels: { well: "again" } }));
    await eventually(() => pods.peek(keyOf(3))?.metadata.labels.well === "again", "its sound version");
    assert.deepEqual([pods.status.quarantined, server.lists], [undefined, lists]);
    server.page = undefined;
    await assertHolds(pods, server);
  });
});

describe("odd lists", () => {
  test("pages that go in circles are given up, however wide the circle is", async (t) => {
    for (const circle of [["a"], ["a", "b"], ["a", "b", "c"]]) {
      const server = await paged(t, 12);
      const pods = open(t, server.url);
      await pods.synced();
      await live(pods);
      const witness = new Witness(pods);
      const { lists } = server;
      server.page = ({ number }, body) => changed((list) => void (list.metadata.continue = circle[(number - lists) % circle.length]))(body);
      pods.refresh().catch(() => {});
      const status = await eventually(() => witness.statuses.find(({ error }) => error), "an error");
      assert.equal(status.error.code, "protocol");
      assert.match(status.error.message, /the list goes in circles/);
      assert.ok(server.lists - lists <= 2 * (circle.length + 1), `${server.lists - lists} pages were asked for`);
      server.page = undefined;
      await live(pods);
      await assertHolds(pods, server);
      witness.assertUnharmed();
    }
  });

  test("items that are null, or not there, are an empty list, as Go writes it", async (t) => {
    const server = await paged(t, 3);
    for (const empty of [{ items: null }, { items: undefined }]) {
      server.page = (_, body) => changed((list) => void Object.assign(list, empty, { metadata: { resourceVersion: "200" } }))(body);
      const pods = open(t, server.url);
      await pods.synced();
      assert.equal(pods.size, 0);
      assert.equal((await pods.list({ resourceVersion: "0" })).resourceVersion, "200");
      pods.close();
    }
  });

  test("a list of a replica that is behind is not taken", async (t) => {
    const server = await paged(t, 6);
    const pods = open(t, server.url);
    await pods.synced();
    await live(pods);
    const witness = new Witness(pods);
    server.page = (_, body) =>
      changed((list) => {
        list.metadata = { resourceVersion: "2" };
        list.items = [];
      })(body);
    await witness.suffers(() => void pods.refresh().catch(() => {}), {
      code: "protocol",
      words: /version 2, which is older than version \d+ seen before/,
    });
    server.page = undefined;
    await live(pods);
    await assertHolds(pods, server);
    witness.assertUnharmed();
  });

  test("an object that stands on two pages counts once", async (t) => {
    const server = await paged(t, 8);
    server.page = ({ token }, body) => (token === undefined ? undefined : changed((list) => void list.items.unshift(list.items[1]))(body));
    const pods = open(t, server.url);
    await pods.synced();
    assert.equal(pods.size, 8);
    await assertHolds(pods, server);
  });

  test("an object of 10 MB comes in a page like any other", async (t) => {
    const padding = "ü".repeat(5 * 1024 * 1024);
    const server = await RawServer.start([...podsOf(5), { ...pod("default/zz"), padding }]);
    t.after(() => server.stop());
    const pods = open(t, server.url);
    await pods.synced();
    assert.equal(pods.peek("default/zz").padding, padding);
    await assertHolds(pods, server);
    assert.equal(pods.status.error, undefined);
  });
});
