/** @jest-environment jest-fixed-jsdom */
import * as watchcache from "watchcache";
import { liveRows } from "./rows";

test("rows, live, in jsdom, as CommonJS", async () => {
  expect(document.body).toBeDefined();
  expect(typeof require).toBe("function");
  const { before, after } = await liveRows(watchcache, process.env.API_SERVER);
  expect(before.length).toBeGreaterThan(5);
  expect(after).toEqual(["aaa-fresh", ...before]);
});
