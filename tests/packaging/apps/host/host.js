// What the programs for Node, Bun and Deno share: who runs them, for which server, and a WebSocket that an apiserver takes.
import assert from "node:assert/strict";
import process from "node:process";

const [wanted, url] = process.argv.slice(2);
const { Bun, Deno } = globalThis;
const host = Bun ? "bun" : Deno ? "deno" : `node${process.versions.node.split(".")[0]}`;
assert.equal(host, wanted, "not another one that is on the PATH");

export { host };
export const server = url;

/** These hosts say no `Origin` by themselves, and an apiserver refuses a WebSocket without one. */
export async function socketWithOrigin() {
  if (host === "node20") {
    const { WebSocket } = await import("ws");
    return class extends WebSocket {
      constructor(url, protocols) {
        super(url, protocols, { origin: server });
      }
    };
  }
  return class extends WebSocket {
    constructor(url, protocols) {
      super(url, { protocols, headers: { origin: server } });
    }
  };
}

/** What `liveRows` must have seen. */
export function assertLive({ before, after }) {
  assert.ok(before.length > 5);
  assert.deepEqual(after, ["aaa-fresh", ...before]);
}
