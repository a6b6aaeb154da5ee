// WebKitGTK by WebDriver, with those of Playwright's calls that the tests use. Whatever is missing here is no function, and a test that
// calls it fails. Each context is a browser of its own, on a display that nobody sees.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEngine } from "../../../scripts/lib/engines.mjs";
import { startSession } from "../../../scripts/lib/webdriver.mjs";
import { Page } from "./page.mjs";

const VIEWPORT = { width: 1_280, height: 720 };

/** What GTK tells WebKit about the reader, and WebKit its pages. */
function readerOf({ colorScheme, reducedMotion }) {
  const folder = mkdtempSync(join(tmpdir(), "watchcache-webkit-"));
  mkdirSync(join(folder, "gtk-3.0"));
  const animations = reducedMotion === "reduce" ? 0 : 1;
  writeFileSync(join(folder, "gtk-3.0/settings.ini"), `[Settings]\ngtk-enable-animations=${animations}\n`);
  // A reader whose language is "C" is nobody's, and Intl refuses it.
  const env = {
    LANG: "en_US.UTF-8",
    LC_ALL: "en_US.UTF-8",
    LANGUAGE: "en_US",
    XDG_CONFIG_HOME: folder,
    GTK_THEME: colorScheme === "dark" ? "Adwaita:dark" : "Adwaita",
  };
  return { env, forget: () => rmSync(folder, { recursive: true, force: true }) };
}

async function newContext(options = {}) {
  const reader = readerOf(options);
  const { width, height } = options.viewport ?? VIEWPORT;
  const engine = await startEngine("webkit", { screen: `${width + 200}x${height + 300}`, env: reader.env });
  const session = await startSession(engine).catch(async (error) => {
    await engine.close();
    throw error;
  });
  /** @type {Page | undefined} */
  let page;
  return {
    async newPage() {
      if (page !== undefined && !page.isClosed()) throw new Error("a context has one page at a time here");
      page = new Page(session);
      await page.start({ width, height });
      return page;
    },
    async close() {
      await session.close().catch(() => {});
      await engine.close();
      reader.forget();
    },
  };
}

/** As `launch` of Playwright. */
export async function launchWebKit() {
  const open = new Set();
  const keep = async (options) => {
    const context = await newContext(options);
    open.add(context);
    const close = context.close;
    context.close = () => (open.delete(context) ? close() : Promise.resolve());
    return context;
  };
  return {
    newContext: keep,
    async newPage(options) {
      const context = await keep(options);
      const page = await context.newPage();
      page.close = context.close;
      return page;
    },
    close: () => Promise.all([...open].map((context) => context.close())),
  };
}
