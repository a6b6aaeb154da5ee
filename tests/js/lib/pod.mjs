// The objects of most tests.

/** A small pod, with what a real one carries that must not reach the cache. */
export function pod(key, { labels = { app: "web" }, phase = "Running", node = "node-1" } = {}) {
  const [namespace, name] = key.split("/");
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, uid: key, labels, managedFields: [{ manager: "kubelet" }] },
    spec: { nodeName: node },
    status: { phase, restarts: 0 },
  };
}

/** For `outgoing` of a memory source: the object of this key goes out under a version that is none. */
export function spoils(key) {
  return (object) => {
    const { namespace, name, resourceVersion } = object.metadata;
    if (`${namespace}/${name}` !== key) return object;
    return { ...object, metadata: { ...object.metadata, resourceVersion: `v${resourceVersion}` } };
  };
}
