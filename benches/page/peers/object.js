// What the peers ask of a parsed pod.

export const keyOf = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

/** The label by which the benchmark's subscribers choose. */
export const GROUP = "group";

/** Whether a pod is of a group; every pod is of the group `undefined`. */
export const isOf = (group) => (group === undefined ? () => true : (object) => object.metadata.labels?.[GROUP] === group);
