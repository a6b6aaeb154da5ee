/**
 * A relay before the embedded server, for tests in one process.
 * @module
 */
import { startRelay } from "../../dist/relay/relay.js";
import { startServer } from "../../www/server/index.mjs";
import { Api } from "../e2e/wire.mjs";

/** The relay's own token. */
export const OWN = "token-of-the-relay";
/** Those of its callers. */
export const JANE = "token-of-jane";
export const JOE = "token-of-joe";

/** @param {string} server @param {object} [options] those of the relay that are not as usual */
export function relayTo(server, options = {}) {
  return startRelay({
    server: new URL(server),
    host: "127.0.0.1",
    port: 0,
    token: async () => OWN,
    tls: undefined,
    allowOrigins: [],
    maxWatches: 500,
    drainMs: 300,
    lingerMs: 60_000,
    reviewMs: 60_000,
    memoryBytes: 512 << 20,
    exactLists: false,
    ...options,
  });
}

/**
 * A quiet server with a relay before it. Both end with the test.
 * @param {import("node:test").TestContext} t @param {{ relay?: object, server?: object }} [options]
 */
export async function relayed(t, options = {}) {
  /** Who is let in; a test may take somebody out. @type {string[]} */
  const tokens = [OWN, JANE, JOE];
  const server = await startServer({ port: 0, pods: 0, rate: 0, tokens, ...options.server });
  const relay = await relayTo(server.url, options.relay);
  t.after(async () => {
    await relay.close();
    await server.close();
  });
  const jane = new Api(relay.url, JANE);
  return {
    server,
    relay,
    tokens,
    jane,
    joe: new Api(relay.url, JOE),
    /** The server itself. */
    direct: new Api(server.url, JANE),
    /** @param {string} name @param {Api} [api] who makes it */
    pod: (name, api = jane) =>
      api.create("/api/v1/namespaces/default/pods", { metadata: { name }, spec: { containers: [{ name: "main", image: "example" }] } }),
    metrics: () => metricsOf(relay.url),
  };
}

/** What a relay counts, by the whole name of a series. @param {string} url @returns {Promise<Record<string, number>>} */
export async function metricsOf(url) {
  const lines = (await (await fetch(`${url}/-/metrics`)).text()).split("\n").filter((line) => line && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}
