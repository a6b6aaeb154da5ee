/**
 * How scenarios are declared. A server of another kind says of each whether it runs there, so a new one has to be placed first.
 * @module
 */
import * as runner from "node:test";

/**
 * Where each scenario is placed, by `suite: title`.
 * @typedef {object} Places
 * @property {readonly string[]} runs has a meaning there
 * @property {Readonly<Record<string, string>>} none has none, and why
 */

/** @type {{ places: Places, seen: string[] } | undefined} */
let current;
/** @type {string[]} */
const suites = [];

/** @param {string} title @param {[() => void] | [object, () => void]} rest */
export function describe(title, ...rest) {
  const body = /** @type {() => void} */ (rest.at(-1));
  runner.describe(title, rest.length > 1 ? /** @type {any} */ (rest[0]) : {}, () => {
    suites.push(title);
    try {
      body();
    } finally {
      suites.pop();
    }
  });
}

/** As that of `node:test`, but a scenario without a meaning is not declared. @type {typeof runner.it} */
export const it = /** @type {any} */ (
  (/** @type {string} */ title, /** @type {any[]} */ ...rest) => {
    const name = `${suites.at(-1)}: ${title}`;
    current?.seen.push(name);
    if (current === undefined || current.places.runs.includes(name)) runner.it(title, ...rest);
  }
);

/**
 * Declares scenarios as they are placed, and a test that each is placed once.
 * @param {Places} places @param {() => void} declare
 */
export function declarePlaced(places, declare) {
  const seen = /** @type {string[]} */ ([]);
  current = { places, seen };
  try {
    declare();
  } finally {
    current = undefined;
  }
  runner.it("each scenario is placed once, and each place is of a scenario", () => {
    const placed = [...places.runs, ...Object.keys(places.none)];
    const twice = placed.filter((name, at) => placed.indexOf(name) !== at);
    const missing = seen.filter((name) => !placed.includes(name));
    const gone = placed.filter((name) => !seen.includes(name));
    if (twice.length + missing.length + gone.length + Object.values(places.none).filter((why) => why.length < 10).length > 0)
      throw new Error(`placed twice: ${twice.join("; ")}\nnot placed: ${missing.join("; ")}\nno scenario: ${gone.join("; ")}`);
  });
}
