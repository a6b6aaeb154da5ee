// A handler that writes down what it hears.
import { until } from "./package.mjs";

const name = ({ metadata }) => metadata.name;
const version = ({ metadata }) => metadata.resourceVersion;

/** A handler that keeps what it hears as text. */
export function listener() {
  const heard = [];
  return {
    heard,
    onAdd: (object, isInInitialList) => void heard.push(`${isInInitialList ? "A!" : "A"} ${name(object)}@${version(object)}`),
    onUpdate: (old, object) => void heard.push(`U ${name(object)}@${version(old)}->${version(object)}`),
    onDelete: ({ key, object, finalStateUnknown }) => void heard.push(`${finalStateUnknown ? "T" : "D"} ${key}@${version(object)}`),
  };
}

/** What it heard, once there is so much. */
export async function told({ heard }, count) {
  await until(() => heard.length >= count);
  return heard.splice(0);
}
