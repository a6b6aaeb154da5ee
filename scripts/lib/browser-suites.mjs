// The browser suites of the page and of the facade in the engines beside Chromium: which files, in which shares, and how they are run.
import { TESTED } from "./engines.mjs";
import { browserEnvironment } from "./env.mjs";
import { SetupError } from "./fail.mjs";
import { filesUnder } from "./hash.mjs";
import { nodeTest } from "./node-test.mjs";
import { turnNow } from "./turn.mjs";
import { setupEngine } from "../setup-engines.mjs";

/** A share takes two minutes; one that takes so long hangs. */
const LIMIT_MS = 4 * 60_000;

const under = (...folders) => filesUnder(folders, (path) => path.endsWith(".test.mjs"));
const isTabs = (path) => /(shared|tabs)\.test\.mjs$/.test(path);
const isLives = (path) => /life\.test\.mjs$/.test(path);
const isPersist = (path) => /persist\.test\.mjs$/.test(path);
const isTable = (path) => /table\.test\.mjs$/.test(path);
const isFaults = (path) => /faults\.test\.mjs$/.test(path);

/** What one run of `npm test` takes of an engine. */
export const SHARES = {
  facade: () => under("tests/browser").filter((path) => !isTabs(path) && !isLives(path) && !isPersist(path)),
  tabs: () => under("tests/browser", "tests/page").filter(isTabs),
  lives: () => under("tests/browser").filter(isLives),
  persist: () => under("tests/browser").filter(isPersist),
  hooks: () => ["tests/react/hooks.test.mjs"],
  table: () => under("tests/page").filter(isTable),
  faults: () => under("tests/page").filter(isFaults),
  page: () => under("tests/page").filter((path) => !isTabs(path) && !isTable(path) && !isFaults(path)),
};

const ALL = Object.keys(SHARES).flatMap((share) => TESTED.map((engine) => ({ engine, share })));

/** Runs a share of the suites in an engine, as a step of `summary`. */
const stepOf = ({ engine, share }) => ({
  title: `${engine}: ${share}`,
  async run() {
    await setupEngine(engine);
    return nodeTest(SHARES[share](), { env: { ...browserEnvironment(), WATCHCACHE_ENGINE: engine }, timeoutMs: LIMIT_MS });
  },
});

/** Every share in these engines. @param {string[]} engines */
export const everyStep = (engines) => ALL.filter(({ engine }) => engines.includes(engine)).map(stepOf);

/**
 * One share in one engine, the next one with each commit. A person's machine may not have the engine, and no way to it: then this says what was
 * not run. CI has to run it.
 */
export async function stepOfTheDay(turn = turnNow()) {
  const chosen = ALL[turn % ALL.length];
  const step = stepOf(chosen);
  console.log(`${step.title} (\`npm run test:browsers\` runs all)`);
  try {
    await setupEngine(chosen.engine);
  } catch (error) {
    if (!(error instanceof SetupError) || process.env.CI) throw error;
    return { code: 0, notRun: error.message };
  }
  return step.run();
}
