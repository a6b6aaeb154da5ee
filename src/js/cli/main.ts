#!/usr/bin/env node
import { Failure, Usage } from "./fail.js";
import { SERVE_HELP } from "./serve-options.js";
import { types } from "./types.js";

const TYPES_HELP = `Usage: watchcache types --server URL [--token TOKEN] > kube.d.ts

Writes the types of all resources of a cluster, its custom resources included, as an augmentation of watchcache's ResourceTypes:
then cache.resource("pods") and cache.resource("example.com/v1/widgets") know what their objects are.

  --server URL     the API server, such as http://127.0.0.1:8001 of "kubectl proxy"
  --token TOKEN    a bearer token; or the environment variable WATCHCACHE_TOKEN, which no list of processes shows
  --no-comments    without the descriptions that the API gives of its fields
  --help

Certificates of a private authority: NODE_EXTRA_CA_CERTS=ca.crt. It needs the package json-schema-to-typescript.`;

async function main([command, ...rest]: readonly string[]): Promise<void> {
  if (command === "--help" || command === "-h" || rest.includes("--help") || rest.includes("-h")) {
    console.log(helpOf(command));
    return;
  }
  // Loaded where it is wanted: it is the cache with all that belongs to it.
  if (command === "serve") return (await import("./serve.js")).serve(rest);
  if (command !== "types") throw new Usage(command === undefined ? "a command is missing" : `there is no command ${command}`);
  const { server, token, comments } = read(rest);
  process.stdout.write(await types({ server, token, comments, tell: (message) => console.error(message) }));
}

function helpOf(command: string | undefined): string {
  if (command === "serve") return SERVE_HELP;
  return command === "types" ? TYPES_HELP : `${TYPES_HELP}\n\n${SERVE_HELP}`;
}

function read(args: readonly string[]): { server: string; token: string | undefined; comments: boolean } {
  const given: Record<string, string> = {};
  let comments = true;
  for (let at = 0; at < args.length; at++) {
    const [name = "", joined] = args[at]!.split(/=(.*)/s, 2);
    if (name === "--no-comments") {
      comments = false;
      continue;
    }
    if (name !== "--server" && name !== "--token") throw new Usage(`there is no option ${name}`);
    const value = joined ?? args[++at];
    if (value === undefined || value === "") throw new Usage(`${name} needs a value`);
    given[name] = value;
  }
  const server = given["--server"];
  if (server === undefined) throw new Usage("--server is missing");
  return { server, token: given["--token"] ?? process.env["WATCHCACHE_TOKEN"], comments };
}

main(process.argv.slice(2)).catch((error: unknown) => {
  if (error instanceof Failure) console.error(`watchcache: ${error.message}`);
  else console.error(error);
  if (error instanceof Usage) console.error(`\n${helpOf(process.argv[2])}`);
  process.exitCode = error instanceof Usage ? 2 : 1;
});
