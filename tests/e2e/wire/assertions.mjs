/**
 * What the wire-level scenarios have in common.
 * @module
 */
import assert from "node:assert/strict";
import { compareVersions } from "../wire.mjs";

/** @typedef {import("../wire.mjs").Answer} Answer */

/**
 * Asserts a Status answer: HTTP status, code, reason and message.
 * @param {Answer} answer @param {number} code @param {string | undefined} reason @param {string | RegExp} message
 */
export function assertStatus(answer, code, reason, message) {
  assert.equal(answer.status, code, answer.text);
  assert.ok(answer.body, `not JSON: ${answer.text}`);
  const { kind, apiVersion, status } = answer.body;
  assert.deepEqual({ kind, apiVersion, status }, { kind: "Status", apiVersion: "v1", status: "Failure" });
  assert.equal(answer.body.code, code);
  assert.equal(answer.body.reason, reason);
  if (typeof message === "string") assert.equal(answer.body.message, message);
  else assert.match(answer.body.message, message);
}

/** @param {{ items: import("../wire.mjs").KubeObject[] }} list */
export const names = (list) => list.items.map((o) => o.metadata.name);

/** @param {number} i */
export const numbered = (i) => `pod-${String(i).padStart(3, "0")}`;

/**
 * Asserts that versions of changes grow strictly.
 * @param {import("../wire.mjs").WireEvent[]} events
 */
export function assertGrowing(events) {
  for (let i = 1; i < events.length; i++) {
    const [a, b] = [events[i - 1], events[i]].map((e) => String(e.object.metadata.resourceVersion));
    assert.ok(compareVersions(a, b) < 0, `version ${b} after ${a}`);
  }
}
