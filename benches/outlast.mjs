// A list that takes longer than the server remembers: how long until the package is live, while much happens and while nothing does.
//
//   node benches/outlast.mjs [--pods 100000] [--rate 1000] [--history 8000] [--rounds 3]
//
// The embedded server and the client, Node with the built package, are processes of their own. Both ways take turns, and the ratio is of
// their medians. The run fails where a list was needed twice, or what is held then is not what the server has.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const PATIENCE_MS = 600_000;
/** How long it has to stay live behind that. */
const AFTER_MS = 10_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Until the resource is live, and a while after. */
async function client(server) {
  const { createWatchCache } = await import("../dist/node.js");
  const cache = createWatchCache({ server, transport: "fetch", memory: { maxBytes: 2 ** 31 } });
  const cpu = process.cpuUsage();
  const began = performance.now();
  const resource = cache.resource("pods");
  const informer = resource.informer();
  await informer.synced;
  const synced = performance.now();
  while (resource.status.phase !== "live") {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`not live, but ${resource.status.phase}`);
    await pause(5);
  }
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  await pause(AFTER_MS);
  const { phase } = resource.status;
  // Nothing happens any more: what is held is what the server has.
  await fetch(`${server}/demo/rate`, { method: "POST", body: JSON.stringify({ eventsPerSecond: 0 }) });
  const digest = await (await fetch(`${server}/demo/digest?resource=pods`)).json();
  for (let wait = 0; wait < 100 && Number(resource.resourceVersion) < Math.max(...digest.items.map(([, v]) => Number(v))); wait += 1)
    await pause(100);
  const held = new Map(informer.list().map((pod) => [`${pod.metadata.namespace}/${pod.metadata.name}`, pod.metadata.resourceVersion]));
  const differs = digest.items.filter(([key, version]) => held.get(key) !== version).length + Math.abs(held.size - digest.count);
  const bytes = cache.stats().bytes;
  process.send({
    ms,
    synced: synced - began,
    cpuMs: (user + system) / 1000,
    lists: cache.stats().resources[0].lists,
    phase,
    differs,
    pods: held.size,
    bytes,
  });
  cache.close();
  setImmediate(() => process.exit(0));
}

async function main() {
  const number = (text) => ({ type: "string", default: text });
  const { values } = parseArgs({
    options: { pods: number("100000"), rate: number("1000"), history: number("8000"), rounds: number("3") },
  });
  const { pods, rate, history, rounds } = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));
  const options = ["--port", "0", "--pods", String(pods), "--rate", "0", "--history", String(history)];
  const server = spawn(process.execPath, ["--max-old-space-size=12000", "www/server/main.mjs", ...options], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let url;
    for await (const line of createInterface({ input: server.stdout }))
      if (line.startsWith("http")) {
        url = line.replace(/\/$/, "");
        break;
      }
    const runs = { quiet: [], busy: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, eventsPerSecond] of [
        ["quiet", 0],
        ["busy", rate],
      ]) {
        await fetch(`${url}/demo/rate`, { method: "POST", body: JSON.stringify({ eventsPerSecond }) });
        const measured = fork(import.meta.filename, ["client", url]);
        const exited = once(measured, "exit");
        const [result] = await Promise.race([once(measured, "message"), exited]);
        await exited;
        if (typeof result !== "object") throw new Error("the client has failed");
        runs[name].push(result);
        console.log(name, JSON.stringify(result));
        if (result.lists > 1 || result.phase !== "live" || result.differs > 0) throw new Error(`${name}: ${JSON.stringify(result)}`);
      }
    }
    for (const [what, of] of [
      ["clock", "ms"],
      ["processor time of the client", "cpuMs"],
    ]) {
      const [quiet, busy] = [runs.quiet, runs.busy].map((list) => median(list.map((run) => run[of])));
      console.log(
        `${what}: ${Math.round(busy)} ms at ${rate} events a second, ${Math.round(quiet)} ms at none, ratio ${(busy / quiet).toFixed(2)}`,
      );
    }
  } finally {
    server.kill();
  }
}

await (process.argv[2] === "client" ? client(process.argv[3]) : main());
