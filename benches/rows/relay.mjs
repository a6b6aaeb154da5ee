// Many clients of `watchcache serve` before a real kube-apiserver, and as many of that server itself. Each has a watch over a WebSocket. The server's own watches go
// over TLS, which is a part of what it does. The relay's do not: whatever stands before it ends TLS.
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../../tests/servers/harness/cluster.mjs";
import { RelayProcess } from "../../tests/relay/command.mjs";
import { callsOf } from "../lib/cluster-calls.mjs";
import { median } from "../lib/report.mjs";

const PLANS = {
  full: { clients: 2_000, rounds: 5, events: 50, everyMs: 200 },
  quick: { clients: 20, rounds: 1, events: 10, everyMs: 50 },
};
const NAMES = ["the relay", "kube-apiserver"];
/** What a process has used of a processor counts in hundredths of a second. */
const TICK_MS = 10;
const WATCH = "/api/v1/configmaps?watch=1&allowWatchBookmarks=true";
const FILLER = "filler ".repeat(60);

/** The processor time of a process so far, all its threads, in ms. @param {number} pid */
function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** @param {number} pid @returns bytes that it has in memory */
const residentBytes = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) * 1024;

/** Clients in a process of their own. */
class Clients {
  #process = fork(new URL("../lib/watch-clients.mjs", import.meta.url));

  /** @param {object} message @returns {Promise<any>} */
  ask(message) {
    return new Promise((resolve, reject) => {
      this.#process.once("message", (/** @type {any} */ said) =>
        said.error === undefined ? resolve(said) : reject(new Error(said.error)),
      );
      this.#process.once("exit", () => reject(new Error("the clients have ended")));
      this.#process.send(message);
    });
  }

  end() {
    this.#process.removeAllListeners();
    this.#process.send({});
  }
}

/** Watches of config maps that the server has open. */
async function watchesOf(call) {
  const metrics = await call("GET", "/metrics");
  const line = /^apiserver_longrunning_requests\{(?=[^}]*resource="configmaps")(?=[^}]*verb="WATCH")[^}]*\} (\d+)/gm;
  return [...metrics.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function measure({ mode, say }) {
  const { clients, rounds, events, everyMs } = PLANS[mode];
  const cluster = await Cluster.start();
  const { call, end } = callsOf(cluster);
  const path = "/api/v1/namespaces/default/configmaps";
  const valueOf = () => ({ data: { at: String(performance.timeOrigin + performance.now()), filler: FILLER } });
  let relay;
  const all = [];
  try {
    await call("POST", path, { metadata: { name: "watched" }, ...valueOf() });
    writeFileSync(join(cluster.dir, "relay.token"), cluster.tokens.admin);
    relay = await RelayProcess.start(
      ["--server", cluster.secureUrl, "--token-file", join(cluster.dir, "relay.token"), "--max-watches", String(2 * clients)],
      { NODE_EXTRA_CA_CERTS: join(cluster.dir, "certs", "apiserver.crt") },
    );
    const pids = { [NAMES[0]]: relay.child.pid, [NAMES[1]]: cluster.apiserver.pid };
    const urls = { [NAMES[0]]: relay.url, [NAMES[1]]: cluster.secureUrl };
    let watched = await watchesOf(call);
    // What it holds is no part of what a client takes.
    const headers = { authorization: `Bearer ${cluster.tokens.admin}` };
    await (await fetch(`${relay.url}/api/v1/configmaps`, { headers })).arrayBuffer();
    const results = {};
    for (const name of NAMES) {
      say(`${clients} clients of ${name}`);
      const before = residentBytes(pids[name]);
      const group = new Clients();
      all.push(group);
      const ca = name === NAMES[1] ? cluster.certificate.toString() : undefined;
      await group.ask({ clients, open: { url: urls[name].replace("http", "ws") + WATCH, ca, token: cluster.tokens.admin } });
      await sleep(2_000);
      const watches = await watchesOf(call);
      results[name] = { bytes: residentBytes(pids[name]) - before, watches: watches - watched, cpuMs: [], delayMs: [] };
      watched = watches;
      await group.ask({ take: true });
    }
    for (let round = 0; round < rounds; round++) {
      // Both hear of each event at once, and their processes are told apart.
      say(`many clients, round ${round + 1} of ${rounds}`);
      const began = NAMES.map((name) => cpuMs(pids[name]));
      for (let event = 0; event < events; event++) {
        await call("PATCH", `${path}/watched`, valueOf());
        await sleep(everyMs);
      }
      await sleep(1_000);
      for (const [i, name] of NAMES.entries()) {
        const { events: heard, delays } = await all[i].ask({ take: true });
        if (heard !== events * clients) throw new Error(`${name}: ${heard} of ${events * clients} events came`);
        results[name].cpuMs.push(cpuMs(pids[name]) - began[i]);
        results[name].delayMs.push(median(delays));
      }
    }
    return { clients, events, harnesses: results };
  } finally {
    for (const group of all) group.end();
    await relay?.kill();
    end();
    await cluster.stop();
  }
}

export default {
  name: "relay",
  measure,
  scenarios: () => ({}),
  lines: ({ clients, events, harnesses }) => {
    const [ours, theirs] = NAMES.map((name) => harnesses[name]);
    const line = (what, unit, of, goal) => {
      const [a, b] = [of(ours), of(theirs)];
      return { what, unit, ours: a, peer: NAMES[1], theirs: b, ratio: a / b, goal };
    };
    return [
      line(`watches that kube-apiserver has for ${clients.toLocaleString("en")} clients`, "watches", ({ watches }) => watches),
      line("processor time of an event to one of them", "µs", ({ cpuMs }) => (median(cpuMs) * 1_000) / (events * clients)),
      line("memory of one of them", "B", ({ bytes }) => bytes / clients),
      line("from a write to a client, in the median", "µs", ({ delayMs }) => median(delayMs) * 1_000),
    ];
  },
};
