// What a trace tells of the tasks of a page's main thread.

const CATEGORIES = ["blink.user_timing", "disabled-by-default-devtools.timeline", "devtools.timeline"];

/**
 * The tasks between the marks "STEP begins" and "STEP ends" that `work` leaves. Told is the longest by the clock and by processor time, in
 * ms, and what the latter was made of.
 * @param {import("playwright-core").Browser} browser
 */
export async function stepTrace(browser, step, work) {
  await browser.startTracing(undefined, { categories: CATEGORIES });
  await work();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const [begin, end] = ["begins", "ends"].map((name) => traceEvents.find((event) => event.name === `${step} ${name}`));
  if (!begin || !end) throw new Error(`the trace of ${step} is not whole`);
  const own = traceEvents.filter(({ pid, tid, dur }) => pid === begin.pid && tid === begin.tid && dur > 0);
  const within = ({ ts, dur }) => ts + dur > begin.ts && ts < end.ts;
  const tasks = own.filter((event) => event.name === "RunTask" && within(event));
  if (tasks.length === 0) throw new Error(`the trace of ${step} has no tasks`);
  const most = (list, of) => list.reduce((a, b) => (of(b) > of(a) ? b : a));
  // Without processor time in the trace there is nothing to tell a neighbour's time by.
  const cpu = ({ tdur, dur }) => tdur ?? dur;
  const longest = most(tasks, ({ dur }) => dur);
  const busiest = most(tasks, cpu);
  const inside = own.filter(({ ts, dur, name }) => name !== "RunTask" && ts >= busiest.ts && ts + dur <= busiest.ts + busiest.dur);
  const parts = inside.toSorted((a, b) => b.dur - a.dur).slice(0, 6);
  return {
    longest: longest.dur / 1000,
    longestCpu: cpu(busiest) / 1000,
    over50: tasks.filter((task) => cpu(task) > 50_000).length,
    tasks: tasks.length,
    what: parts.map(({ name, dur }) => `${name} ${Math.round(dur / 100) / 10}`).join(", "),
  };
}
