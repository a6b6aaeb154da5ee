/**
 * Writes that no client of the API would send, and some that the object's strategy decides. The embedded server answers them with the
 * objects and in the words of kube-apiserver.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { bothSides } from "./sides.mjs";
import { REQUESTS, VALIDATED } from "./writes.requests.mjs";

/** @typedef {import("./writes.requests.mjs").WriteRequest} WriteRequest */

/** Fields that each server fills for itself. */
const OWN = new Set(["uid", "resourceVersion", "creationTimestamp", "clusterIP", "clusterIPs"]);
/** An entry of managedFields that came without a change has none there. */
const TIME = "time";
/** Patches that leave an object of no type repeat all of it. */
const REPEATED = /(is invalid: patch: Invalid value: ).*(": .*)$/s;

/** @param {string} url @param {WriteRequest} request */
async function send(url, { method, path, body, type = "application/json" }) {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url + path, { method, body: text, headers: { "content-type": type, "user-agent": "tests" } });
  const answer = JSON.parse(await response.text(), (key, value) => (key === TIME ? undefined : OWN.has(key) ? "its own" : value));
  const warning = response.headers.get("warning") ?? undefined;
  if (answer.kind !== "Status") return { code: response.status, warning, answer };
  const { message, reason } = answer;
  return { code: response.status, warning, reason, message: message?.replace(REPEATED, "$1…$2") };
}

describe("writes on both servers", () => {
  /** @type {Awaited<ReturnType<typeof bothSides>>} */
  let sides;
  before(async () => {
    sides = await bothSides();
  });
  after(() => sides?.stop());

  for (const [group, requests] of Object.entries(REQUESTS)) {
    it(group, async () => {
      const problems = [];
      for (const request of requests) {
        const [mine, theirs] = [await send(sides.embedded.url, request), await send(sides.real.url, request)];
        const about = `${request.method} ${request.path} ${request.type ?? ""} ${JSON.stringify(request.body)}`;
        if (request.validated) {
          // The embedded server looks at types only.
          if (!VALIDATED.test(theirs.message ?? "")) problems.push(`${about}: kube-apiserver says ${JSON.stringify(theirs)}`);
          if (mine.code >= 300) problems.push(`${about}: not taken: ${JSON.stringify(mine)}`);
          continue;
        }
        try {
          assert.deepEqual(mine, theirs);
        } catch (error) {
          problems.push(`${about}\n${/** @type {Error} */ (error).message}`);
        }
      }
      assert.deepEqual(problems, [], problems.join("\n\n"));
    });
  }
});
