// Without leave to read files: the error says what Deno wants to be told.
import assert from "node:assert/strict";
import * as watchcache from "watchcache";
import { server } from "./host.js";
import { liveRows } from "./rows.js";

await assert.rejects(liveRows(watchcache, server, { transport: "fetch" }), /cannot be loaded: Requires read access .*--allow-read/);
