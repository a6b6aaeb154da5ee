#!/usr/bin/env node
// Stands where Playwright looks for Firefox. Playwright sends commands of WebDriver BiDi that a Firefox of an older line does not know, before
// any page asks for them. It takes the refusal for a failure. So what only sets a default is answered here; all else passes as it is.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import WebSocket, { WebSocketServer } from "ws";

/** What this Firefox tells its pages about their reader. @type {Record<string, string>} */
const MEDIA = JSON.parse(process.env.WATCHCACHE_MEDIA ?? "{}");

/** Commands that may be missing, where what they ask for is what this Firefox does anyway. @type {Record<string, (params: any) => boolean>} */
const DEFAULTS = {
  "emulation.setMediaFeaturesOverride": ({ features }) =>
    Object.entries(MEDIA).every(([name, value]) => [value, null, undefined].includes(features[name])),
};

/** Joins a client with the browser at this address. @param {WebSocket} client @param {string} address */
function join(client, address) {
  const browser = new WebSocket(address, { perMessageDeflate: false, maxPayload: 0 });
  /** What the client said before the browser could hear it. @type {string[]} */
  const early = [];
  /** The ids of commands whose refusal does no harm. @type {Set<number>} */
  const optional = new Set();
  client.on("message", (data) => {
    const text = String(data);
    const { id, method, params } = JSON.parse(text);
    if (DEFAULTS[method]?.(params)) optional.add(id);
    if (browser.readyState === WebSocket.OPEN) browser.send(text);
    else early.push(text);
  });
  browser.on("open", () => early.splice(0).forEach((text) => browser.send(text)));
  browser.on("message", (data) => {
    const text = String(data);
    const { id, error } = optional.size > 0 ? JSON.parse(text) : {};
    const unknown = optional.delete(id) && error === "unknown command";
    client.send(unknown ? JSON.stringify({ type: "success", id, result: {} }) : text);
  });
  for (const [one, other] of [
    [client, browser],
    [browser, client],
  ]) {
    one.on("close", () => other.close());
    one.on("error", () => other.close());
  }
}

const firefox = spawn(process.env.WATCHCACHE_FIREFOX, process.argv.slice(2), { stdio: ["ignore", "inherit", "pipe"] });
const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false, maxPayload: 0 });
createInterface({ input: firefox.stderr }).on("line", (line) => {
  const address = /^WebDriver BiDi listening on (ws:.*)$/.exec(line)?.[1];
  if (address !== undefined) server.on("connection", (client) => join(client, `${address}/session`));
  console.error(address === undefined ? line : `WebDriver BiDi listening on ws://127.0.0.1:${server.address().port}`);
});
firefox.on("error", (error) => {
  console.error(`${process.env.WATCHCACHE_FIREFOX} did not start: ${error.message}`);
  process.exit(1);
});
firefox.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => firefox.kill(signal));
