// What ties the WebAssembly to its glue. They call each other by names of one letter, so the module of another build would often link, and
// would then misread memory. Such a module comes from an old file in a cache, or from half of a deployment. So both bear the mark of their
// build, and the facade compares the two.
import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";

const SECTION = "watchcache";

/** Marks both, as the last step of a build: tools that rewrite modules may drop what they do not know. */
export function markBuild({ glue, wasm }) {
  const hash = createHash("sha256");
  for (const file of [wasm, glue]) hash.update(readFileSync(file));
  const mark = hash.digest("hex").slice(0, 16);
  // A custom section: its id, its length, and by their lengths its name and its content. All lengths are below 128: a byte each.
  const name = Buffer.from(SECTION);
  const body = Buffer.concat([Buffer.from([name.length]), name, Buffer.from(mark)]);
  writeFileSync(wasm, Buffer.concat([readFileSync(wasm), Buffer.from([0, body.length]), body]));
  appendFileSync(glue, `\nexport const build = "${mark}";\n`);
}
