#!/usr/bin/env node
// Runs any command with the project's tools on its PATH:
//   node scripts/env.mjs -- wasm-pack test --headless --chrome
// Without a command it prints the settings in a form a shell can read:  eval "$(node scripts/env.mjs)"
import { browserEnvironment } from "./lib/env.mjs";
import { main } from "./lib/fail.mjs";
import { run } from "./lib/run.mjs";

await main(async () => {
  const env = browserEnvironment();
  const [command, ...args] = process.argv.slice(2).filter((word, index) => !(index === 0 && word === "--"));
  if (command) {
    process.exitCode = (await run(command, args, { env })).code;
    return;
  }
  for (const [name, value] of Object.entries(env)) {
    if (process.env[name] !== value) console.log(`export ${name}='${value.replaceAll("'", `'\\''`)}'`);
  }
});
