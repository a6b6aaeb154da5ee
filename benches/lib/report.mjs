// From the rounds of a run to a table of ratios.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which this part of them lies, such as a quarter. */
export function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = part * (sorted.length - 1);
  const [below, above] = [Math.floor(at), Math.ceil(at)].map((i) => sorted[i]);
  return below + (above - below) * (at % 1);
}

/**
 * How many times as much the first took, of what both took in the same rounds: the median of the rounds' ratios. A shared machine is slow for
 * seconds at a time, which hurts both in one round and is no part of their ratio. The ratio of two medians may compare a slow round of one with a
 * quick one of the other.
 */
export function ratioOf(ours, theirs) {
  const both = Math.min(ours.length, theirs.length);
  return both > 0 ? median(Array.from({ length: both }, (_, round) => ours[round] / theirs[round])) : undefined;
}

/** What a harness took of one unit, in µs by the clock and of the thread's processor time: the median, and all rounds. */
export function perUnit(scenario, harness) {
  const { ms, cpuMs } = scenario.harnesses[harness];
  const per = (values) => (median(values) * 1000) / scenario.units;
  return { clock: per(ms), cpu: cpuMs && per(cpuMs), rounds: { clock: ms, cpu: cpuMs } };
}

/**
 * A line that compares times, in µs: with their rounds by {@link ratioOf}, else as they are.
 * @param {{ ratio?: string, cpu?: string, ours?: [number, string] }} [goal] the greatest ratio, such as "1/3", that of processor time, or the
 * most that ours may take, with its name
 */
export function timeRow(what, peer, ours, theirs, goal) {
  const ratio = (kind) => {
    const [a, b] = [ours.rounds?.[kind], theirs.rounds?.[kind]];
    if (a && b) return ratioOf(a, b);
    // A difference of two runs that is lost in their noise has no ratio.
    return ours[kind] > 0 && theirs[kind] > 0 ? ours[kind] / theirs[kind] : undefined;
  };
  const times = { ours: ours.clock, theirs: theirs.clock, ratio: ratio("clock"), cpuRatio: ratio("cpu") };
  return { what, peer, unit: "µs", ...times, goal };
}

/** A number with three digits that say something. */
export function number(value) {
  if (value === undefined) return "";
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();
}

/** A Markdown table, its columns aligned. Numbers are written as they are. */
export function table(head, lines) {
  const text = (value) => (typeof value === "number" ? value.toLocaleString("en") : value);
  const cells = [head, ...lines.map((line) => line.map(text))];
  const widths = head.map((_, column) => Math.max(1, ...cells.map((line) => line[column].length)));
  const line = (values) =>
    `| ${values.map((value, column) => (column === 0 ? value.padEnd(widths[0]) : value.padStart(widths[column]))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...cells.slice(1).map(line)].join("\n");
}

const fraction = (text) => text.split("/").reduce((value, part, i) => (i === 0 ? Number(part) : value / Number(part)), 0);

/** What is asked of a line, and whether it is so; undefined where nothing is asked. */
export function judge({ goal, ours, ratio, cpuRatio }) {
  if (!goal) return undefined;
  const asked = [];
  let met = true;
  if (goal.ratio) {
    asked.push(`≤ ${goal.ratio}`);
    met &&= ratio <= fraction(goal.ratio);
  }
  if (goal.cpu) {
    asked.push(`≤ ${goal.cpu} of CPU time`);
    met &&= cpuRatio <= fraction(goal.cpu);
  }
  if (goal.ours) {
    asked.push(`≤ ${goal.ours[1]}`);
    met &&= ours <= goal.ours[0];
  }
  return { asked: asked.join(", "), met };
}

function verdict(line) {
  const judged = judge(line);
  return judged ? `${judged.asked}: ${judged.met ? "met" : "missed"}` : "";
}

const SCALES = { µs: [1e4, 1000, "ms"], B: [1e6, 1e6, "MB"], ms: [1e5, 1000, "s"] };

/** A value with its unit, or with a larger one. */
export function measure(value, unit) {
  if (value === undefined) return "";
  const [from, divisor, larger] = SCALES[unit] ?? [Infinity];
  return Math.abs(value) >= from ? `${number(value / divisor)} ${larger}` : `${number(value)} ${unit}`;
}

/** All lines as a table: ours, the peer's, their ratio. None is left out, and where ours is the greater it says so. */
export function ratioTable(lines) {
  return table(
    ["what", "watchcache", "peer", "its", "ratio", "ratio of CPU time", "goal"],
    lines.map((line) => [
      line.what,
      line.failed ?? measure(line.ours, line.unit),
      line.peer,
      measure(line.theirs, line.unit),
      line.ratio > 1 ? `**${number(line.ratio)}**` : number(line.ratio),
      number(line.cpuRatio),
      verdict(line),
    ]),
  );
}

/** The lines that something is asked of, in few columns: for who wants to know what to expect. */
export function goalTable(lines) {
  return table(
    ["what", "watchcache", "beside", "which takes", "ratio", "goal"],
    lines
      .filter(({ goal }) => goal)
      .map((line) => [
        line.what,
        measure(line.ours, line.unit),
        line.peer,
        measure(line.theirs, line.unit),
        number(line.ratio),
        verdict(line),
      ]),
  );
}

/** The harnesses of a scenario that did not do the same work, as sentences. */
export function disagreements(scenario, name) {
  const groups = scenario.alike ?? [Object.keys(scenario.harnesses)];
  return groups.flatMap((harnesses) => {
    const checksums = harnesses.map((harness) => scenario.harnesses[harness].checksum);
    if (new Set(checksums).size === 1 && checksums[0]) return [];
    return [`${name}: ${harnesses.map((harness, i) => `${harness} gave ${checksums[i]}`).join(", ")}`];
  });
}
