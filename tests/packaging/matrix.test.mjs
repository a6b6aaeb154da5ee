// Every bundler and every runner, each with the packed package in an app of its own. MATRIX selects: names, or `all`.
import assert from "node:assert/strict";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { bundlers } from "./matrix/apps.mjs";
import { installApp, packForMatrix } from "./matrix/install.mjs";
import { serve, showsLiveRows } from "./matrix/page.mjs";
import { startDev, tool } from "./matrix/tools.mjs";

let tarball;
before(async () => {
  tarball = await packForMatrix();
});

const chosen = (process.env.MATRIX ?? "").split(",");

for (const [name, bundler] of Object.entries(bundlers)) {
  if (!chosen.includes(name)) continue;
  describe(bundler.title, () => {
    let folder;
    before(async () => {
      folder = await installApp(name, tarball);
    });

    test("dev", async (t) => {
      const api = await serve();
      t.after(() => api.close());
      const dev = await startDev(folder, bundler.dev);
      t.after(() => dev.close());
      await showsLiveRows(`${dev.url}?server=${api.url}`, api.url);
    });

    test("build", async (t) => {
      for (const command of bundler.build) assert.equal((await tool(folder, command)).code, 0);
      const server = await serve({ root: join(folder, bundler.out) });
      t.after(() => server.close());
      await showsLiveRows(server.url, server.url);
    });
  });
}
