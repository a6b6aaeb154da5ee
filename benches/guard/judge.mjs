// How the guard judges: it compares measured figures with the recorded ones, and growth with its limit.

/** A figure that changes by more than this, up or down, has to be written down anew. */
export const TOLERANCE = 0.05;
/** By kind, where the same run gives the same figure to a smaller part. Of a page's heap 5 % would be 400 bytes a mount. */
const TOLERANCES = { session: 0.02 };
/** At twice its size a path may cost so many times as much. A sort costs 2.2 times, what is quadratic up to 4. */
export const MOST_GROWTH = 2.5;
/** The worst document may cost so many times what it costs serde_json. Those of nothing but labels do: each text of theirs is kept by itself. */
export const MOST_OF_PEER = 1.5;

/** Kinds of figures that another compiler changes. */
const BY_COMPILER = new Set(["instructions", "size"]);

const isClose = (kind, value, known) => Math.abs(value - known) <= (TOLERANCES[kind] ?? TOLERANCE) * known;

/**
 * @param recorded { compiler, figures: { name: { kind, unit, value, reason } } }
 * @param measured { compiler, figures: { name: { kind, unit, value } } }
 * @returns { lines: [name, value, unit, recorded, change, verdict][], failed: string[], said: string[] }
 */
export function judge(recorded, measured) {
  const lines = [];
  const failed = [];
  const said = [];
  const otherCompiler = recorded.compiler !== measured.compiler;
  if (otherCompiler) {
    said.push(
      `The figures were recorded with ${recorded.compiler ?? "no compiler yet"}; this is ${measured.compiler}. Instructions and sizes are shown and not judged.`,
    );
  }
  for (const [name, { kind, unit, value }] of Object.entries(measured.figures)) {
    const known = recorded.figures[name];
    const change = known && value / known.value - 1;
    const differs = known === undefined || !isClose(kind, value, known.value);
    const judged = !(otherCompiler && known && BY_COMPILER.has(kind));
    if (differs && judged) failed.push(known ? `${name}: ${value} ${unit} instead of ${known.value}` : `${name} is not recorded yet`);
    const verdict = !differs ? "" : judged ? "FAILED" : "another compiler";
    const percent = known && `${change >= 0 ? "+" : ""}${(change * 100).toFixed(1)} %`;
    lines.push([name, value, unit, known?.value ?? "", percent ?? "new", verdict]);
  }
  for (const name of Object.keys(recorded.figures)) {
    if (!(name in measured.figures)) failed.push(`${name} is recorded but no longer measured`);
  }
  return { lines, failed, said };
}

/** The record with what changed written down: a figure within its tolerance keeps its value, so that small steps cannot add up unseen. */
export function accept(recorded, measured, reason, date) {
  const sameCompiler = recorded.compiler === measured.compiler;
  const figures = {};
  for (const [name, figure] of Object.entries(measured.figures)) {
    const known = recorded.figures[name];
    const holds = known && isClose(figure.kind, figure.value, known.value) && (sameCompiler || !BY_COMPILER.has(figure.kind));
    figures[name] = holds ? known : { ...figure, reason, date };
  }
  return { compiler: measured.compiler, figures };
}

/** @param growth { name, size, once, twice, peer? }[]: instructions at the size, at twice it, and the peer's at twice it */
export function judgeGrowth(growth) {
  const lines = [];
  const failed = [];
  for (const { name, size, once, twice, peer } of growth) {
    const ratio = twice / once;
    const ofPeer = peer === undefined ? undefined : twice / peer;
    if (!(ratio <= MOST_GROWTH)) failed.push(`${name}: ${ratio.toFixed(2)} times the work at twice the size ${size}`);
    if (ofPeer > MOST_OF_PEER) failed.push(`${name}: ${ofPeer.toFixed(2)} times the work of serde_json`);
    lines.push([name, size, once, ratio.toFixed(2), ofPeer?.toFixed(2) ?? ""]);
  }
  return { lines, failed };
}
