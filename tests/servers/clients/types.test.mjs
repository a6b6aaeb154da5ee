/** The embedded server's table of types is what the Go types of the API say. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { requireGo } from "../../../scripts/lib/go.mjs";
import { root } from "../../../scripts/lib/project.mjs";

it("the table of types is as the program writes it", async () => {
  requireGo();
  // The flags of the other programs: what these have built is not built again.
  const cwd = join(root, "tests", "servers", "clients", "client-go");
  const { stdout } = await promisify(execFile)("go", ["run", "-trimpath", "./types"], {
    cwd,
    env: { ...process.env, CGO_ENABLED: "0" },
    maxBuffer: 1 << 20,
  });
  const kept = readFileSync(join(root, "www", "server", "types", "types.txt"), "utf8");
  assert.ok(stdout === kept, "www/server/types/types.txt is another one: `go run ./types > ../../../../www/server/types/types.txt` there");
});
