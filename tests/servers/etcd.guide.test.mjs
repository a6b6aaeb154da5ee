// docs/etcd.md: each example runs on a real etcd, below whose prefixes there is nothing.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { examplesOf, pattern } from "../readme/examples.mjs";
import { runExample } from "../readme/run.mjs";
import { EtcdCluster } from "./harness/etcd-cluster.mjs";

/** Where the examples say that etcd is. */
const ADDRESS = "http://127.0.0.1:2379";
/** What Node 20 lacks. */
const HOST = 'import WebSocket from "ws";\nglobalThis.WebSocket ??= WebSocket;\n';

describe("etcd.md", () => {
  /** @type {EtcdCluster} */
  let etcd;
  before(async () => {
    etcd = await EtcdCluster.start();
  });
  after(() => etcd?.stop());

  for (const [index, { program, prints }] of examplesOf("etcd.md").entries())
    test(`example ${index + 1} prints what stands below it`, async () => {
      assert.ok(prints, "an example that says nothing of its output proves nothing");
      await etcd.remove("/app/", { prefix: true });
      const { code, output } = await runExample(`etcd.md-${index + 1}`, HOST + program.replaceAll(ADDRESS, etcd.url), etcd.url);
      assert.equal(code, 0, output);
      assert.match(output, pattern(prints));
    });
});
