#!/usr/bin/env node
// The embedded API server from the command line.
import { startServer } from "./index.mjs";
import { parseCommandLine, USAGE } from "./options.mjs";

async function main() {
  const options = parseCommandLine(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(USAGE);
    return;
  }
  // In microseconds, of which there are more than events: whoever was started later is ahead, and versions of before are too old. A server
  // that went back would be asked for versions of its future, and be waited for in silence. No API server over etcd is asked so.
  const server = await startServer({ ...options, firstVersion: Date.now() * 1_000 });
  const { mode, objects, proxy } = server.control.status();
  process.stdout.write(
    mode === "proxy" ? `Forwarding to ${proxy}\n` : `${objects.pods} pods on ${objects.nodes} nodes in ${objects.namespaces} namespaces\n`,
  );
  process.stdout.write(`${server.url}/\n`);
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"]))
    process.once(signal, () => void server.close().then(() => process.exit(0)));
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
