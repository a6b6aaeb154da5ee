/**
 * What etcd promises of its watches, held against what somebody was told: the whole history of a cluster judges it.
 * @module
 */
import WebSocket from "ws";

const text = (/** @type {string | undefined} */ base64) => Buffer.from(base64 ?? "", "base64").toString();

/**
 * One change of one key.
 * @typedef {{ revision: bigint, key: string, value: any, before: any }} Change undefined: there is none
 */

/**
 * All changes of the keys with a prefix, from the first revision on, as etcd itself tells them.
 * @param {string} url of a member @param {string} prefix @param {string} last revision of the last change below the prefix
 * @returns {Promise<Change[]>}
 */
export async function historyOf(url, prefix, last) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v3/watch`);
  const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
  const [key, range_end] = [prefix, end].map((bound) => Buffer.from(bound).toString("base64"));
  /** @type {Change[]} */
  const changes = [];
  await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`etcd has not told its history up to ${last}`)), 30_000);
    socket.on("error", reject);
    socket.on("open", () => socket.send(JSON.stringify({ create_request: { key, range_end, start_revision: "1", prev_kv: true } })));
    socket.on("message", (data) => {
      for (const { type, kv, prev_kv: before } of JSON.parse(String(data)).result.events ?? []) {
        changes.push({
          revision: BigInt(kv.mod_revision),
          key: text(kv.key).slice(prefix.length),
          value: type === "DELETE" ? undefined : JSON.parse(text(kv.value)),
          before: before && JSON.parse(text(before.value)),
        });
      }
      if (changes.length > 0 && changes.at(-1).revision >= BigInt(last)) resolve(clearTimeout(late));
    });
  });
  socket.terminate();
  return changes;
}

/**
 * @typedef {object} Told what a watcher was told
 * @property {{ type: string, key: string, resourceVersion: string, object: any }[]} events without those of an initial state
 * @property {string} from the version behind which it began
 */

/**
 * The promises that were not kept, each by its name and where. Empty: all nine were.
 * @param {Told} told
 * @param {readonly Change[]} history
 * @param {{ transactions?: boolean, selects?: (value: any) => boolean }} [of] what the watcher selects, and what its versions are
 * @returns {string[]}
 */
export function brokenPromises({ events, from }, history, { transactions = false, selects = () => true } = {}) {
  const revisionOf = (/** @type {string} */ version) => BigInt(transactions ? version.slice(0, -9) || "0" : version);
  const broken = [];
  const break_ = (/** @type {string} */ promise, /** @type {any} */ { type, key, resourceVersion }) =>
    broken.push(`${promise}: ${type} ${key ?? ""}@${resourceVersion}`);

  // What it should have been told: of each change that enters, stays in or leaves the selection, the kind and the object.
  const began = revisionOf(from);
  const expected = new Map();
  for (const { revision, key, value, before } of history) {
    if (revision <= began) continue;
    const [was, is] = [before, value].map((object) => object !== undefined && selects(object));
    if (was || is) expected.set(`${key}@${revision}`, { type: !was ? "ADDED" : is ? "MODIFIED" : "DELETED", object: is ? value : before });
  }
  const revisions = new Set(history.map(({ revision }) => revision));

  const heard = new Set();
  let last = BigInt(from);
  let bookmarked = began;
  for (const event of events) {
    const { type, key, resourceVersion, object } = event;
    const revision = revisionOf(resourceVersion);
    if (type === "BOOKMARK") {
      if (BigInt(resourceVersion) < last) break_("ordered", event);
      for (const name of expected.keys()) if (BigInt(name.split("@").at(-1)) <= revision && !heard.has(name)) break_("bookmarkable", event);
      bookmarked = revision;
      last = BigInt(resourceVersion);
      continue;
    }
    const name = `${key}@${revision}`;
    if (heard.has(name)) break_("unique", event);
    else if (BigInt(resourceVersion) <= last) break_("ordered", event);
    if (revision <= bookmarked) break_("resumable", event);
    if (!revisions.has(revision) || revision <= began) break_("validity", event);
    const should = expected.get(name);
    if (should === undefined) break_("filterable", event);
    else if (should.type !== type || JSON.stringify(should.object) !== JSON.stringify(object.value)) break_("prev_value", event);
    heard.add(name);
    last = BigInt(resourceVersion);
  }

  const end = revisionOf(String(last));
  for (const name of expected.keys()) {
    const revision = BigInt(name.split("@").at(-1));
    if (heard.has(name) || revision > end) continue;
    const some = [...heard].some((other) => other.endsWith(`@${revision}`));
    broken.push(`${some ? "atomic" : "reliable"}: ${name} was not told`);
  }
  return broken;
}
