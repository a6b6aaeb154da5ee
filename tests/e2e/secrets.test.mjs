/**
 * Law 12: a token appears in no log, error, status, count or URL. The law is tried with random tokens and random trouble, on a server that
 * wants tokens. Everything that a user can see is searched for the token, for parts of it, and for its encodings.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { createWatchCache } from "watchcache";
import { startServer } from "../../www/server/index.mjs";
import { Traffic, eventually } from "./cache.mjs";

/** Numbers from a seed. @param {number} seed */
function randomOf(seed) {
  let state = seed + 1;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a header may hold of a bearer token. @param {(below: number) => number} random @param {number} length */
const tokenOf = (random, length) =>
  Array.from({ length }, () => "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/"[random(68)]).join("") + "==";

/** How a token may look to whoever finds it. @param {string} token */
const forms = (token) => [
  token.slice(0, 12),
  encodeURIComponent(token).slice(0, 14),
  Buffer.from(token).toString("base64url").slice(0, 14),
  Buffer.from(token).toString("base64").slice(0, 14),
];

/** Everything that is to be seen of a value. @param {unknown} value */
const seen = (value) =>
  inspect(value, { depth: 8, showHidden: true, getters: true, maxStringLength: Infinity, maxArrayLength: Infinity }) +
  (value instanceof Error ? `${value.stack}${JSON.stringify(value)}${inspect(value.cause)}` : "");

/** What may go wrong. @type {[name: string, options: object][]} */
const TROUBLE = [
  ["drop", {}],
  ["drop", { midFrame: true }],
  ["expire", {}],
  ["status", { code: 503, ms: 60 }],
  ["status", { code: 403, ms: 60 }],
  ["status", { code: 401, ms: 60 }],
  ["status", { code: 500, plain: true, ms: 60 }],
  ["refuseUpgrade", { code: 403, ms: 60 }],
  ["badFrame", {}],
  ["unknownType", {}],
  ["noVersion", {}],
  ["htmlErrorPage", { ms: 60 }],
  ["htmlErrorPage", { on: "all", code: 502, ms: 60 }],
];

/** @param {number} seed @param {"websocket" | "fetch"} transport */
async function trouble(seed, transport) {
  const random = randomOf(seed);
  const [right, wrong] = [tokenOf(random, 30 + random(60)), tokenOf(random, 30 + random(60))];
  const server = await startServer({ port: 0, pods: 0, rate: 0, tokens: [right] });
  const traffic = new Traffic(server.url);
  let given = wrong;
  let asked = 0;
  /** @type {string[]} */
  const told = [];
  const tell = (/** @type {unknown[]} */ ...what) => void told.push(...what.map(seen));
  const cache = createWatchCache({
    server: server.url,
    transport,
    auth: () => (asked++, { token: given }),
    fetch: traffic.fetch,
    WebSocket: /** @type {any} */ (traffic.WebSocket),
    retry: { initialMs: 5, capMs: 20 },
    logger: { debug: tell, info: tell, warn: tell, error: tell },
  });
  try {
    /** @type {any} */
    const pods = cache.resource("pods");
    for (const type of ["status", "sync", "relist", "overflow", "error"])
      pods.addEventListener(type, (/** @type {any} */ event) => tell(event.detail));
    await pods.synced().catch(tell);
    assert.match(told.join("\n"), /unauthorized/);
    const informer = pods.informer({ onWatchError: tell });
    given = right;
    await informer.synced;
    const header = traffic.fetches.map(({ headers }) => headers.get("authorization"));
    assert.ok(header.includes(`Bearer ${wrong}`) && header.includes(`Bearer ${right}`), "both were used");
    /** @type {Promise<unknown>[]} */
    const underWay = [];
    for (let step = 0; step < 12; step++) {
      const [fault, options] = TROUBLE[random(TROUBLE.length)];
      server.control.fault(fault, { ...options });
      if (random(4) === 0) given = wrong;
      const metadata = { name: `pod-${step}`, namespace: "default" };
      const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
      // Whatever of it lasts is answered while other things go wrong.
      const signal = AbortSignal.timeout(200);
      const asks = [
        pods.create({ apiVersion: "v1", kind: "Pod", metadata, spec }),
        pods.get("default/none", { signal }),
        pods.list({ limit: 1, signal }),
        pods.watch({ resourceVersion: "1", signal }).next(),
        cache.discover({ refresh: true, signal }),
        cache.can({ verb: "get", resource: "pods", name: `pod-${step}`, signal }),
      ];
      underWay.push(...asks.map((ask) => ask.then(tell, tell)));
      await sleep(20 + random(60));
      given = right;
      tell(pods.status, cache.stats(), cache.metrics(), informer, cache, pods);
    }
    server.control.fault("clear");
    pods.resume();
    await Promise.all(underWay);
    await eventually(
      () => pods.status.phase === "live",
      () => `live, not ${pods.status.phase}`,
    );
    assert.ok(asked > 12 && told.some((text) => text.includes("WatchCacheError")), "there was trouble");
    if (transport === "websocket") assert.ok(traffic.sockets.length > 0, "sockets were opened");
    const urls = [...traffic.fetches, ...traffic.sockets].map(({ url }) => url.href);
    return { tokens: [right, wrong], told, urls };
  } finally {
    await cache.close();
    await server.close();
  }
}

/** @type {["websocket" | "fetch", number][]} */
const TRANSPORTS = [
  ["websocket", 8],
  ["fetch", 2],
];
for (const [transport, seeds] of TRANSPORTS)
  test(`law_12_secrets: no token shows anywhere, whatever goes wrong, over ${transport}`, async () => {
    for (let seed = 0; seed < seeds; seed++) {
      const { tokens, told, urls } = await trouble(seed, transport);
      for (const form of tokens.flatMap(forms)) {
        for (const text of [...told, ...urls]) {
          const at = text.indexOf(form);
          assert.ok(at < 0, `seed ${seed}: ${JSON.stringify(text.slice(Math.max(0, at - 200), at + 200))}`);
        }
      }
    }
  });

test("what is searched for would be found", () => {
  const token = tokenOf(randomOf(1), 40);
  const hidden = Object.assign(new Error("x", { cause: { headers: { authorization: `Bearer ${token}` } } }));
  assert.ok(forms(token).some((form) => seen(hidden).includes(form)));
  assert.ok(forms(token).some((form) => new URL(`http://host/?token=${encodeURIComponent(token)}`).href.includes(form)));
});
