/**
 * A path into an object, in the manner of JSONPath without the leading `$.`: `status.phase`,
 * `metadata.labels['app.kubernetes.io/name']`, `status.conditions[?(@.type=='Ready')].status`.
 */
export type Path = string;
