// Events of the cluster: the resource of that name.
import { timestamp } from "../time.mjs";

const REASONS = /** @type {Record<string, readonly [string, string, string]>} */ ({
  BackOff: ["Warning", "kubelet", "Back-off restarting failed container"],
  Created: ["Normal", "kubelet", "Created container"],
  Killing: ["Normal", "kubelet", "Stopping container"],
  Pulled: ["Normal", "kubelet", "Container image already present on machine"],
  Scheduled: ["Normal", "default-scheduler", "Successfully assigned pod to node"],
  Started: ["Normal", "kubelet", "Started container"],
  Unhealthy: ["Warning", "kubelet", "Readiness probe failed: HTTP probe failed with statuscode: 503"],
});

/**
 * @param {{ namespace: string, name: string, uid: string }} pod
 * @param {string} reason
 * @param {import("./random.mjs").Random} random
 * @param {number} now
 */
export function eventAbout(pod, reason, random, now) {
  const [type, component, message] = REASONS[reason];
  const time = timestamp(now);
  return {
    metadata: { name: `${pod.name}.${random.hex(16)}`, namespace: pod.namespace, uid: random.uuid(), creationTimestamp: time },
    involvedObject: { kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid, apiVersion: "v1" },
    reason,
    message,
    source: { component },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type,
    eventTime: null,
    reportingComponent: component,
    reportingInstance: "",
  };
}

/** The same happened again, as whoever records it says: once more, and now. @param {any} event @param {number} now */
export function repeatEvent(event, now) {
  event.count += 1;
  event.lastTimestamp = timestamp(now);
}
