// Where WebSockets are asked for and none is passed, the error says why it does not work, and what does.
import assert from "node:assert/strict";
import * as watchcache from "watchcache";
import { host, server } from "./host.js";
import { liveRows } from "./rows.js";

const said =
  host === "node20"
    ? /this host has no WebSocket: pass one as the option WebSocket, or choose transport "fetch"/
    : /WebSocket could not be opened, although the server answers it over fetch: choose transport "fetch", .* says an Origin/;
await assert.rejects(liveRows(watchcache, server, { transport: "websocket" }), said);
