// Without a network: the real npm and the real cargo against an address where nobody listens.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root, toolCache } from "../../scripts/lib/project.mjs";
import { machine, node, sentenceOf } from "./harness.mjs";

// Port 9 (discard) refuses at once on any machine that does not run that service.
const NOBODY = "http://127.0.0.1:9";

test("npm ci", (t) => {
  const { env, home } = machine(t, { links: ["node", "npm"] });
  const checkout = join(home, "checkout");
  for (const name of ["package.json", "package-lock.json", ".npmrc", "scripts"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  const npm = { npm_config_registry: NOBODY, npm_config_cache: join(home, "cache"), npm_config_fetch_retries: "0" };
  const done = node(["scripts/setup-node.mjs"], { ...env, ...npm }, checkout);
  assert.match(sentenceOf(done), /^npm could not reach its registry: connect to the network/);
  assert.match(done.stdout, /installing the npm packages/, "it says what it installs");
});

test("npm ci where node_modules is a link to another checkout's", (t) => {
  const { env, home } = machine(t, { links: ["node", "npm"] });
  const [checkout, other] = [join(home, "checkout"), join(home, "other")];
  for (const name of ["package.json", "package-lock.json", ".npmrc", "scripts"]) {
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  }
  mkdirSync(join(other, "node_modules/theirs"), { recursive: true });
  symlinkSync(join(other, "node_modules"), join(checkout, "node_modules"));
  const npm = { npm_config_registry: NOBODY, npm_config_cache: join(home, "cache"), npm_config_fetch_retries: "0" };
  node(["scripts/setup-node.mjs"], { ...env, ...npm }, checkout);
  assert.ok(existsSync(join(other, "node_modules/theirs")), "the other checkout keeps its packages");
});

test("cargo install", (t) => {
  const { env, home } = machine(t, { links: ["node", "cargo", "rustc"] });
  const tools = join(home, "tools");
  mkdirSync(tools);
  // Where rustup has no wasm32 target, the one built from Debian's packages stands in, so that the tools are what is missing.
  if (existsSync(join(toolCache(), "rust-debian"))) symlinkSync(join(toolCache(), "rust-debian"), join(tools, "rust-debian"));
  const cargo = {
    CARGO_HOME: join(home, "cargo"),
    CARGO_HTTP_PROXY: NOBODY,
    CARGO_NET_RETRY: "0",
    RUSTUP_HOME: process.env.RUSTUP_HOME || join(homedir(), ".rustup"),
  };
  const done = node(["scripts/setup-rust.mjs"], { ...env, ...cargo });
  assert.match(sentenceOf(done), /^cargo could not reach its registry for wasm-bindgen-cli: connect to the network/);
  assert.match(done.stdout, /installing wasm-bindgen-cli .* into /, "it says what it installs, and where to");
});
