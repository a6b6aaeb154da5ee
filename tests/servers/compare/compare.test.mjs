/**
 * The package beside kube-apiserver: random writes, and the same random lists, gets and watches to both. See rules.mjs for what counts as
 * the same.
 *
 * Settings: COMPARE_SEED and COMPARE_ROUNDS choose what is played, COMPARE_TRACE=file plays one trace. A trace that fails is made small and
 * written to artifacts/; put into tests/servers/compare/traces it is a test.
 */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { root } from "../../../scripts/lib/project.mjs";
import { Cluster } from "../harness/cluster.mjs";
import { generate } from "./generate.mjs";
import { Counts, play } from "./play.mjs";
import { EXCEPTIONS } from "./rules.mjs";
import { describeTrace, shrink } from "./shrink.mjs";

/** What a normal run plays. */
const SEED = Number(process.env.COMPARE_SEED ?? 1);
const ROUNDS = Number(process.env.COMPARE_ROUNDS ?? 10);

/** No new round begins after this long, unless rounds were asked for; milliseconds. */
const LIMIT = process.env.COMPARE_ROUNDS === undefined ? 60_000 : Infinity;

/** Waits while a trace is made small: long enough for answers, shorter than for a verdict. */
const SHORT_PATIENCE = 1_500;

const TRACES = join(import.meta.dirname, "traces");

describe("the package beside kube-apiserver", () => {
  /** @type {Cluster} */
  let cluster;
  before(async () => {
    cluster = await Cluster.start();
  });
  after(() => cluster?.stop());

  if (process.env.COMPARE_TRACE !== undefined) {
    it(`a trace of ${process.env.COMPARE_TRACE}`, () => replay(String(process.env.COMPARE_TRACE)));
    return;
  }

  it(`answers as it does: seed ${SEED}, up to ${ROUNDS} rounds`, async (t) => {
    const counts = new Counts();
    const began = Date.now();
    let rounds = 0;
    /** @type {string[]} */
    const failures = [];
    for (; rounds < ROUNDS && Date.now() - began < LIMIT && failures.length < 3; rounds++) {
      const trace = generate(SEED + rounds);
      const result = await play(cluster, trace);
      counts.add(result.counts);
      if (result.differences.length > 0) failures.push(await smallest(trace, result.differences[0], result.differences.length));
    }
    t.diagnostic(`seed ${SEED}, ${rounds} rounds in ${Math.round((Date.now() - began) / 1000)} s`);
    for (const line of String(counts).split("\n")) t.diagnostic(line);
    assert.deepEqual(failures, [], failures.join("\n\n"));
    assert.ok(counts.equal > counts.total / 2, "most answers are compared to the last field");
    for (const name of Object.keys(counts.excepted)) assert.ok(name in EXCEPTIONS, name);
  });

  for (const file of readdirSync(TRACES).filter((name) => name.endsWith(".json"))) {
    it(`once differed: ${basename(file, ".json").replaceAll("-", " ")}`, () => replay(join(TRACES, file)));
  }

  describe("would tell", () => {
    // What a defect of the package would look like from here, made by changing what it gives.
    const wrongs = /** @type {Record<string, import("./sides.mjs").Tamper>} */ ({
      "an event that is lost": { event: (event) => (event.type === "DELETED" ? undefined : event) },
      "an event of the wrong type": { event: (event) => (event.type === "MODIFIED" ? { ...event, type: "ADDED" } : event) },
      "an object that is not the newest": { event: (event) => (event.object ? { ...event, object: older(event.object) } : event) },
      "an item too few": { answer: (answer) => ("items" in answer ? { ...answer, items: answer.items.slice(1) } : answer) },
      "a field that differs": {
        answer: (answer) => ("items" in answer ? { ...answer, items: answer.items.map((o) => ({ ...o, more: 1 })) } : answer),
      },
      "another text of an error": { answer: (answer) => ("error" in answer ? { error: { ...answer.error, message: "no" } } : answer) },
    });
    /** Made small is one whose trace stands alone. A list of the whole cluster at an old version also shows what earlier traces left. */
    const shrunk = ["an event that is lost"];
    for (const [what, tamper] of Object.entries(wrongs)) {
      it(what, async () => {
        const { trace, difference } = await noticed(tamper);
        if (!shrunk.includes(what)) return;
        const small = await shrink(trace, difference, (it) => played(it, tamper), { limitMs: 30_000 });
        // A page far down a list needs the objects before it, so how small it can be depends on what was found.
        assert.ok(small.steps.length * 4 <= trace.steps.length, `not small:\n${describeTrace(small)}`);
        assert.ok((await played(small, tamper)).length > 0, "the small trace fails too");
        assert.deepEqual(await played(small), [], "and without the defect it does not");
      });
    }
  });

  /** A trace in which a defect shows, and how. @param {import("./sides.mjs").Tamper} tamper */
  async function noticed(tamper) {
    // Which events a small trace brings is chance, so there are several.
    for (let seed = 7; seed < 12; seed++) {
      const trace = generate(seed, { phases: 2 });
      const sound = new Set((await played(trace)).map(({ step }) => step));
      const difference = (await played(trace, tamper)).find(({ step }) => !sound.has(step));
      if (difference) return { trace, difference };
    }
    assert.fail("nobody noticed");
  }

  /** @param {import("./generate.mjs").Trace} trace @param {import("./sides.mjs").Tamper} [tamper] */
  async function played(trace, tamper) {
    return (await play(cluster, trace, { tamper, patience: SHORT_PATIENCE })).differences;
  }

  /** @param {string} file */
  async function replay(file) {
    const trace = JSON.parse(readFileSync(file, "utf8"));
    const { differences } = await play(cluster, trace);
    assert.deepEqual(differences, [], `\n${describeTrace(trace)}\n${told(differences)}`);
  }

  /**
   * Makes a failing trace small, writes it down, and says what to do with it.
   * @param {import("./generate.mjs").Trace} trace @param {import("./play.mjs").Difference} first @param {number} count
   */
  async function smallest(trace, first, count) {
    let small = await shrink(trace, first, played);
    let { differences } = await play(cluster, small);
    // A trace that passes with longer waits was slow, not wrong. Then the whole trace is the evidence.
    if (differences.length === 0) [small, differences] = [trace, [first]];
    const folder = join(root, "artifacts");
    mkdirSync(folder, { recursive: true });
    const file = join("artifacts", `compare-seed-${trace.seed}.json`);
    writeFileSync(join(root, file), `${JSON.stringify(small, null, 2)}\n`);
    return [
      `seed ${trace.seed}: ${count} requests were answered differently. The first, made small:`,
      describeTrace(small),
      told(differences),
      `Again: COMPARE_TRACE=${file} npm run test:servers -- --test-name-pattern="a trace of". As a test: move it to tests/servers/compare/traces.`,
    ].join("\n");
  }
});

/** @param {any} object */
function older(object) {
  return { ...object, metadata: { ...object.metadata, resourceVersion: "1" } };
}

/** @param {import("./play.mjs").Difference[]} differences */
function told(differences) {
  return differences
    .map(
      ({ step, request, differences: list }) =>
        `  request ${step} ${JSON.stringify({ ...request, kind: request.kind.resource })}\n   ${list.join("\n   ")}`,
    )
    .join("\n");
}
