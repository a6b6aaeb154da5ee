// Events of a real etcd to 100 subscribers. etcd or its writers may be the limit of events a second, so the page's processor time for the same
// events, and how long an event takes from its put to the last subscriber, are measured as well.
import { startEtcdGo } from "../lib/etcd-go.mjs";
import { OURS } from "../lib/peers.mjs";
import { servePageWith } from "../lib/page-server.mjs";
import { median, perUnit, ratioOf, timeRow } from "../lib/report.mjs";
import { withPages } from "../lib/turns.mjs";
import { EtcdCluster } from "../../tests/servers/harness/etcd-cluster.mjs";

const PLANS = { full: { rounds: 9, events: 10_000 }, quick: { rounds: 1, events: 500 } };
const BY_HAND = "WebSocket and JSON.parse by hand";
const KEYS = 1_000;
const WRITERS = 16;

async function measure({ browser, root, page, mode, say }) {
  const { rounds, events } = PLANS[mode];
  const etcd = await EtcdCluster.start();
  const server = await servePageWith(page, { connect: etcd.url });
  const writer = await startEtcdGo(root, ["write", etcd.url]);
  try {
    const harnesses = await withPages(browser, server.url, [OURS, BY_HAND], async (pages) => {
      const results = Object.fromEntries(pages.map(({ name }) => [name, { ms: [], cpuMs: [], delayMs: [], lateMs: [], writerMs: [] }]));
      for (const [i, { name, run }] of pages.entries()) await run("openServed", { harness: name, endpoint: etcd.url, prefix: `/bench-${i}/` });
      for (let round = -1; round < rounds; round++) {
        say(`etcd, ${round < 0 ? "to warm up" : `round ${round + 1} of ${rounds}`}`);
        for (let turn = 0; turn < pages.length; turn++) {
          const i = (turn + round + 1) % pages.length;
          const { name, run } = pages[i];
          const told = run("roundServed", { events });
          writer.write(`/bench-${i}/ ${KEYS} ${events} ${WRITERS}`);
          const [times, line] = await Promise.all([told, writer.line()]);
          if (round < 0) continue;
          for (const [kind, value] of Object.entries({ ...times, writerMs: Number(line) })) results[name][kind].push(value);
        }
      }
      for (const { name, run } of pages) Object.assign(results[name], await run("closeServed"));
      return results;
    });
    return { "100 subscribers": { unit: "event", units: events, harnesses } };
  } finally {
    await writer.stop();
    await server.close();
    await etcd.stop();
  }
}

function lines(results) {
  const scenario = results["100 subscribers"];
  const [ours, theirs] = [OURS, BY_HAND].map((name) => scenario.harnesses[name]);
  const cpu = (name) => ({ clock: perUnit(scenario, name).cpu, rounds: { clock: scenario.harnesses[name].cpuMs } });
  const of = (what, kind) => ({
    what: `an event of etcd to 100 subscribers that read it: ${what}`,
    unit: "ms",
    peer: BY_HAND,
    ours: median(ours[kind]),
    theirs: median(theirs[kind]),
    ratio: ratioOf(ours[kind], theirs[kind]),
  });
  return [
    timeRow("an event of etcd to 100 subscribers that read it: by the clock", BY_HAND, perUnit(scenario, OURS), perUnit(scenario, BY_HAND)),
    timeRow("an event of etcd to 100 subscribers that read it: the page's processor time", BY_HAND, cpu(OURS), cpu(BY_HAND)),
    of("from the put to the last subscriber, median", "delayMs"),
    of("from the put to the last subscriber, 99 of 100", "lateMs"),
    {
      what: "events of etcd that the writers put and the page was told, by the clock",
      unit: "ms",
      peer: "the writers",
      ours: median(ours.ms),
      theirs: median(ours.writerMs),
      ratio: ratioOf(ours.ms, ours.writerMs),
    },
  ];
}

export default { name: "etcd", servers: true, measure, scenarios: (results) => results, lines };
