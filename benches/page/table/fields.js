// What a view selects for the columns.

/** What the columns show of a pod. A row is another one only where one of these fields differs. */
export const FIELDS = {
  name: "metadata.name",
  namespace: "metadata.namespace",
  creationTimestamp: "metadata.creationTimestamp",
  nodeName: "spec.nodeName",
  phase: "status.phase",
  containerStatuses: "status.containerStatuses",
};

/** A row of these fields as the columns know pods. */
export const podOf = ({ name, namespace, creationTimestamp, nodeName, phase, containerStatuses }) => ({
  metadata: { name, namespace, creationTimestamp },
  spec: { nodeName },
  status: { phase, containerStatuses },
});
