import * as watchcache from "watchcache/inline";
import { assertLive, server } from "./host.js";
import { liveRows } from "./rows.js";

assertLive(await liveRows(watchcache, server, { transport: "fetch" }));
