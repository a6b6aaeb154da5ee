// Puts the latest results where the pages show them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed } from "../../scripts/lib/fail.mjs";

/** Replaces what stands between the marks `<!-- NAME -->` and `<!-- /NAME -->` of a page, benches/README.md or another. */
export function intoReadme(root, name, text, page = "benches/README.md") {
  const file = join(root, page);
  const [before, rest] = readFileSync(file, "utf8").split(`<!-- ${name} -->\n`);
  const after = rest?.split(`<!-- /${name} -->`)[1];
  if (after === undefined) throw new CommandFailed(`${page} has lost the marks between which the results "${name}" stand.`);
  writeFileSync(file, `${before}<!-- ${name} -->\n\n${text}\n\n<!-- /${name} -->${after}`);
}
