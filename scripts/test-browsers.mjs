#!/usr/bin/env node
// `npm run test:browsers`: the browser suites of the page and of the facade in Firefox and in WebKitGTK. It installs what is missing where
// it can. A name runs one of them: npm run test:browsers -- firefox
import { build } from "./build.mjs";
import { buildPage } from "./build-page.mjs";
import { everyStep } from "./lib/browser-suites.mjs";
import { TESTED } from "./lib/engines.mjs";
import { CommandFailed, SetupError, main } from "./lib/fail.mjs";
import { summary } from "./lib/summary.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  const asked = process.argv.slice(2);
  for (const name of asked) {
    if (!TESTED.includes(name)) throw new SetupError(`there is no engine ${name}: choose from ${TESTED.join(", ")}.`);
  }
  await setup({ browser: false });
  await build();
  await buildPage();
  const steps = everyStep(asked.length > 0 ? asked : TESTED);
  const failed = await summary(steps);
  if (failed > 0) throw new CommandFailed(`${failed} of ${steps.length} shares failed.`);
});
