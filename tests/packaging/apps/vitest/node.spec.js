import { expect, test } from "vitest";
import * as watchcache from "watchcache";
import { WebSocket } from "ws";
import { liveRows } from "./rows.js";

const server = process.env.API_SERVER;
class Socket extends WebSocket {
  constructor(url, protocols) {
    super(url, protocols, { origin: server });
  }
}

test("rows, live, in Node", async () => {
  expect(typeof document).toBe("undefined");
  const { before, after } = await liveRows(watchcache, server, { WebSocket: Socket });
  expect(before.length).toBeGreaterThan(5);
  expect(after).toEqual(["aaa-fresh", ...before]);
});
