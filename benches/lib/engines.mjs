// The engines beside Chromium: where their programs are, and how they start. Each gives what rows ask of a browser, `openPage(url)`, and
// its `name` and `close()`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { SetupError } from "../../scripts/lib/fail.mjs";
import { isExecutable } from "../../scripts/lib/run.mjs";
import { openSession } from "./webdriver.mjs";

/** Where programs are that are not on the PATH: cargo's own, and those that distributions keep by architecture. */
function folders() {
  const libraries = ["/usr/lib", "/usr/libexec"].filter((folder) => existsSync(folder));
  const nested = libraries.flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))]);
  const webkit = nested.flatMap((folder) => ["webkit2gtk-4.1", "webkitgtk-6.0"].map((name) => join(folder, name)));
  return [...(process.env.PATH ?? "").split(delimiter), join(homedir(), ".cargo/bin"), ...webkit];
}

/** A program by the setting that names it, or by one of its names. */
function program(setting, names, remedy) {
  const named = process.env[setting];
  const found = named ? [named] : names.flatMap((name) => folders().map((folder) => join(folder, name)));
  const path = found.find(isExecutable);
  if (path === undefined) throw new SetupError(`${names[0]} was not found: ${remedy}, or name it with ${setting}=/path/to/${names[0]}.`);
  return path;
}

/** Headless, and with a clock that is as fine as Chromium's. */
function firefox() {
  const binary = program("FIREFOX", ["firefox", "firefox-esr"], "install Firefox (Debian: firefox-esr)");
  const prefs = { "privacy.reduceTimerPrecision": false, "app.update.auto": false, "datareporting.policy.dataSubmissionEnabled": false };
  return {
    title: "Firefox",
    program: program("GECKODRIVER", ["geckodriver"], "`cargo install geckodriver --locked`"),
    args: (port) => ["--host", "127.0.0.1", "--port", String(port), "--log", "error"],
    env: process.env,
    capabilities: { browserName: "firefox", "moz:firefoxOptions": { binary, args: ["-headless"], prefs } },
    async close() {},
  };
}

/** WebKitGTK has no headless mode: it draws on a display that nobody sees. */
async function webkit() {
  const remedy = "install WebKitGTK's (Debian: webkit2gtk-driver)";
  const driver = program("WEBKIT_DRIVER", ["WebKitWebDriver"], remedy);
  const binary = program("MINIBROWSER", ["MiniBrowser"], remedy);
  const xvfb = program("XVFB", ["Xvfb"], "install it (Debian: xvfb)");
  const display = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const kill = () => void display.kill();
  process.once("exit", kill);
  const [number] = await Promise.race([
    once(display.stdio[3], "data"),
    once(display, "exit").then(([code]) => {
      throw new SetupError(`${xvfb} ended with ${code} and gave no display.`);
    }),
  ]);
  return {
    title: "WebKitGTK",
    program: driver,
    args: (port) => ["--host=127.0.0.1", `--port=${port}`],
    env: { ...process.env, DISPLAY: `:${String(number).trim()}`, WEBKIT_DISABLE_COMPOSITING_MODE: "1" },
    capabilities: { "webkitgtk:browserOptions": { binary, args: ["--automation"] } },
    async close() {
      process.off("exit", kill);
      const ended = once(display, "exit");
      display.kill();
      await ended;
    },
  };
}

const OTHERS = { firefox, webkit };

/** The engine in which a run without a name for one takes place. */
export const CHROMIUM = "chromium";
export const ENGINES = [CHROMIUM, ...Object.keys(OTHERS)];

/** Gets an engine other than Chromium ready; its browsers start with their pages. */
export async function launchOther(name) {
  const engine = await OTHERS[name]();
  const openPage = (url) => openSession(engine, url);
  try {
    const first = await openPage();
    await first.close();
    return { name: first.name, engine: name, openPage, close: engine.close };
  } catch (error) {
    await engine.close();
    throw error;
  }
}
