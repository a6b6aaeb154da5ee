// The environment in which every tool of the project is found: our tool cache, node_modules, the wasm toolchain, the browser.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findBrowser, findDriver, webdriverCapabilities } from "./browser.mjs";
import { root, toolCache } from "./project.mjs";
import { cargoPath, rustForWasm } from "./rust.mjs";

const withTools = (path, env) => [join(root, "node_modules", ".bin"), join(toolCache(env), "bin"), path].filter(Boolean).join(delimiter);

/** For native work (cargo test, clippy, doc): the user's own Rust, and our tools. */
export function nativeEnvironment(env = process.env) {
  return { ...env, PATH: withTools(cargoPath(env), env) };
}

/** For wasm32 work (wasm-pack build, cargo --target wasm32-unknown-unknown). */
export function wasmEnvironment(env = process.env) {
  const rust = rustForWasm(env);
  return { ...env, ...rust, PATH: withTools(rust.PATH, env) };
}

/** For tests in the browser: the above, where the browser is, and where wasm-bindgen's test runner finds driver and capabilities. */
export function browserEnvironment(env = process.env) {
  const tools = wasmEnvironment(env);
  const driver = findDriver(env);
  const browser = findBrowser(env);
  if (!driver || !browser) return tools;
  // The capabilities name this machine's browser, so the file lives with the tools and not in the checkout.
  const file = join(toolCache(env), "webdriver.json");
  const text = `${JSON.stringify(webdriverCapabilities(env), null, 2)}\n`;
  if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
    mkdirSync(toolCache(env), { recursive: true });
    writeFileSync(file, text);
  }
  return { ...tools, WATCHCACHE_CHROME: browser, CHROMEDRIVER: driver, WASM_BINDGEN_TEST_WEBDRIVER_JSON: file };
}
