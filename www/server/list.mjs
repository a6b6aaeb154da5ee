// Lists: which version is read, which objects are in the page, and the page as a stream of bytes.
import { decodeContinue, encodeContinue } from "./continue.mjs";
import { encodeJson } from "./json.mjs";
import { apiVersion, keyOf } from "./resources.mjs";
import { badRequest, expired } from "./status.mjs";
import { parseVersion } from "./version.mjs";

/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */
/** @typedef {import("./store.mjs").Table} Table */
/** @typedef {import("./query.mjs").ListOptions} ListOptions */

/**
 * @typedef {object} Page
 * @property {number} version
 * @property {ObjectVersion[]} items
 * @property {string} [continue]
 * @property {number} [remaining] absent when a selector makes it unknown
 */

const EXPIRED_LIST = "The resourceVersion for the provided list is too old.";
const EXPIRED_CONTINUE =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, " +
  "or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an " +
  "inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/** Bytes gathered before they go to the socket: small writes would cost more than the copy. */
const CHUNK_BYTES = 256 * 1024;

/**
 * @param {Table} table
 * @param {ListOptions} options
 * @param {string} namespace "" for all
 * @param {() => number} visible the newest version this reader may see
 * @returns {Promise<Page>}
 */
export async function readPage(table, options, namespace, visible) {
  const root = namespace ? `/${namespace}` : "";
  const plan = planRead(options);
  if (plan.wait) await table.store.reached(plan.wait, visible);
  const version = plan.exact ?? visible();
  const state = table.at(version);
  if (!state) {
    if (plan.start === undefined) throw expired(EXPIRED_LIST);
    // Version -1 asks for the rest as it is then: not one consistent list, but not from the beginning again either.
    throw expired(EXPIRED_CONTINUE, { continue: encodeContinue(plan.start, -1) });
  }
  const pinned = options.fields.exact("metadata.name");
  if (pinned !== undefined && (namespace || !table.definition.namespaced) && plan.start === undefined) {
    const object = state.get(keyOf(table.definition, namespace, pinned));
    return { version, items: object && selects(options, object) ? [object] : [] };
  }
  const page = cutPage(state, options, root, plan);
  if (page.continue) table.hold(state);
  return page;
}

/**
 * Which version is read: `exact` names it, else the newest; `wait` must have come first.
 * @param {ListOptions} options
 * @returns {{ exact?: number, wait?: import("./version.mjs").AskedVersion, start?: string, limit: number }}
 */
function planRead(options) {
  const limit = Math.max(options.limit, 0);
  if (options.continue) {
    let token;
    try {
      token = decodeContinue(options.continue);
    } catch (error) {
      throw badRequest(`invalid continue token: ${/** @type {Error} */ (error).message}`);
    }
    if (options.resourceVersion !== "" && options.resourceVersion !== "0")
      throw badRequest("specifying resource version is not allowed when using continue");
    if (token.version < 0) return { start: token.start, limit };
    return { exact: token.version, wait: { number: token.version, text: String(token.version) }, start: token.start, limit };
  }
  const asked = askedVersion(options);
  if (options.resourceVersion === "") return { limit };
  // Version 0 means "whatever is at hand", and a cache hands out all of it.
  if (asked.number === 0) return { limit: 0 };
  // A limit with a version and no match is exact too: the oldest rule, kept for old clients.
  const exact = options.resourceVersionMatch === "Exact" || (options.resourceVersionMatch === "" && limit > 0);
  return exact ? { exact: asked.number, wait: asked, limit } : { wait: asked, limit };
}

/**
 * The version that a list asks for.
 * @param {ListOptions} options
 * @throws {import("./status.mjs").StatusError} 400 for what is none
 */
export function askedVersion(options) {
  try {
    return parseVersion(options.resourceVersion);
  } catch (error) {
    throw badRequest(`invalid resource version: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * @param {import("./snapshot.mjs").State} state @param {ListOptions} options @param {string} root
 * @param {{ start?: string, limit: number }} plan
 * @returns {Page}
 */
function cutPage(state, options, root, { start, limit }) {
  const prefix = `${root}/`;
  const from = start === undefined ? prefix : root + start;
  const everything = options.labels.empty && options.fields.empty;
  /** @type {ObjectVersion[]} */
  const items = [];
  /** @type {ObjectVersion | undefined} */
  let last;
  for (const object of state.range(prefix, from)) {
    if (limit > 0 && items.length === limit) {
      // There is a further candidate. Whether it matches is the next page's business, so that page may be empty.
      const next = `${/** @type {ObjectVersion} */ (last).key}\0`;
      const token = encodeContinue(next.slice(root.length), state.version);
      return { version: state.version, items, continue: token, remaining: everything ? state.count(prefix, next) : undefined };
    }
    if (!everything && !selects(options, object)) continue;
    items.push(object);
    last = object;
  }
  return { version: state.version, items };
}

/** @param {{ labels: ListOptions["labels"], fields: ListOptions["fields"] }} options @param {ObjectVersion} object */
export function selects({ labels, fields }, object) {
  return labels.matches(object.labels) && fields.matches(object.fields);
}

/** The metadata of a list. @param {Page} page */
export function pageMetadata(page) {
  /** @type {Record<string, unknown>} */
  const metadata = { resourceVersion: String(page.version) };
  if (page.continue) metadata.continue = page.continue;
  if (page.remaining) metadata.remainingItemCount = page.remaining;
  return metadata;
}

/**
 * The page as a List document. Nothing is encoded here but the head: items are the bytes that the store holds.
 * @param {Page} page
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @returns {Generator<Buffer, void>}
 */
export function* renderPage(page, definition) {
  const head = encodeJson({ kind: `${definition.kind}List`, apiVersion: apiVersion(definition), metadata: pageMetadata(page) });
  /** @type {Buffer[]} */
  let parts = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  let size = parts[0].length;
  let opening = FIRST_ITEM;
  for (const item of page.items) {
    const body = item.body();
    parts.push(opening, body);
    opening = NEXT_ITEM;
    size += body.length + opening.length;
    if (size >= CHUNK_BYTES) {
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
  }
  parts.push(Buffer.from("]}\n"));
  yield Buffer.concat(parts);
}

const FIRST_ITEM = Buffer.from("{");
const NEXT_ITEM = Buffer.from(",{");
