// From the rounds of the native benchmark to tables of ratios.
import { median, number, table } from "./report.mjs";

const PEERS = {
  decode: "a 14.4 kB JSON event, read alone",
  "all-1000": "an event to 1,000 watchers that all want it",
  "field-1000-10": "an event to 10 of 1,000 watchers by a field, theirs without a trigger",
  "trigger-100-1": "an event to 1 of 100 watchers by a field, theirs with a trigger on it",
  "trigger-10000-10": "an event to 10 of 10,000 watchers by a field, theirs with a trigger on it",
  "json-1000-10": "a 14.4 kB JSON event, read and given to 10 of 1,000 watchers",
};

const OWN = [
  ["an event that 10 want, without packing, of 1,000 watchers", "watchers-1000", "of 10 watchers", "watchers-10"],
  ["an event that 10 want, without packing, of 100,000 watchers", "watchers-100000", "of 10 watchers", "watchers-10", "≤ 2"],
  ["a page of 500 out of 100,000, from a key", "page-500", "by scanning all", "page-500-by-scan"],
  ["100,000 objects as they were 10,000 events ago", "exact-10000-back", "as they are", "exact-by-scan"],
];

/** The median of a measurement over all rounds; undefined where there is none. */
function middle(rounds, name, field) {
  const values = rounds
    .flatMap((round) => round.filter((it) => it.name === name).map((it) => it[field]))
    .filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
}

const divided = (a, b) => (a !== undefined && b !== undefined ? a / b : undefined);
const us = (value) => (value === undefined ? "" : `${number(value)} µs`);

/** The rounds with the whole price of an event: what it takes, and what packing takes of it later. */
const whole = (rounds) =>
  rounds.map((round) => round.map((it) => ({ ...it, us: it.us + (it.packing_us ?? 0), cpu: it.cpu + (it.packing_cpu ?? 0) })));

/** Ours beside the apiserver's own. */
export function nativeTable({ ours, theirs }) {
  const all = whole(ours);
  const lines = Object.entries(PEERS).map(([name, what]) => {
    const ratio = (rounds, field) => number(divided(middle(rounds, name, field), middle(theirs, name, field)));
    const times = [middle(ours, name, "us"), middle(ours, name, "packing_us"), middle(all, name, "us"), middle(theirs, name, "us")];
    return [what, ...times.map(us), ratio(all, "us"), ratio(all, "cpu"), ratio(ours, "us")];
  });
  const columns = [
    "the event",
    "packing in idle turns",
    "both",
    "the apiserver's cacher",
    "ratio",
    "ratio of CPU time",
    "ratio without packing",
  ];
  return table(["what", ...columns], lines);
}

/** Ours beside ours. */
export function readTable({ ours }) {
  const lines = OWN.map(([what, name, beside, other, goal = ""]) => {
    const [a, b] = [middle(ours, name, "us"), middle(ours, other, "us")];
    const cpu = divided(middle(ours, name, "cpu"), middle(ours, other, "cpu"));
    return [what, us(a), beside, us(b), number(divided(a, b)), number(cpu), goal];
  });
  return table(["what", "watchcache, native", "beside", "its", "ratio", "ratio of CPU time", "goal"], lines);
}

/** What the window holds. */
export function memoryLine({ ours }) {
  const of = (field) => middle(ours, "memory", field);
  const megabytes = (bytes) => `${number(bytes / 1e6)} MB`;
  return (
    `A window of ${of("events")?.toLocaleString("en")} changes of one 14.4 kB pod holds ${megabytes(of("held"))} for ${megabytes(of("full"))} of ` +
    `full objects: ${number(of("held") / of("full"))} of them (goal: at most 0.1). The process grew by ${megabytes(of("resident"))}.`
  );
}

/** Measurements in which the number of deliveries differs, between rounds or between peers; as sentences. */
export function unequal({ ours, theirs }) {
  const counts = new Map();
  for (const { name, delivered } of [...ours, ...theirs].flat()) {
    if (delivered !== undefined) counts.set(name, new Set([...(counts.get(name) ?? []), delivered]));
  }
  return [...counts].filter(([, values]) => values.size > 1).map(([name, values]) => `${name}: ${[...values].join(" and ")} deliveries`);
}
