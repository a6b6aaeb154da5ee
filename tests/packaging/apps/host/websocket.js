import * as watchcache from "watchcache";
import { assertLive, server, socketWithOrigin } from "./host.js";
import { liveRows } from "./rows.js";

assertLive(await liveRows(watchcache, server, { WebSocket: await socketWithOrigin() }));
