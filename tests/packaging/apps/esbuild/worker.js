// A worker that was made from text: it has no address of its own, and no file beside it.
import * as watchcache from "watchcache/inline";
import { liveRows } from "./rows.js";

onmessage = async ({ data: server }) => {
  try {
    postMessage(await liveRows(watchcache, server));
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
