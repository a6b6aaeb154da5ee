// Runs the project's scripts as on another machine: a PATH with chosen programs only, a home and a tool cache that are empty.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../scripts/lib/project.mjs";
import { which } from "../../scripts/lib/run.mjs";

/**
 * A machine that has the named programs of this one and nothing else. It is deleted when the test ends.
 * @param programs.links names taken from this machine's PATH
 * @param programs.scripts name -> shell lines, for a program that must be old, broken or lonely
 */
export function machine(t, { links = [], scripts = {} } = {}) {
  const home = mkdtempSync(join(tmpdir(), "watchcache-setup-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const bin = join(home, "bin");
  mkdirSync(bin);
  for (const name of links) symlinkSync(name === "node" ? process.execPath : which(name), join(bin, name));
  for (const [name, lines] of Object.entries(scripts)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { PATH: bin, HOME: home, WATCHCACHE_TOOLS: join(home, "tools"), WATCHCACHE_BROWSER_FOLDERS: "" };
  return { home, bin, env };
}

/** Runs `node …args` to its end. */
export function node(args, env, cwd = root) {
  const done = spawnSync(process.execPath, args, { cwd, env, encoding: "utf8", timeout: 120_000 });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** The one sentence a failed script ends with; throws when it said anything else about the failure. */
export function sentenceOf({ code, stderr }) {
  if (code !== 1) throw new Error(`exit code ${code} instead of 1:\n${stderr}`);
  if (/^\s+at /m.test(stderr)) throw new Error(`a stack was printed:\n${stderr}`);
  const sentences = stderr.split("\n").filter((line) => line.startsWith("watchcache: "));
  if (sentences.length !== 1) throw new Error(`${sentences.length} sentences instead of one:\n${stderr}`);
  return sentences[0].slice("watchcache: ".length);
}
