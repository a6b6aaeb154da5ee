// The shapes of benches/page/shapes.js, and how a line says which one it has.
export const REPLACED = "replaced";
export const CLUSTER = "cluster";
export const SHAPES = [REPLACED, CLUSTER];

const NAMES = { [REPLACED]: "a replaced pod", [CLUSTER]: "a cluster's events" };

export const ofShape = (what, shape) => `${what} (${NAMES[shape]})`;
