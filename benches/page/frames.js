// Watch frames as a socket would bring them: flat strings, each decoded from bytes of its own.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A pod of 14.4 kB with managedFields, taken from a real cluster, or one of a few hundred bytes. */
export async function template(size) {
  if (size === "large") return (await fetch("/tests/data/pod.json")).json();
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", resourceVersion: "1", uid: "0", labels: { app: "web" } },
    spec: { nodeName: "node-1" },
    status: { phase: "Running" },
  };
}

/** The same pod under another name and version, as JSON. */
export function podTexts(pod) {
  const metadata = { ...pod.metadata, name: "{name}", resourceVersion: "{version}" };
  const [start, middle, end] = JSON.stringify({ ...pod, metadata }).split(/\{name\}|\{version\}/);
  return (number, version) => `${start}${pod.metadata.name}-${number}${middle}${version}${end}`;
}

/** `count` changes of `objects` pods in turn, from version `from` on. */
export function frames(pod, objects, from, count) {
  const text = podTexts(pod);
  return Array.from({ length: count }, (_, i) =>
    decoder.decode(encoder.encode(`{"type":"MODIFIED","object":${text(i % objects, from + i)}}`)),
  );
}
