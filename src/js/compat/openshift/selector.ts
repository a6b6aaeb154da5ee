import { mistake } from "./errors.js";

/** One requirement of a selector. */
export interface MatchExpression {
  /** The label. */
  key: string;
  /** One of `Equals`, `NotEquals`, `Exists`, `DoesNotExist`, `In`, `NotIn`, `GreaterThan`, `LessThan`. */
  operator: string;
  /** As many as the operator takes. */
  values?: string[] | undefined;
}

/** Labels as objects select by them. */
export interface Selector {
  /** Labels that have to have these values. */
  matchLabels?: { [label: string]: string } | undefined;
  /** Further requirements. */
  matchExpressions?: MatchExpression[] | undefined;
}

/** The same as the API writes it, or undefined where nothing is selected. A plain object of labels, as of old, means `matchLabels`. */
export function selectorToString(selector: Selector | { [label: string]: string } | null | undefined): string | undefined {
  if (selector === null || selector === undefined) return undefined;
  if (typeof selector !== "object" || Array.isArray(selector)) {
    throw mistake("a selector is an object of matchLabels and matchExpressions, or of labels");
  }
  const { matchLabels, matchExpressions } = selector as Selector;
  const labels = matchLabels === undefined && matchExpressions === undefined ? (selector as { [label: string]: string }) : matchLabels;
  const equal = Object.keys(labels ?? {}).sort();
  const written = [...equal.map((label) => `${label}=${labels![label]}`), ...(matchExpressions ?? []).map(requirement)];
  return written.length === 0 ? undefined : written.join();
}

function requirement({ key, operator, values }: MatchExpression): string {
  const all: readonly string[] = Array.isArray(values) ? values : values === undefined ? [] : [values];
  switch (operator) {
    case "Equals":
      return `${key}=${one(key, all)}`;
    case "NotEquals":
    case "NotEqual":
      return `${key}!=${one(key, all)}`;
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "In":
      return `${key} in (${all.join()})`;
    case "NotIn":
      return `${key} notin (${all.join()})`;
    case "GreaterThan":
      return `${key} > ${one(key, all)}`;
    case "LessThan":
      return `${key} < ${one(key, all)}`;
    default:
      throw mistake(`"${operator}" is no operator of a selector, such as Equals, In, Exists or GreaterThan`);
  }
}

function one(key: string, values: readonly string[]): string {
  if (values.length !== 1) throw mistake(`the operator of "${key}" takes one value, not ${values.length}`);
  return values[0]!;
}
