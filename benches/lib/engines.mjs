// The engines beside Chromium, as the rows ask of a browser: `openPage(url)`, and a `name` and `close()`.
import { startEngine } from "../../scripts/lib/engines.mjs";
import { openSession } from "./session.mjs";

export { CHROMIUM, ENGINES } from "../../scripts/lib/engines.mjs";

/** Gets an engine other than Chromium ready; its browsers start with their pages. */
export async function launchOther(name) {
  const engine = await startEngine(name);
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
