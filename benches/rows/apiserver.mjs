// Events of a real kube-apiserver to 100 subscribers, through a proxy on the page's origin. It or its writers may be the limit of events a second. So the page's processor
// time for the same events is measured too, and the time from a write to the last subscriber.
import { callsOf } from "../lib/cluster-calls.mjs";
import { OURS } from "../lib/peers.mjs";
import { servedInTurns, servedLines } from "../lib/served.mjs";
import { Cluster } from "../../tests/servers/harness/cluster.mjs";
import { Proxy } from "../../tests/servers/harness/proxy.mjs";
import { CONTENT_SECURITY_POLICY, servePage } from "../../www/server/static.mjs";

const PLANS = { full: { rounds: 7, events: 2_000, objects: 200 }, quick: { rounds: 1, events: 200, objects: 20 } };
const NAMES = [OURS, "WebSocket and JSON.parse by hand", "client-node informer"];
const WRITERS = 16;
const FILLER = "filler ".repeat(60);

/** So many at once. @param {number} count @param {(n: number) => Promise<void>} work */
async function many(count, work) {
  let next = 0;
  const worker = async () => {
    for (let n = next++; n < count; n = next++) await work(n);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}

async function measure({ browser, page, mode, say }) {
  const { rounds, events, objects } = PLANS[mode];
  const cluster = await Cluster.start();
  const { call, end } = callsOf(cluster, WRITERS);
  const files = servePage(page, CONTENT_SECURITY_POLICY);
  const serve = (asked, answer) => {
    if (/^\/apis?\//.test(asked.url)) return false;
    void files(asked, answer);
    return true;
  };
  const proxy = await Proxy.start({ upstream: cluster.secureUrl, ca: () => cluster.certificate, serve });
  const namespaceOf = (i) => `bench-${i}`;
  const valueOf = (n) => ({ data: { n: String(n), at: String(performance.timeOrigin + performance.now()), filler: FILLER } });
  try {
    for (const i of NAMES.keys()) {
      const namespace = namespaceOf(i);
      await call("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
      await many(objects, (n) =>
        call("POST", `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name: `map-${n}` }, ...valueOf(0) }),
      );
    }
    const write = async (i) => {
      const began = performance.now();
      await many(events, (n) => call("PATCH", `/api/v1/namespaces/${namespaceOf(i)}/configmaps/map-${n % objects}`, valueOf(n)));
      return performance.now() - began;
    };
    const harnesses = await servedInTurns({
      browser,
      url: proxy.url,
      names: NAMES,
      rounds,
      events,
      say: (round) => say(`kube-apiserver, ${round < 0 ? "to warm up" : `round ${round + 1} of ${rounds}`}`),
      open: (i) => ({ server: "kubernetes", namespace: namespaceOf(i), token: cluster.tokens.admin }),
      write,
    });
    return { "100 subscribers": { unit: "event", units: events, harnesses } };
  } finally {
    end();
    await proxy.close();
    await cluster.stop();
  }
}

export default {
  name: "apiserver",
  measure,
  scenarios: (results) => results,
  lines: (results) => servedLines("kube-apiserver", results["100 subscribers"]),
};
