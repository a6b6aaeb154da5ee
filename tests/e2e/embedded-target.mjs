/**
 * The embedded server as a target of the end-to-end suite. Its fault commands cause every fault but one. A proxy before it
 * plays its death, because the server's objects live in its memory and would die with it.
 * @module
 */
import { startServer } from "../../www/server/index.mjs";
import { Proxy } from "../servers/harness/proxy.mjs";

const TOKEN = "end-to-end-token";

/** The fault that stands for a refusal, and its options. @type {Record<import("./target.mjs").Refusal, [string, object]>} */
const FAULTS = {
  unavailable: ["status", { code: 503, retryAfterSeconds: 1 }],
  "too-many-requests": ["status", { code: 429, retryAfterSeconds: 1, plain: true }],
  html: ["htmlErrorPage", { on: "all", code: 200 }],
};

/**
 * @param {{ cache?: boolean }} [how] `cache`: it serves from the package's own cache
 * @returns {Promise<import("./target.mjs").Target>}
 */
export async function embeddedTarget({ cache = false } = {}) {
  // Empty and quiet: what happens is what a scenario does.
  const server = await startServer({ port: 0, pods: 0, rate: 0, tokens: [TOKEN], cache });
  let proxy = await Proxy.start({ upstream: server.url });
  const { port, origin } = new URL(proxy.url);
  return {
    name: cache ? "the embedded server, from its cache" : "the embedded server",
    url: origin,
    side: server.url,
    token: TOKEN,
    async drop() {
      server.control.fault("drop");
    },
    async freeze() {
      server.control.fault("freeze");
    },
    async refuse(how) {
      server.control.fault("clear");
      if (how) server.control.fault(...FAULTS[how]);
    },
    async crash() {
      // Connections are reset, the port refuses new ones, and the history is gone.
      proxy.drop();
      await proxy.close();
      server.control.fault("expire");
      proxy = await Proxy.start({ upstream: server.url, port: Number(port) });
    },
    async expire() {
      server.control.fault("expire");
    },
    async stop() {
      await proxy.close();
      await server.close();
    },
  };
}
