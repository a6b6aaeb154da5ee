// Lines of a report as a table. Who is ahead stands in a column of its own, whoever it is.
import { judge, measure, number } from "../../lib/report.mjs";
import { OURS } from "../../lib/peers.mjs";

const HEAD = ["what", "watchcache", "peer", "its", "ratio", "ahead", "goal"];

/** An element with children, which are elements or texts. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Whether both took anything: a difference of two runs may be lost in their noise. */
const isHeard = ({ ours, theirs, ratio }) => ours > 0 && theirs > 0 && ratio > 0;

/** Who took less, and what the line counts as. */
function standing(line) {
  if (line.failed) return ["failed", ""];
  if (!isHeard(line)) return ["even", "lost in noise"];
  // As it stands there: who reads 1 is told of nobody who is ahead.
  const ratio = Number(number(line.ratio));
  if (ratio === 1) return ["even", "neither"];
  return ratio < 1 ? ["won", OURS] : ["lost", line.peer];
}

/** What is asked of a line, if it can be judged. */
const goalOf = (line) => (isHeard(line) ? judge(line) : undefined);

/** @param line as rows give it, or `{ what, failed }` */
export function rowOf(line) {
  const [kind, ahead] = standing(line);
  if (kind === "failed") {
    const why = element("td", { colSpan: HEAD.length - 1 }, line.failed);
    return element("tr", { className: kind }, element("th", { scope: "row" }, line.what), why);
  }
  const goal = goalOf(line);
  const cell = (text, className = "") => element("td", { className }, text);
  return element(
    "tr",
    { className: kind },
    element("th", { scope: "row" }, line.what),
    cell(measure(line.ours, line.unit), "figure"),
    cell(line.peer),
    cell(measure(line.theirs, line.unit), "figure"),
    cell(isHeard(line) ? number(line.ratio) : "", "figure ratio"),
    cell(ahead, "ahead"),
    cell(goal ? `${goal.asked}: ${goal.met ? "met" : "missed"}` : "", goal ? (goal.met ? "goal met" : "goal missed") : "goal"),
  );
}

/** How many lines say what, as a sentence. */
export function summaryOf(lines) {
  const count = (kind) => lines.filter((line) => standing(line)[0] === kind).length;
  const goals = lines.flatMap((line) => goalOf(line) ?? []);
  const parts = [`${OURS} is ahead in ${count("won")} of ${lines.length} lines, a peer in ${count("lost")}`];
  if (count("even") > 0) parts.push(`nobody in ${count("even")}`);
  if (goals.length > 0) parts.push(`${goals.filter(({ met }) => met).length} of ${goals.length} goals are met`);
  if (count("failed") > 0) parts.push(`${count("failed")} could not be measured`);
  return `${parts.join("; ")}.`;
}

/** Puts all lines into the place, in the order in which the rows gave them. */
export function showLines(place, lines) {
  if (lines.length === 0) return void place.replaceChildren();
  const head = element("tr", {}, ...HEAD.map((title) => element("th", { scope: "col" }, title)));
  place.replaceChildren(
    element("h2", {}, "Results"),
    element("p", { id: "summary" }, summaryOf(lines)),
    element("div", { className: "wide" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...lines.map(rowOf)))),
  );
}
