// Listeners that ask for the next try at each failure. Counts how often the server is asked, over the real core and an injected fetch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { createWatchCache } from "watchcache";

import { until } from "./lib/package.mjs";

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const refusal = (code) =>
  new Response(JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message: "no", reason: "", code }), {
    status: code,
    headers: { "content-type": "application/json" },
  });

/** What becomes of each request. */
const answers = {
  ...Object.fromEntries([401, 403, 404, 405, 500].map((code) => [code, () => refusal(code)])),
  HTML: () => new Response("<!doctype html>", { headers: { "content-type": "text/html" } }),
  down: () => {
    throw new TypeError("fetch failed");
  },
};

/** What a listener does. */
const asks = {
  resume: (resource) => resource.resume(),
  refresh: (resource) => void resource.refresh().catch(() => {}),
  "pause and resume": (resource) => {
    resource.pause();
    resource.resume();
  },
  // A pause that the core sees.
  "pause, and resume later": (resource) => {
    resource.pause();
    setTimeout(() => resource.resume(), 1);
  },
};

const TROUBLED = ["failed", "needs-auth", "reconnecting"];

/** A cache with this many resources that are used, and how often its server was asked. */
function opened(t, answer, many = 1) {
  const asked = [];
  const cache = createWatchCache({
    server: "http://kube.test",
    transport: "fetch",
    logger,
    fetch: async (url) => {
      asked.push(url);
      return answer();
    },
  });
  t.after(() => cache.close());
  const all = Array.from({ length: many }, (_, i) => cache.resource({ group: "test.dev", version: "v1", resource: `kind${i}s` }));
  for (const resource of all) resource.view().subscribe(() => {});
  return { asked, all };
}

for (const [what, answer] of Object.entries(answers)) {
  for (const type of ["status", "error"]) {
    for (const [name, ask] of Object.entries(asks)) {
      test(`${what}: a listener on ${type} that calls ${name} is heard three times`, async (t) => {
        const { asked, all } = opened(t, answer);
        all[0].addEventListener(type, ({ detail }) => TROUBLED.includes(detail.phase) && ask(all[0]));
        // The first wait that counts again is of 6.4 seconds at least.
        await sleep(1_000);
        assert.ok(asked.length >= 2 && asked.length <= 6, `${asked.length} requests`);
      });
    }
  }

  test(`${what}: a single early try is granted at once, and once`, async (t) => {
    const { asked, all } = opened(t, answer);
    const [resource] = all;
    const waits = () => TROUBLED.includes(resource.status.phase) && (resource.status.retryAt !== undefined || what === "405");
    await until(waits);
    if (what === "405") assert.equal(resource.status.retryAt, undefined);
    for (const press of [() => resource.resume(), () => void resource.refresh().catch(() => {})]) {
      const before = asked.length;
      press();
      // The shortest wait is of 800 milliseconds.
      await sleep(200);
      assert.equal(asked.length, before + 1);
      await until(waits);
    }
  });
}

test("the listeners of thirty resources of a server that is down get as many early tries as one", async (t) => {
  const { asked, all } = opened(t, answers.down, 30);
  for (const resource of all) {
    for (const type of ["status", "error"]) {
      resource.addEventListener(type, ({ detail }) => TROUBLED.includes(detail.phase) && resource.resume());
    }
  }
  await sleep(1_500);
  assert.ok(asked.length >= 2 && asked.length <= 12, `${asked.length} requests`);
});
