import { startRelay } from "../relay/relay.js";
import { Failure } from "./fail.js";
import { readServeOptions } from "./serve-options.js";

/** Runs until it is told to stop. */
export async function serve(args: readonly string[]): Promise<void> {
  const options = readServeOptions(args, process.env);
  // A file that cannot be read is told now, and not with the first request.
  await options.token().catch((error: unknown) => {
    throw new Failure(`the token cannot be read: ${(error as Error).message}`);
  });
  const relay = await startRelay(options).catch((error: unknown) => {
    throw new Failure(`the relay cannot listen on ${options.host}:${options.port}: ${(error as Error).message}`);
  });
  console.log(`watchcache: ${relay.url} relays ${options.server.origin}${options.server.pathname.replace(/\/+$/, "")}`);
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(1);
    stopping = true;
    console.log("watchcache: watches are ended, then the relay is");
    void relay.drain().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
