// Every bundler, every runner of tests and every host without one, each with the packed package in an app of its own. A run takes one of
// each, and the next one with each commit. MATRIX selects others: names with commas between them, or `all`.
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { bundlers, hosts, runners, TEN_LINES } from "./matrix/apps.mjs";
import { beyond } from "./matrix/beyond.mjs";
import { turnNow } from "../../scripts/lib/turn.mjs";
import { choose } from "./matrix/choice.mjs";
import { installApp, packForMatrix } from "./matrix/install.mjs";
import { findsTheWorker, serve, showsLiveRows } from "./matrix/page.mjs";
import { startServing, tool } from "./matrix/tools.mjs";

let tarball;
before(async () => {
  tarball = await packForMatrix();
});

/** A server of the tool's own gives the page away; the API has another origin. */
async function serves(t, folder, command, { worker = false } = {}) {
  const api = await serve();
  t.after(() => api.close());
  const own = await startServing(folder, command);
  t.after(() => own.close());
  await showsLiveRows(`${own.url}?server=${api.url}`, api.url);
  if (worker) await findsTheWorker(`${own.url}?server=${api.url}`);
}

/** README's first example as its reader has it, but for the server's address. */
function tenLines(folder, url) {
  const readme = readFileSync(join(folder, "node_modules/watchcache/README.md"), "utf8");
  const [, example] = /^```js\n(.*?)^```$/ms.exec(readme);
  assert.match(example, /createWatchCache\(\{ server: "[^"]*" \}\)/, "without any option that a host would need");
  return example.replace(/http:\/\/127\.0\.0\.1:8001/, url);
}

const chosen = choose(
  [bundlers, runners, hosts].map((apps) => Object.keys(apps)),
  process.env.MATRIX,
  turnNow(),
);
console.log(`MATRIX=${chosen.join(",")}`);

for (const [name, bundler] of Object.entries(bundlers)) {
  if (!chosen.includes(name)) continue;
  describe(bundler.title, () => {
    let folder;
    before(async () => {
      folder = await installApp(name, tarball);
    });

    test("build", async (t) => {
      for (const command of bundler.build) assert.equal((await tool(folder, command)).code, 0, command.join(" "));
      if (bundler.start) return serves(t, folder, bundler.start, bundler);
      if (bundler.page) cpSync(join(folder, "index.html"), join(folder, bundler.out, "index.html"));
      const server = await serve({ root: join(folder, bundler.out) });
      t.after(() => server.close());
      const options = { bypassCSP: bundler.bypassCSP ?? false };
      await showsLiveRows(server.url, server.url, options);
      if (bundler.worker) await findsTheWorker(server.url, options);
    });

    if (bundler.dev) test("dev", (t) => serves(t, folder, bundler.dev, bundler));

    for (const [title, attempt] of Object.entries(beyond[name] ?? {})) test(title, (t) => attempt(t, folder));
  });
}

for (const [name, runner] of Object.entries({ ...runners, ...hosts })) {
  if (!chosen.includes(name)) continue;
  describe(runner.title, () => {
    let folder;
    before(async () => {
      folder = await installApp(name, tarball);
    });

    for (const file of runner.files) {
      test(file, async (t) => {
        const api = await serve(file === TEN_LINES ? { rate: 100 } : {});
        t.after(() => api.close());
        if (file === TEN_LINES) writeFileSync(join(folder, file), tenLines(folder, api.url));
        const { code, output } = await tool(folder, runner.run(file, api.url), { env: { API_SERVER: api.url } });
        assert.equal(code, 0, output);
      });
    }
  });
}
