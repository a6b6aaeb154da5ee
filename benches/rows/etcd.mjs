// Events of a real etcd to 100 subscribers. It or its writers may be the limit of events a second. So the page's processor
// time for the same events is measured too, and the time from a write to the last subscriber.
import { startEtcdGo } from "../lib/etcd-go.mjs";
import { OURS } from "../lib/peers.mjs";
import { servePageWith } from "../lib/page-server.mjs";
import { servedInTurns, servedLines } from "../lib/served.mjs";
import { EtcdCluster } from "../../tests/servers/harness/etcd-cluster.mjs";

const PLANS = { full: { rounds: 9, events: 10_000 }, quick: { rounds: 1, events: 500 } };
const NAMES = [OURS, "WebSocket and JSON.parse by hand", "the same by hand, with prev_kv"];
const KEYS = 1_000;
const WRITERS = 16;

async function measure({ browser, root, page, mode, say }) {
  const { rounds, events } = PLANS[mode];
  const etcd = await EtcdCluster.start();
  const server = await servePageWith(page, { connect: etcd.url });
  const writer = await startEtcdGo(root, ["write", etcd.url]);
  const prefixOf = (i) => `/bench-${i}/`;
  try {
    const harnesses = await servedInTurns({
      browser,
      url: server.url,
      names: NAMES,
      rounds,
      events,
      say: (round) => say(`etcd, ${round < 0 ? "to warm up" : `round ${round + 1} of ${rounds}`}`),
      open: (i) => ({ server: "etcd", endpoint: etcd.url, prefix: prefixOf(i) }),
      async write(i) {
        writer.write(`${prefixOf(i)} ${KEYS} ${events} ${WRITERS}`);
        return Number(await writer.line());
      },
    });
    return { "100 subscribers": { unit: "event", units: events, harnesses } };
  } finally {
    await writer.stop();
    await server.close();
    await etcd.stop();
  }
}

export default {
  name: "etcd",
  measure,
  scenarios: (results) => results,
  lines: (results) => servedLines("etcd", results["100 subscribers"]),
};
