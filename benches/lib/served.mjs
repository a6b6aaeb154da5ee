// Rows in which a real server tells the pages of its events, in turns, while writers of our own change what it holds.
import { median, perUnit, ratioOf, timeRow } from "./report.mjs";
import { OURS } from "./peers.mjs";
import { withPages } from "./turns.mjs";

const KINDS = ["ms", "cpuMs", "delayMs", "lateMs", "writerMs"];

/**
 * @param {{ browser: object, url: string, names: string[], rounds: number, events: number, say: (round: number) => void,
 *   open: (i: number) => object, write: (i: number) => Promise<number> }} plan `open`: the options of a harness; `write` makes the events of a
 *   round, and gives the ms that it took
 */
export function servedInTurns({ browser, url, names, rounds, events, say, open, write }) {
  return withPages(browser, url, names, async (pages) => {
    const results = Object.fromEntries(names.map((name) => [name, Object.fromEntries(KINDS.map((kind) => [kind, []]))]));
    for (const [i, { name, run }] of pages.entries()) await run("openServed", { harness: name, ...open(i) });
    for (let round = -1; round < rounds; round++) {
      say(round);
      for (let turn = 0; turn < pages.length; turn++) {
        const i = (turn + round + 1) % pages.length;
        const { name, run } = pages[i];
        const [times, writerMs] = await Promise.all([run("roundServed", { events }), write(i)]);
        if (round < 0) continue;
        for (const [kind, value] of Object.entries({ ...times, writerMs })) results[name][kind].push(value);
      }
    }
    for (const { name, run } of pages) Object.assign(results[name], await run("closeServed"));
    return results;
  });
}

/** The lines of such a scenario. @param {string} of such as "etcd" */
export function servedLines(of, scenario) {
  const what = `an event of ${of} to 100 subscribers that read it`;
  const ours = scenario.harnesses[OURS];
  const peers = Object.keys(scenario.harnesses).filter((name) => name !== OURS);
  const cpu = (name) => ({ clock: perUnit(scenario, name).cpu, rounds: { clock: scenario.harnesses[name].cpuMs } });
  const against = peers.flatMap((peer) => {
    const theirs = scenario.harnesses[peer];
    const delay = (which, kind) => ({
      what: `${what}: from the write to the last subscriber, ${which}`,
      unit: "ms",
      peer,
      ours: median(ours[kind]),
      theirs: median(theirs[kind]),
      ratio: ratioOf(ours[kind], theirs[kind]),
    });
    const { cpuRatio: _, ...byClock } = timeRow(`${what}: by the clock`, peer, perUnit(scenario, OURS), perUnit(scenario, peer));
    return [
      byClock,
      timeRow(`${what}: the page's processor time`, peer, cpu(OURS), cpu(peer)),
      delay("median", "delayMs"),
      delay("99 of 100", "lateMs"),
    ];
  });
  const limit = Object.entries(scenario.harnesses).map(([name, { ms, writerMs }]) => ({
    what: `all events of a round of ${of}: ${name}, beside its writers`,
    unit: "ms",
    peer: "the writers",
    ours: median(ms),
    theirs: median(writerMs),
    ratio: ratioOf(ms, writerMs),
  }));
  return [...against, ...limit];
}
