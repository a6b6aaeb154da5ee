/**
 * The package against a server, through its public API, while the server and the network misbehave. The same scenarios
 * run against the embedded server and against kube-apiserver.
 * @module
 */
import { discoveryScenarios } from "./cache/discovery.mjs";
import { historyScenarios } from "./cache/history.mjs";
import { networkScenarios } from "./cache/network.mjs";
import { ownWriteScenarios } from "./cache/own-writes.mjs";
import { namespaceScenarios } from "./cache/namespaces.mjs";
import { partScenarios } from "./cache/parts.mjs";
import { patchScenarios } from "./cache/patches.mjs";
import { pollScenarios } from "./cache/polls.mjs";
import { refusalScenarios } from "./cache/refusals.mjs";
import { relationScenarios } from "./cache/relations.mjs";
import { startScenarios } from "./cache/start.mjs";
import { timeoutScenarios } from "./cache/timeout.mjs";
import { writeScenarios } from "./cache/writes.mjs";

/**
 * Declares the package-level scenarios.
 * @param {() => import("./target.mjs").Target} getTarget called when a scenario runs
 * @param {{ authorization: boolean, customResources?: boolean }} has what the server has beside the API: rights of users, resources of their own
 */
export function cacheScenarios(getTarget, has) {
  startScenarios(getTarget);
  writeScenarios(getTarget);
  ownWriteScenarios(getTarget);
  patchScenarios(getTarget);
  namespaceScenarios(getTarget, has);
  partScenarios(getTarget);
  pollScenarios(getTarget);
  discoveryScenarios(getTarget, has);
  relationScenarios(getTarget);
  historyScenarios(getTarget);
  refusalScenarios(getTarget, has);
  networkScenarios(getTarget);
  timeoutScenarios(getTarget);
}
