// What `console.log` shows in Chromium, which calls no getters: the previews that its DevTools print, by the DevTools protocol.
import assert from "node:assert/strict";
import { test } from "node:test";
import { chromiumOnly } from "../engines/launch.mjs";
import { served } from "./served.mjs";

const at = served("tests/browser/printing-page.js");

/** What the console prints of one argument before anybody opens it. */
function line({ type, value, description, preview }) {
  if (type === "string") return value;
  if (preview === undefined) return description;
  const members = preview.properties.map(
    ({ name, value, type, subtype }) => `${name}: ${type === "string" ? `"${value}"` : value || subtype || type}`,
  );
  return `${preview.description} {${[...members, ...(preview.overflow ? ["…"] : [])].join(", ")}}`;
}

test(
  "the console shows types, keys, versions and counts, and no number of ours",
  chromiumOnly("previews of the console come by the DevTools protocol"),
  async () => {
    const page = await (await at.browser.newContext()).newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error));
    const protocol = await page.context().newCDPSession(page);
    const printed = {};
    protocol.on("Runtime.consoleAPICalled", ({ args: [name, ...args] }) => (printed[name.value] = args.map(line).join(" ")));
    await protocol.send("Runtime.enable");
    await page.goto(at.url);
    await page.waitForFunction(() => globalThis.ready !== undefined);
    const { decoded } = await page.evaluate(() => globalThis.ready);
    assert.deepEqual(errors, []);
    assert.equal(decoded, 0, "nothing was decoded for the console");

    assert.equal(printed["list"], 'List {items: Proxy(Array), resourceVersion: "102", raw: accessor, Symbol(count): 2}');
    assert.equal(printed["items"], "Proxy(Array) {0: Undecoded, 1: Undecoded}");
    assert.match(printed["resource"], /^Resource \{#resource: "pods", #phase: "live", /);
    assert.match(printed["cache"], /^WatchCache \{#resources: Map\(1\), /);
    assert.equal(printed["deletion"], 'DeletedObject {#notification: InformerEvent, key: "a/y", finalStateUnknown: false}');
    assert.match(printed["event"], /^WatchEvent \{#type: "ADDED", #key: undefined, #version: undefined, /);
    assert.match(printed["event that was read"], /^WatchEvent \{#type: "ADDED", #key: "a\/x", #version: "101", /);
    assert.match(printed["notification"], /^InformerEvent \{#type: "add", /);
    assert.match(printed["watcher"], /^Watcher \{#watcher: \w+, ended: Promise/);
    assert.match(printed["informer"], /^Informer \{/);
    assert.match(printed["registration"], /^HandlerRegistration \{/);
    assert.equal(printed["texts"], "ADDED a/x @101 add a/x @101 delete a/y @103");
    // Counts of collections have names; what is left are texts, and numbers would be ids and places.
    for (const [name, text] of Object.entries(printed)) assert.doesNotMatch(text, /#\w+: -?\d/, `${name}: ${text}`);
  },
);
