/**
 * A relay before the embedded server as a target of the end-to-end suite.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../../www/server/index.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";
import { ANSWERS } from "../servers/kube-apiserver-target.mjs";
import { JANE, OWN, relayTo } from "./harness.mjs";

/** How often the relay has listed pods. @param {string} url */
async function initializations(url) {
  const text = await (await fetch(`${url}/-/metrics`)).text();
  return Number(/^apiserver_watch_cache_initializations_total\{group="",resource="pods"\} (\d+)$/m.exec(text)?.[1] ?? NaN);
}

/** @returns {Promise<import("../e2e/target.mjs").Target>} */
export async function relayTarget() {
  const server = await startServer({ port: 0, pods: 0, rate: 0, tokens: [OWN, JANE] });
  // The proxy before it has another host.
  const relay = await relayTo(server.url, { allowOrigins: ["*"] });
  let proxy = await Proxy.start({ upstream: relay.url });
  const { port, origin } = new URL(proxy.url);
  return {
    name: "a relay before the embedded server",
    url: origin,
    side: server.url,
    token: JANE,
    async drop() {
      proxy.drop();
      server.control.fault("drop");
    },
    async freeze() {
      proxy.freeze();
    },
    async refuse(how) {
      // The server's refusal is none of the relay, which holds what it has.
      proxy.refuse(how && ANSWERS[how]);
    },
    async crash() {
      proxy.drop();
      await proxy.close();
      await this.expire();
      proxy = await Proxy.start({ upstream: relay.url, port: Number(port) });
    },
    async expire() {
      // What the server has forgotten the relay hears of at its next watch, and forgets it, too.
      const lists = await initializations(relay.url);
      server.control.fault("expire");
      while ((await initializations(relay.url)) === lists) await sleep(10);
    },
    async stop() {
      await proxy.close();
      await relay.close();
      await server.close();
    },
  };
}
