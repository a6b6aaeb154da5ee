// @vitest-environment jsdom
import { expect, test } from "vitest";
import * as watchcache from "watchcache/inline";
import { liveRows } from "./rows.js";

test("rows, live, in jsdom, from watchcache/inline", async () => {
  expect(document.body).toBeDefined();
  const { before, after } = await liveRows(watchcache, process.env.API_SERVER);
  expect(before.length).toBeGreaterThan(5);
  expect(after).toEqual(["aaa-fresh", ...before]);
});
