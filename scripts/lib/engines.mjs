// The engines beside Chromium: where their programs are, and how they start.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { SetupError } from "./fail.mjs";
import { isExecutable } from "./run.mjs";

/** The engine in which a run without a name for one takes place. */
export const CHROMIUM = "chromium";
/** The others, by the names that settings and options take. */
export const OTHERS = ["firefox", "webkit"];
/** Those in which the browser suites run. */
export const TESTED = ["firefox", "webkit"];
export const ENGINES = [CHROMIUM, ...OTHERS];

const INSTALL_WEBKIT = "install WebKitGTK's (Debian: webkit2gtk-driver)";
const PROGRAMS = {
  firefox: { setting: "FIREFOX", names: ["firefox", "firefox-esr"], remedy: "install Firefox (Debian: firefox-esr)" },
  geckodriver: { setting: "GECKODRIVER", names: ["geckodriver"], remedy: "`cargo install geckodriver --locked`" },
  webkitDriver: { setting: "WEBKIT_DRIVER", names: ["WebKitWebDriver"], remedy: INSTALL_WEBKIT },
  miniBrowser: { setting: "MINIBROWSER", names: ["MiniBrowser"], remedy: INSTALL_WEBKIT },
  xvfb: { setting: "XVFB", names: ["Xvfb"], remedy: "install it (Debian: xvfb)" },
};

/** What the tests of an engine start, by names of `PROGRAMS`. */
export const NEEDED = { firefox: ["firefox"], webkit: ["webkitDriver", "miniBrowser", "xvfb"] };

/** Where programs are that are not on the PATH: cargo's own, and those that distributions keep by architecture. */
function folders() {
  const libraries = ["/usr/lib", "/usr/libexec"].filter((folder) => existsSync(folder));
  const nested = libraries.flatMap((folder) => [folder, ...readdirSync(folder).map((name) => join(folder, name))]);
  const webkit = nested.flatMap((folder) => ["webkit2gtk-4.1", "webkitgtk-6.0"].map((name) => join(folder, name)));
  return [...(process.env.PATH ?? "").split(delimiter), join(homedir(), ".cargo/bin"), ...webkit];
}

/** A program by the setting that names it, or by one of its names; undefined where there is none. @param {keyof PROGRAMS} key */
export function findProgram(key) {
  const { setting, names } = PROGRAMS[key];
  const named = process.env[setting];
  const found = named ? [named] : names.flatMap((name) => folders().map((folder) => join(folder, name)));
  return found.find(isExecutable);
}

/** As `findProgram`, and where there is none it says how to get it. @param {keyof PROGRAMS} key */
export function program(key) {
  const path = findProgram(key);
  if (path !== undefined) return path;
  const { setting, names, remedy } = PROGRAMS[key];
  throw new SetupError(`${names[0]} was not found: ${remedy}, or name it with ${setting}=/path/to/${names[0]}.`);
}

/** Headless, and with a clock that is as fine as Chromium's. */
function firefox() {
  const prefs = { "privacy.reduceTimerPrecision": false, "app.update.auto": false, "datareporting.policy.dataSubmissionEnabled": false };
  return {
    title: "Firefox",
    program: program("geckodriver"),
    args: (port) => ["--host", "127.0.0.1", "--port", String(port), "--log", "error"],
    env: process.env,
    capabilities: { browserName: "firefox", "moz:firefoxOptions": { binary: program("firefox"), args: ["-headless"], prefs } },
    async close() {},
  };
}

/** A display that nobody sees, by its name. @param {string} screen its size */
async function startDisplay(screen) {
  const xvfb = program("xvfb");
  const display = spawn(xvfb, ["-displayfd", "3", "-screen", "0", `${screen}x24`, "-nolisten", "tcp"], {
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
    name: `:${String(number).trim()}`,
    async close() {
      process.off("exit", kill);
      const ended = once(display, "exit");
      display.kill();
      await ended;
    },
  };
}

/** WebKitGTK has no headless mode: it draws on a display that nobody sees. */
async function webkit({ screen = "1280x1024", args = [], env = {} }) {
  const [driver, binary] = [program("webkitDriver"), program("miniBrowser")];
  const display = await startDisplay(screen);
  return {
    title: "WebKitGTK",
    program: driver,
    args: (port) => ["--host=127.0.0.1", `--port=${port}`],
    env: { ...process.env, ...env, DISPLAY: display.name, WEBKIT_DISABLE_COMPOSITING_MODE: "1" },
    capabilities: { "webkitgtk:browserOptions": { binary, args: ["--automation", ...args] } },
    close: display.close,
  };
}

const STARTS = { firefox, webkit };

/**
 * What a driver of this engine is started with: `title`, `program`, `args(port)`, `env` and `capabilities`; and `close()` for what runs beside it.
 * @param {"firefox" | "webkit"} name
 * @param {{ screen?: string, args?: string[], env?: Record<string, string> }} [options] of WebKit: the size of its screen, arguments and settings
 */
export const startEngine = async (name, options = {}) => STARTS[name](options);
