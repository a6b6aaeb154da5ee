import { judged } from "../options/grammar.js";
import { invalid, type Kind, named, shown } from "../options/kinds.js";
import { NAMESPACE_INDEX } from "../wire/numbers.js";

/** Indexes by name, each by a path or by a function. */
export const indexes: Kind = (value, name, judge) => {
  named(value, name);
  const read: [index: string, by: unknown][] = [];
  for (const [index, by] of Object.entries(value)) {
    // At the call, whether the core is there or not: what it refused later would end an informer, or a resource. It has the same rule.
    if (index === "" || index === NAMESPACE_INDEX)
      throw invalid(`${name} ${index ? `lists "${index}", which always exists` : "have names"}`);
    if (by === undefined) continue;
    if (typeof by !== "string" && typeof by !== "function") throw invalid(`${name}.${index} is a path or a function, not ${shown(by)}`);
    read.push([index, judged(by, `${name}.${index}`, judge)]);
  }
  // Any name may be that of an index, `__proto__` as well.
  return Object.fromEntries(read);
};
