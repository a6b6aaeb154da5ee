/**
 * A relay before a server, for tests: its upstream counts what it is asked for, and by whom.
 * @module
 */
import { startRelay } from "../../dist/relay/relay.js";

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
