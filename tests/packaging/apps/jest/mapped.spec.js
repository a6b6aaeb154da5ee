/** @jest-environment jest-fixed-jsdom */
import * as watchcache from "watchcache";
import { liveRows } from "./rows.js";

test("rows, live, in jsdom, of an application that imports watchcache", async () => {
  const { before, after } = await liveRows(watchcache, process.env.API_SERVER);
  expect(before.length).toBeGreaterThan(5);
  expect(after).toEqual(["aaa-fresh", ...before]);
});
