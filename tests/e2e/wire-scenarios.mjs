/**
 * What a server says on the wire. kube-apiserver passes these, which makes them the truth; the embedded server passes
 * the same ones, which makes it a fair stand-in. Texts are compared to the letter, because clients show them.
 * @module
 */
import { listScenarios } from "./wire/list.mjs";
import { authorizationScenarios, objectScenarios } from "./wire/objects.mjs";
import { troubleScenarios } from "./wire/trouble.mjs";
import { watchScenarios } from "./wire/watch.mjs";

/**
 * Declares the wire-level scenarios.
 * @param {() => import("./target.mjs").Target} getTarget called when a scenario runs
 * @param {{ authorization: boolean, pretty?: boolean }} has what the server has beside the API: rights of users, and lists that are indented for browsers
 */
export function wireScenarios(getTarget, { authorization, pretty = true }) {
  listScenarios(getTarget, { pretty });
  objectScenarios(getTarget);
  if (authorization) authorizationScenarios(getTarget);
  watchScenarios(getTarget);
  troubleScenarios(getTarget);
}
