// What the model tells of an object beside its document, and of itself.

/** The value at a path of names. */
export const fieldOf = (object, path) => path.split(".").reduce((value, name) => value?.[name], object.value());

/** Version and key; with paths a row of that and their values, as the core gives it. */
export function factsOf(object, paths) {
  const names = `${object.version} ${object.key}`;
  if (paths.length === 0) return names;
  const values = paths.map((path) => fieldOf(object, path));
  const missing = values.flatMap((value, at) => (value === undefined ? [at] : []));
  return JSON.stringify([names, ...values.map((value) => (value === undefined ? 0 : value)), ...(missing.length > 0 ? [missing] : [])]);
}

/** The numbers of a model that has done nothing. */
export const NO_STATS = { bytes: 0, events: 0, lists: 1, history: 0, historyCapacity: 100, metrics: {} };

/** A copy with the same error. */
export function copyOfStatus({ error, ...rest }) {
  return { ...structuredClone(rest), ...(error === undefined ? {} : { error }) };
}
