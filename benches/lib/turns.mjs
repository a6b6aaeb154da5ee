// Harnesses in pages of their own that take turns, round by round. A busy neighbour hurts all of them alike, and none pays for what another
// left in the heap.
import { openPage } from "./pages.mjs";

/** Opens a page for each name, does the work, and closes them. */
export async function withPages(browser, url, names, work) {
  const pages = [];
  try {
    for (const name of names) pages.push({ ...(await openPage(browser, url)), name });
    return await work(pages);
  } finally {
    for (const page of pages) await page.close();
  }
}

/**
 * Lets open pages take turns.
 * @param pages of {@link withPages}
 * @param {{ rounds: number, scenario: string, options: (name: string) => object, round: object }} plan `scenario` such as "Path": the page has
 * `openPath`, `roundPath` and `closePath`
 * @returns milliseconds of every round and the checksum of the work done, by name
 */
export async function takeTurns(pages, { rounds, scenario, options, round }) {
  const results = Object.fromEntries(pages.map(({ name }) => [name, { ms: [] }]));
  for (const page of pages) await page.run(`open${scenario}`, options(page.name));
  for (let number = -1; number < rounds; number++) {
    for (let i = 0; i < pages.length; i++) {
      const { name, run } = pages[(i + number + 1) % pages.length];
      const { ms, cpuMs } = await run(`round${scenario}`, round);
      if (number < 0) continue;
      results[name].ms.push(ms);
      if (cpuMs !== undefined) (results[name].cpuMs ??= []).push(cpuMs);
    }
  }
  for (const { name, run } of pages) Object.assign(results[name], await run(`close${scenario}`));
  return results;
}

/** The same with pages of its own. */
export function inTurns(browser, url, names, plan) {
  return withPages(browser, url, names, (pages) => takeTurns(pages, plan));
}
