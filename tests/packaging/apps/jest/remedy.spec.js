/** @jest-environment jest-fixed-jsdom */
import * as watchcache from "watchcache";
import { liveRows } from "./rows.js";

test("Jest resolves the browser's entry in jsdom, which cannot read the file and says what can", async () => {
  await expect(liveRows(watchcache, process.env.API_SERVER)).rejects.toThrow(/cannot be loaded: .*import "watchcache\/inline"/);
});
