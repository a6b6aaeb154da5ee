// Server-side apply: what a manager wants of an object, merged into it. Fields that others have set otherwise are conflicts.
import { isDeepStrictEqual } from "node:util";
import { compared, fieldSet, fromTree, mergedWith, ownable, pathText, removeAt, toTree, valueAt } from "./field-sets.mjs";
import { StatusError } from "./status.mjs";

/** @typedef {import("./field-sets.mjs").FieldSet} FieldSet */
/** @typedef {{ manager: string, operation: string, apiVersion: string, time?: string, fieldsType: string, fieldsV1: any, subresource?: string }} Entry */
/** @typedef {{ manager: string, apiVersion: string, time: string, subresource?: string }} Who */

/**
 * Whether an entry is that of a writer.
 * @param {Entry} entry @param {Who} who @param {string} operation
 */
const isOwn = (entry, who, operation) =>
  entry.manager === who.manager && entry.operation === operation && (entry.subresource ?? "") === (who.subresource ?? "");

/** Entries as they are kept: who applies before who writes otherwise, then by time. @param {Entry[]} entries */
const inOrder = (entries) =>
  [...entries].sort((left, right) => {
    for (const field of /** @type {const} */ (["operation", "time", "manager"])) {
      const [a, b] = [left[field] ?? "", right[field] ?? ""];
      if (a !== b) return a < b ? -1 : 1;
    }
    return 0;
  });

/** @param {Who} who @param {string} operation @param {FieldSet} set @returns {Entry} */
function entryOf({ manager, apiVersion, time, subresource }, operation, set) {
  const entry = { manager, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1: toTree(set) };
  return subresource ? { ...entry, subresource } : entry;
}

/**
 * The entries after a write that is no apply: what it changed is the writer's, and nobody else's.
 * @param {any} before @param {any} after @param {Who} who
 * @returns {Entry[]}
 */
export function ownersAfterUpdate(before, after, who) {
  const { changed, removed } = compared(ownable(before), ownable(after));
  const known = before.metadata.managedFields ?? [];
  // An object without any owner gets its first by an apply.
  if (known.length === 0) return [];
  /** @type {Entry[]} */
  const entries = [];
  let isKnown = false;
  for (const entry of known) {
    const own = isOwn(entry, who, "Update");
    const held = fromTree(entry.fieldsV1 ?? {});
    const set = new Set([...held].filter((path) => !removed.has(path) && (own || !changed.has(path))));
    if (own) for (const path of changed) set.add(path);
    isKnown ||= own;
    if (set.size === 0) continue;
    // Who keeps all stays as it is written.
    const isSame = set.size === held.size && [...set].every((path) => held.has(path));
    entries.push(isSame ? entry : own ? entryOf(who, "Update", set) : { ...entry, fieldsV1: toTree(set) });
  }
  if (!isKnown && changed.size > 0) entries.push(entryOf(who, "Update", changed));
  return inOrder(entries);
}

/**
 * The entry of who makes an object by applying it.
 * @param {any} applied @param {Who} who
 */
export const ownerOfApplied = (applied, who) => entryOf(who, "Apply", fieldSet(ownable(applied)));

/**
 * @param {any} live @param {any} applied @param {Who} who @param {boolean} force whether conflicts are taken over
 * @returns {any} the object as it is to be, with its managedFields
 * @throws {StatusError} 409 with each conflict as a cause
 */
export function applied(live, applied, who, force) {
  const wanted = fieldSet(ownable(applied));
  const [now, want] = [ownable(live), ownable(applied)];
  /** @type {Entry[]} */
  const entries = live.metadata.managedFields ?? [];
  const others = entries.filter((entry) => !isOwn(entry, who, "Apply")).map((entry) => ({ entry, set: fromTree(entry.fieldsV1 ?? {}) }));
  const merged = mergedWith(now, want);
  const differs = (/** @type {string} */ path) => !isDeepStrictEqual(valueAt(now, path), valueAt(merged, path));
  const isItem = (/** @type {string} */ path) => path.split("\0").at(-1)?.startsWith("k:");
  const conflicts = others
    .map(({ entry, set }) => ({ entry, paths: [...wanted].filter((path) => set.has(path) && !isItem(path) && differs(path)) }))
    .filter(({ paths }) => paths.length > 0);
  if (conflicts.length > 0 && !force) throw conflictsError(conflicts);

  // What was applied before and is no more goes, unless somebody else holds it, too.
  const before = entries.find((entry) => isOwn(entry, who, "Apply"));
  const gone = before ? [...fromTree(before.fieldsV1)].filter((path) => !wanted.has(path)) : [];
  // The deepest first, so that an item goes after what is in it.
  for (const path of gone.sort((left, right) => right.length - left.length))
    if (!others.some(({ set }) => set.has(path))) removeAt(merged, path);

  const lost = new Set(conflicts.flatMap(({ paths }) => paths));
  const left = others
    .map(({ entry, set }) => {
      const kept = new Set([...set].filter((path) => !lost.has(path)));
      return kept.size === set.size ? entry : { ...entry, fieldsV1: toTree(kept) };
    })
    .filter(({ fieldsV1 }) => Object.keys(fieldsV1).length > 0);
  const entry = entryOf(who, "Apply", wanted);
  const isSame = before && isDeepStrictEqual(before.fieldsV1, entry.fieldsV1);
  const { metadata, ...rest } = merged;
  return {
    ...live,
    ...rest,
    metadata: { ...unowned(live.metadata), ...metadata, managedFields: inOrder([...left, isSame ? before : entry]) },
  };
}

/** Metadata that nobody owns, which an apply leaves alone. @param {any} metadata */
function unowned(metadata) {
  const owned = new Set(Object.keys(ownable({ metadata }).metadata ?? {}));
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !owned.has(name)));
}

/** @param {Entry} entry */
function managerText({ manager, operation, apiVersion, subresource }) {
  const part = subresource ? ` with subresource ${JSON.stringify(subresource)}` : "";
  return `${JSON.stringify(manager)}${part}${operation === "Apply" ? "" : ` using ${apiVersion}`}`;
}

/** @param {{ entry: Entry, paths: string[] }[]} conflicts */
function conflictsError(conflicts) {
  const causes = conflicts.flatMap(({ entry, paths }) =>
    paths.map((path) => ({ reason: "FieldManagerConflict", message: `conflict with ${managerText(entry)}`, field: pathText(path) })),
  );
  const text =
    causes.length === 1
      ? `conflict: ${causes[0].message}: ${causes[0].field}`
      : `conflicts: ${conflicts
          .map(({ entry, paths }) => `conflicts with ${managerText(entry)}:\n${paths.map((path) => `- ${pathText(path)}`).join("\n")}`)
          .join("\n")}`;
  return new StatusError(409, "Conflict", `Apply failed with ${causes.length} ${text}`, { causes });
}
