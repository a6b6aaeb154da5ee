// Watch frames as a socket would bring them: flat strings, each decoded from bytes of its own.
import realPod from "../../tests/data/pod.json";
import { inWireOrder } from "../../www/server/metadata.mjs";

/** An object with its members in the order in which an API server writes them. `kubectl` sorts them by name, and the file comes from there. */
export function asServed({ kind, apiVersion, metadata, ...rest }) {
  return { kind, apiVersion, metadata: inWireOrder(metadata), ...rest };
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The same text as a socket would bring it, not a rope of pieces. */
export const flat = (text) => decoder.decode(encoder.encode(text));

/**
 * A pod of 14.4 kB with managedFields, taken from a real cluster, or one of a few hundred bytes. Or one of about so many bytes, which has
 * as many containers and variables as that takes.
 * @param {"large" | "small" | number} size
 */
export function template(size) {
  if (size === "large") return asServed(structuredClone(realPod));
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", resourceVersion: "1", uid: "0", labels: { app: "web" } },
    spec: { nodeName: "node-1", containers: [] },
    status: { phase: "Running" },
  };
  for (let i = 0; JSON.stringify(pod).length < (size === "small" ? 0 : size); i++) {
    if (i % 12 === 0) pod.spec.containers.push({ name: `c-${i / 12}`, image: `registry.example/team/app:${i}`, env: [] });
    pod.spec.containers.at(-1).env.push({ name: `SETTING_${i}`, value: `value-${i * 7919}` });
  }
  return pod;
}

/** The same pod under another name and version, as JSON. With groups, its label `group` is its number's remainder. */
export function podTexts(pod, groups = 0) {
  const labels = groups > 0 ? { ...pod.metadata.labels, group: "{group}" } : pod.metadata.labels;
  const metadata = { ...pod.metadata, labels, name: "{name}", resourceVersion: "{version}" };
  const pieces = JSON.stringify({ ...pod, metadata }).split(/(\{name\}|\{version\}|\{group\})/);
  return (number, version) => {
    const values = { "{name}": `${pod.metadata.name}-${number}`, "{version}": version, "{group}": `g-${number % groups}` };
    return flat(pieces.map((piece) => values[piece] ?? piece).join(""));
  };
}

/** A watch frame of an object's text. */
export const frame = (text, type = "MODIFIED") => flat(`{"type":"${type}","object":${text}}`);
