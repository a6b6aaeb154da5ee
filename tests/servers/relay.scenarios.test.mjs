/** The end-to-end suite through `watchcache serve` before a real kube-apiserver. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe } from "node:test";
import { cacheScenarios } from "../e2e/cache-scenarios.mjs";
import { wireScenarios } from "../e2e/wire-scenarios.mjs";
import { RelayProcess } from "../relay/command.mjs";
import { notItsTurn } from "../e2e/turn.mjs";
import { Proxy } from "./harness/proxy.mjs";
import { ANSWERS, kubeApiServerTarget } from "./kube-apiserver-target.mjs";

/** How often the relay has listed pods. @param {RelayProcess} relay */
const lists = async (relay) => (await relay.metrics())['apiserver_watch_cache_initializations_total{group="",resource="pods"}'];

/** @returns {Promise<import("../e2e/target.mjs").Target>} */
async function target() {
  const behind = await kubeApiServerTarget();
  const { cluster } = behind;
  writeFileSync(join(cluster.dir, "ca.crt"), cluster.certificate);
  writeFileSync(join(cluster.dir, "relay.token"), cluster.tokens.admin);
  // Where the relay's own connections are disturbed, too. The proxy before it has another host.
  const args = ["--server", cluster.url, "--token-file", join(cluster.dir, "relay.token"), "--allow-origin", "*"];
  const relay = await RelayProcess.start(args);
  const front = await Proxy.start({ upstream: relay.url });
  return {
    ...behind,
    name: "a relay before kube-apiserver",
    url: front.url,
    async drop() {
      front.drop();
      cluster.proxy.drop();
    },
    async freeze() {
      front.freeze();
    },
    async refuse(how) {
      // The server's refusal is none of the relay, which holds what it has.
      front.refuse(how && ANSWERS[how]);
    },
    async crash() {
      front.drop();
      await behind.crash();
    },
    async expire() {
      // What the server has forgotten the relay hears of at its next watch, and forgets it, too.
      const before = await lists(relay);
      await behind.expire();
      while ((await lists(relay)) === before) await sleep(20);
    },
    async stop() {
      await relay.kill();
      await front.close();
      await behind.stop();
    },
  };
}

describe("a relay before kube-apiserver", { skip: notItsTurn("relay, real") }, () => {
  /** @type {import("../e2e/target.mjs").Target} */
  let it;
  before(async () => {
    it = await target();
  });
  after(() => it?.stop());
  // What is held goes out as it came.
  wireScenarios(() => it, { authorization: true, pretty: false });
  cacheScenarios(() => it, { authorization: true, customResources: true });
});
