// `npm start` that is stopped and started again, while the page stays open.
import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../../www/server/testing.mjs";
import { column, launch, live, open, says } from "./harness.mjs";

const SERVED = ["--pods", "8", "--rate", "0"];

/** @param {string} url @param {number} count */
async function changes(url, count) {
  const path = `${url}/api/v1/namespaces/default/configmaps`;
  const headers = { "content-type": "application/json" };
  for (let at = 0; at < count; at++) {
    const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `n-${at}`, namespace: "default" } });
    const { status } = await fetch(path, { method: "POST", headers, body });
    assert.equal(status, 201);
  }
}

test("the server is killed and started anew with other pods: the page lists them, and follows them", async (t) => {
  const first = await command(["--port", "0", ...SERVED, "--seed", "1"]);
  await changes(first.url, 200); // or the second would be as far as the first, and no server of its past
  t.after(() => first.kill());
  const browser = await launch();
  t.after(() => browser.close());
  const { page } = await open(browser, first.url);
  await live(page);
  await says(page, "objects", "8");
  const before = await column(page, "name");
  await first.kill();
  await says(page, "chip", /^(?!live)/);
  assert.deepEqual(await column(page, "name"), before, "rows stay");

  const second = await command(["--port", new URL(first.url).port, ...SERVED, "--seed", "2"]);
  t.after(() => second.kill());
  const { items } = await (await fetch(`${second.url}/api/v1/pods`)).json();
  const there = items.map((/** @type {any} */ { metadata }) => metadata.name).sort();
  assert.notDeepEqual(there, [...before].sort(), "other pods, or this proves nothing");
  await live(page);
  await page.waitForFunction((wanted) => {
    const shown = [...document.querySelectorAll('.body [role="row"] .name')].map((cell) => cell.textContent);
    return JSON.stringify(shown.sort()) === JSON.stringify(wanted);
  }, there);

  const { namespace } = items[0].metadata;
  const created = await fetch(`${second.url}/api/v1/namespaces/${namespace}/pods`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...items[0], metadata: { name: "fresh", namespace } }),
  });
  assert.ok(created.ok, await created.text());
  await says(page, "objects", "9");
});
