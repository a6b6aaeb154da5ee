import type { IR } from "@tanstack/db";
import type { SelectedViewSpec, ViewSpec } from "../view/types.js";

/** The part of a `where` that a view can decide on bytes. It lets through at least what the `where` does: TanStack DB asks each row again. */
export type Pushed = Pick<ViewSpec<any>, "namespaces" | "labelSelector" | "fieldSelector">;

type Expression = IR.BasicExpression<any>;

/** What both kinds of selector take as it stands. */
const PLAIN = /^[A-Za-z0-9]([\w.:/@-]*[A-Za-z0-9])?$/;
const LABEL = /^[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
const LABEL_KEY = /^([a-z0-9.-]{1,253}\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;
const SEGMENT = /^[A-Za-z_]\w*$/;

/** Where a query's field stands in the objects; undefined where no selector can say that. */
export type PathOf = (field: readonly string[]) => readonly string[] | undefined;

/** How the rows of a spec name what is in the objects: whole objects as they are, selected fields by their own names. */
export function pathsOf({ select, derive = {} }: Pick<SelectedViewSpec<any, any>, "derive"> & { select?: object | undefined }): PathOf {
  if (select === undefined) return (field) => field;
  return ([name = "", ...rest]) => {
    const path: unknown = Object.hasOwn(select, name) ? (select as Record<string, unknown>)[name] : undefined;
    if (typeof path !== "string" || Object.hasOwn(derive, path)) return undefined;
    const [, label] = LABEL_PATH.exec(path) ?? [];
    return [...(label === undefined ? path.split(".") : ["metadata", "labels", label]), ...rest];
  };
}

/** A label whose key is no plain word, as paths write it. */
const LABEL_PATH = /^metadata\.labels\[['"]([^'"]+)['"]\]$/;

/** Reads off a `where` what can be asked of a view. */
export function pushedOf(where: Expression | undefined | null, pathOf: PathOf = (field) => field): Pushed {
  let namespaces: readonly string[] | undefined;
  const labels = new Set<string>();
  const fields = new Set<string>();
  for (const { field, values } of comparisons(where)) {
    const path = pathOf(field);
    if (path === undefined) continue;
    const [first, second, ...rest] = path;
    if (first === "metadata" && second === "namespace" && rest.length === 0) {
      // A second one narrows the first; TanStack DB does the rest.
      namespaces ??= [...values].sort();
    } else if (first === "metadata" && second === "labels" && rest.length === 1) {
      const [key = ""] = rest;
      if (LABEL_KEY.test(key) && values.every((value) => LABEL.test(value))) labels.add(oneOf(key, values));
    } else if (values.length === 1 && PLAIN.test(values[0]!) && path.every((segment) => SEGMENT.test(segment))) {
      fields.add(`${path.join(".")}=${values[0]}`);
    }
  }
  return {
    ...(namespaces && { namespaces }),
    ...(labels.size > 0 && { labelSelector: [...labels].sort().join() }),
    ...(fields.size > 0 && { fieldSelector: [...fields].sort().join() }),
  };
}

const oneOf = (key: string, values: readonly string[]) =>
  values.length === 1 ? `${key}=${values[0]}` : `${key} in (${[...values].sort().join()})`;

interface Comparison {
  readonly field: readonly string[];
  /** Texts, one of which it has to be; at least one. */
  readonly values: readonly string[];
}

/** All comparisons that have to hold: those of `eq` and `in` under nothing but `and`. */
function comparisons(where: Expression | undefined | null): Comparison[] {
  if (where?.type !== "func") return [];
  const { name, args } = where;
  if (name === "and") return args.flatMap(comparisons);
  if ((name !== "eq" && name !== "in") || args.length !== 2) return [];
  const [left, right] = args as [Expression, Expression];
  // `eq` may be written either way round.
  const [field, given] = name === "eq" && left.type === "val" ? [right, left] : [left, right];
  if (field.type !== "ref" || given.type !== "val") return [];
  const values: unknown = name === "in" ? given.value : [given.value];
  // Only texts are the same as text and as value: 1 and 1.0 are one number.
  if (!Array.isArray(values) || values.length === 0 || !values.every((one) => typeof one === "string")) return [];
  return [{ field: field.path.map(String), values: values as string[] }];
}
