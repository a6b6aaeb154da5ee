#!/usr/bin/env node
// `npm start -- --kubernetes`: a real etcd and kube-apiserver under the demo, with the synthetic cluster of the embedded server in them.
// What the cluster's traffic changes is changed there, too. It stands here and not among the scripts, because it needs what starts the servers of
// the tests, and scripts import no tests. `scripts/start.mjs` runs it as a program.
import { startServer } from "../../../www/server/index.mjs";
import { populate } from "../../../www/server/cluster/cluster.mjs";
import { Mirror } from "../../../www/server/mirror.mjs";
import { DEFAULTS, KUBERNETES_DEFAULTS, parseCommandLine, USAGE } from "../../../www/server/options.mjs";
import { Store } from "../../../www/server/store.mjs";
import { Traffic } from "../../../www/server/traffic.mjs";
import { SetupError, main, say } from "../../../scripts/lib/fail.mjs";
import { Cluster } from "../harness/cluster.mjs";
import { requireGo } from "../../../scripts/lib/go.mjs";

/** What is asked of the embedded server, or of another one. */
const FOREIGN = ["proxy", "cache", "tokens", "history", "historyBytes", "bookmarkMs"];

/** @param {string[]} args */
function read(args) {
  try {
    return parseCommandLine(args);
  } catch (error) {
    throw new SetupError(`${/** @type {Error} */ (error).message.replace(/\.$/, "")}. --help says what there is.`);
  }
}

await main(async () => {
  const given = read(process.argv.slice(2));
  if (given.help) return void process.stdout.write(USAGE);
  const foreign = FOREIGN.filter((name) => /** @type {Record<string, unknown>} */ (given)[name] !== undefined);
  if (foreign.length > 0)
    throw new SetupError("--kubernetes starts a server of its own: leave --proxy, --cache, --token, --history and --bookmark-ms out.");
  requireGo(); // before anything that takes long
  const options = { ...DEFAULTS, ...KUBERNETES_DEFAULTS, ...given };
  // As many services as the synthetic cluster has do not fit into the smallest range.
  const cluster = await Cluster.start({ flags: ["--service-cluster-ip-range=10.96.0.0/16"] });
  const { url } = cluster;
  const token = cluster.tokens.admin;
  const store = new Store(options);
  const synthetic = populate(store, options);
  const mirror = new Mirror(store, { url, token, onError: (problem) => say(`kube-apiserver refused: ${problem}`) });
  say(`filling kube-apiserver with ${options.pods} pods`);
  const started = Date.now();
  await mirror.fill();
  say(`filled it in ${Math.round((Date.now() - started) / 1_000)} s: ${mirror.counts.created} objects`);
  mirror.follow();
  const traffic = new Traffic(store, synthetic, options);
  const server = await startServer({ ...options, proxy: url, proxyToken: token });
  traffic.start();
  const { pods, nodes, namespaces } = Object.fromEntries(
    [...store.tables.values()].map((table) => [table.definition.resource, table.size]),
  );
  process.stdout.write(`${pods} pods on ${nodes} nodes in ${namespaces} namespaces, in a real kube-apiserver\n`);
  // The page's server adds the credentials, so that kubectl needs none.
  process.stdout.write(`kubectl --server ${server.url} get pods -A\n`);
  process.stdout.write(`${server.url}/\n`);
  // What ends with this process ends both servers and removes their folder; there is no data that anybody wants back.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
});
