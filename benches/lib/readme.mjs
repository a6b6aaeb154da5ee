// Puts the latest results where benches/README.md shows them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed } from "../../scripts/lib/fail.mjs";

/** Replaces what stands between the marks `<!-- NAME -->` and `<!-- /NAME -->` of benches/README.md. */
export function intoReadme(root, name, text) {
  const file = join(root, "benches/README.md");
  const [before, rest] = readFileSync(file, "utf8").split(`<!-- ${name} -->\n`);
  const after = rest?.split(`<!-- /${name} -->`)[1];
  if (after === undefined) throw new CommandFailed(`benches/README.md has lost the marks between which the results "${name}" stand.`);
  writeFileSync(file, `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`);
}
