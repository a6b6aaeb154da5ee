// Runs an example of the documents as a program of its own, against an embedded API server.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Where the examples say that the server is. */
const ADDRESS = "http://127.0.0.1:8001";

/** @returns how the program ended, and all that it printed */
export async function runExample(name, text, serverUrl) {
  // Inside the package, so that `import "watchcache"` means this very package and its exports.
  const file = join(root, "artifacts/readme", `${name}.mjs`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text.replaceAll(ADDRESS, serverUrl));
  const child = spawn(process.execPath, [file], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}
