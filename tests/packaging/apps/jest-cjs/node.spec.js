import * as watchcache from "watchcache";
import { liveRows } from "./rows";

test("rows, live, in Node, as CommonJS", async () => {
  expect(typeof document).toBe("undefined");
  expect(typeof require).toBe("function");
  const { before, after } = await liveRows(watchcache, process.env.API_SERVER, { transport: "fetch" });
  expect(before.length).toBeGreaterThan(5);
  expect(after).toEqual(["aaa-fresh", ...before]);
});
