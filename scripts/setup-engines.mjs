#!/usr/bin/env node
// Firefox and WebKitGTK, for the tests of pages in other engines: node scripts/setup-engines.mjs firefox webkit
import { pathToFileURL } from "node:url";
import { NEEDED, OTHERS, findProgram, program } from "./lib/engines.mjs";
import { SetupError, main } from "./lib/fail.mjs";
import { aptInstall, canApt } from "./lib/machine.mjs";
import { versions } from "./lib/project.mjs";

/** Installs what is missing where apt-get can, and else says what to install. @param {string} name one of `OTHERS` */
export async function setupEngine(name) {
  if (!OTHERS.includes(name)) throw new SetupError(`there is no engine ${name}: choose from ${OTHERS.join(", ")}.`);
  const isComplete = () => NEEDED[name].every((key) => findProgram(key) !== undefined);
  if (!isComplete() && canApt()) await aptInstall(versions.debian[name], `pages are tested in ${name}, too`);
  NEEDED[name].forEach(program);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const asked = process.argv.slice(2);
    for (const name of asked.length > 0 ? asked : OTHERS) await setupEngine(name);
  });
}
