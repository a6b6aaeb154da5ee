// From the rounds of a run to a table of ratios.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const OURS = "watchcache";

/** What a harness took of one unit, in µs by the clock and of the thread's processor time. */
function perUnit(scenario, harness) {
  const { ms, cpuMs } = scenario.harnesses[harness];
  const per = (values) => (median(values) * 1000) / scenario.units;
  return { clock: per(ms), cpu: cpuMs && per(cpuMs) };
}

const minus = (a, b) => ({ clock: a.clock - b.clock, cpu: a.cpu - b.cpu });

function timeRow(what, peer, ours, theirs, goal) {
  // A difference of two runs that is lost in their noise has no ratio.
  const ratio = (a, b) => (a > 0 && b > 0 ? a / b : undefined);
  const times = { ours: ours.clock, theirs: theirs.clock, ratio: ratio(ours.clock, theirs.clock), cpuRatio: ratio(ours.cpu, theirs.cpu) };
  return { what, peer, unit: "µs", ...times, goal };
}

function ingestRow(what, scenario, peer, goal) {
  return timeRow(what, peer, perUnit(scenario, OURS), perUnit(scenario, "JSON.parse"), goal);
}

/** What the callbacks add to the event: the difference to the same run without any. */
function deliveryRow(scenario, goal) {
  const ours = minus(perUnit(scenario, OURS), perUnit(scenario, `${OURS}, no callbacks`));
  const theirs = minus(perUnit(scenario, "loop"), perUnit(scenario, "loop, no callbacks"));
  return timeRow(`an event to ${scenario.callbacks.toLocaleString("en")} callbacks, delivery alone`, "plain loop", ours, theirs, goal);
}

function wholeWayRow(scenario) {
  const peer = "JSON.parse and loop";
  const what = `a 14.4 kB frame to ${scenario.callbacks.toLocaleString("en")} callbacks, the whole way`;
  return timeRow(what, peer, perUnit(scenario, OURS), perUnit(scenario, peer));
}

function loadRows(scenario) {
  const peer = "fetch into a Map";
  const [ours, theirs] = [scenario.harnesses[OURS], scenario.harnesses[peer]];
  const row = (what, unit, a, b) => ({
    what: `${scenario.pods.toLocaleString("en")} pods: ${what}`,
    peer,
    unit,
    ours: a,
    theirs: b,
    ratio: a / b,
  });
  const held = ours.heap.map((heap, i) => heap + ours.wasm[i]);
  return [
    { ...row("time until loaded", "ms", median(ours.ms), median(theirs.ms)), cpuRatio: median(ours.cpuMs) / median(theirs.cpuMs) },
    row("longest task of the main thread", "ms", median(ours.longest), median(theirs.longest)),
    row("memory held", "MB", median(held) / 1e6, median(theirs.heap) / 1e6),
    row("JavaScript heap alone", "MB", median(ours.heap) / 1e6, median(theirs.heap) / 1e6),
  ];
}

/** @param results what scripts/bench.mjs has gathered, by scenario */
export function rows({ ingest, read, stream, fanout, wholeWay, load }) {
  return [
    ingestRow("a 14.4 kB frame over a WebSocket, nobody reads", ingest, "JSON.parse", "≤ 0.5"),
    ingestRow("a 14.4 kB frame over a WebSocket, one reader of the object", read, "JSON.parse"),
    ingestRow("a 14.4 kB frame over a streaming fetch, nobody reads", stream, "decode, cut, JSON.parse"),
    ...fanout.map((scenario) => deliveryRow(scenario, scenario.callbacks === 1000 ? "≤ 2" : undefined)),
    wholeWayRow(wholeWay),
    ...loadRows(load),
  ];
}

/** A number with three digits that say something. */
export function number(value) {
  if (value === undefined) return "";
  return value >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();
}

/** A Markdown table, its columns aligned. */
export function table(head, lines) {
  const cells = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const line = (values) =>
    `| ${values.map((value, column) => (column === 0 ? value.padEnd(widths[0]) : value.padStart(widths[column]))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...cells.slice(1).map(line)].join("\n");
}

export function ratioTable(results) {
  const withUnit = (value, unit) => `${number(value)} ${unit}`;
  return table(
    ["what", "watchcache", "peer", "its", "ratio", "ratio of CPU time", "goal"],
    rows(results).map(({ what, peer, unit, ours, theirs, ratio, cpuRatio, goal = "" }) => [
      what,
      withUnit(ours, unit),
      peer,
      withUnit(theirs, unit),
      number(ratio),
      number(cpuRatio),
      goal,
    ]),
  );
}

export function sizeTable({ wasm, javascript, glue }) {
  const kilo = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const line = (name, size) => [name, kilo(size.raw), kilo(size.gzip), kilo(size.brotli)];
  return table(
    ["size", "raw", "gzip", "brotli"],
    [line("watchcache_bg.wasm", wasm), line("JavaScript, bundled and minified", javascript), line("of which wasm-bindgen's glue", glue)],
  );
}

/** The harnesses of a scenario that did not do the same work, as sentences. */
export function disagreements(scenario, name) {
  const groups = scenario.alike ?? [Object.keys(scenario.harnesses)];
  return groups.flatMap((harnesses) => {
    const checksums = harnesses.map((harness) => scenario.harnesses[harness].checksum);
    if (new Set(checksums).size === 1) return [];
    return [`${name}: ${harnesses.map((harness, i) => `${harness} gave ${checksums[i]}`).join(", ")}`];
  });
}
