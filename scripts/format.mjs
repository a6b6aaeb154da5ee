#!/usr/bin/env node
// `npm run format` rewrites what is not formatted; `--check` only says so.
import { pathToFileURL } from "node:url";
import { nativeEnvironment } from "./lib/env.mjs";
import { CommandFailed, main } from "./lib/fail.mjs";
import { filesUnder } from "./lib/hash.mjs";
import { root } from "./lib/project.mjs";
import { run } from "./lib/run.mjs";

const FORMATTED = /\.(ts|tsx|mts|mjs|js|jsx|css|html|json)$/;

/** Rust by rustfmt, all else by prettier. Resolves to { code }, 0 when everything is formatted. */
export async function format({ check }) {
  const options = { cwd: root, env: nativeEnvironment() };
  const files = filesUnder(
    ["src/js", "www", "scripts", "tests", "benches"],
    (path) => FORMATTED.test(path) && !path.includes("/tests/data/"),
  );
  const rust = await run("cargo", ["fmt", ...(check ? ["--check"] : [])], options);
  // A package of its own, as cargo-fuzz wants it.
  const fuzz = await run("cargo", ["fmt", "--manifest-path", "fuzz/Cargo.toml", ...(check ? ["--check"] : [])], options);
  const rest = await run("prettier", [check ? "--check" : "--write", "--log-level", check ? "log" : "warn", ...files], options);
  return { code: rust.code || fuzz.code || rest.code };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const { code } = await format({ check: process.argv.includes("--check") });
    if (code !== 0) throw new CommandFailed("not everything is formatted: `npm run format` mends it.");
  });
}
