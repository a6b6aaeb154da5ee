/**
 * What counts as the same answer. Everything is compared one to one, with exceptions. Each exception is a rule in {@link EXCEPTIONS}
 * with its reason.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import { compareVersions } from "../../e2e/wire.mjs";

/** @typedef {import("./sides.mjs").Answer} Answer */
/** @typedef {import("./sides.mjs").Refusal} Refusal */
/** @typedef {import("./sides.mjs").Request} Request */
/** @typedef {import("./sides.mjs").Seen} Seen */
/** @typedef {import("./sides.mjs").SeenEvent} SeenEvent */

/** Where the two sides may differ, why, and what is required instead. */
export const EXCEPTIONS = {
  "version of a state":
    "A list that asks for no exact version, and the bookmark after initial events, carry the version the side has reached. The server's cache asks " +
    "etcd for its progress, so that version counts the writes of every resource; a client's stream hears of those with the next bookmark. " +
    "Required: not older than what was asked for, nor than the newest object in it.",
  "version in a token":
    "A continue token pins the version of the list that gave it, so it inherits the difference above. Required: the version of its own list, and the same key.",
  "current version in a message":
    "`Too large resource version: N, current: M` names the version the side has reached, as above. Required: the same text around M.",
  "future of one stream":
    "A version that another resource's write has brought is in the future of a quiet stream, whose upstream offers no progress requests. Required: 504 with " +
    "the server's text, and the version is newer than the stream.",
  "window begins later":
    "Each side remembers as far back as its own window reaches: one was opened after the other, or keeps less. Required: 410 Expired only for versions before " +
    "that side's window, with the text of the API; when both answer, the answers are equal.",
  "oldest version in a message":
    "`too old resource version: N (M)` names the begin of the side's own window. Required: the same text around M, and N before M.",
  "time of a bookmark":
    "Bookmarks come by the clock. Required: never older than what was delivered before, never newer than what comes after.",
  "an end of initial events that was not asked for":
    'Before its watch cache sees a watch at version unset or "0", kube-apiserver makes it one with sendInitialEvents, so with bookmarks it tells the end of ' +
    "the initial events unasked. The package does so only when it is asked. Required: the bookmark stands after the state, and that is equal.",
  "a page of a list narrowed to a namespace":
    "A list of all namespaces whose field selector names one is read by kube-apiserver as a list of that namespace, and its token is relative to it; the next " +
    "page reads the token as relative to all namespaces and loses objects. Not imitated. Required: the same first page; what goes on from it is not asked.",
  "a version of more than 64 bits":
    "The package takes versions of any length, as decimal text; the server's are 64-bit numbers. Required: the server says `value out of range`.",
  "end by a deadline":
    "A watch with timeoutSeconds ends by each side's own clock. Required: the events of the one that ended first begin those of the other.",
};

/** @typedef {keyof typeof EXCEPTIONS} ExceptionName */

/**
 * What is known of the moment.
 * @typedef {object} Context
 * @property {string} reached the version of the package's stream when the answer was there
 * @property {string | undefined} windowFrom the oldest version that a watch of the package can start from
 */

/** One comparison: what differs, and which rules were needed. */
export class Verdict {
  /** @type {string[]} */
  differences = [];
  /** @type {Set<ExceptionName>} */
  exceptions = new Set();

  get equal() {
    return this.differences.length === 0;
  }

  /** @param {string} what @param {unknown} server @param {unknown} ours */
  differ(what, server, ours) {
    this.differences.push(`${what}\n    server: ${show(server)}\n    ours:   ${show(ours)}`);
  }

  /** @param {string} what @param {unknown} server @param {unknown} ours */
  same(what, server, ours) {
    if (!isDeepStrictEqual(server, ours)) this.differ(what, server, ours);
  }

  /** @param {ExceptionName} name */
  except(name) {
    this.exceptions.add(name);
  }
}

/** @param {unknown} value */
function show(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

/** `TYPE namespace/name@version`. @param {SeenEvent} event */
export function brief(event) {
  if (event.error) return `ERROR ${event.error.code} ${event.error.message}`;
  if (!event.object) return `${event.type}${event.initialEnd ? " (end of initial events)" : ""}@${event.version}`;
  return `${event.type} ${identity(event.object)}`;
}

/** @param {any} object */
function identity({ metadata }) {
  return `${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name}@${metadata.resourceVersion}`;
}

/** @param {string} token @returns {{ v?: string, rv?: number, start?: string }} */
export function decodeToken(token) {
  try {
    return JSON.parse(Buffer.from(token, "base64url").toString());
  } catch {
    return {};
  }
}

const TOO_OLD = /^too old resource version: (\d+) \((\d+)\)$/;

/** What etcd's refusal of a compacted version becomes. */
const FORGOTTEN = "The resourceVersion for the provided list is too old.";

/** Whether a version lies before the package's window, so that 410 is right. @param {string | undefined} asked @param {Context} context */
function beforeWindow(asked, { windowFrom }) {
  // The oldest deliverable version is one above the oldest that a watch can start from, and both forms are in use.
  return asked !== undefined && (windowFrom === undefined || compareVersions(asked, windowFrom) < 0);
}

/**
 * Errors, to the last field.
 * @param {Verdict} verdict @param {string} what @param {Refusal} server @param {Refusal} ours @param {Request} request @param {Context} context
 */
function compareRefusals(verdict, what, server, ours, request, context) {
  const [oldServer, oldOurs] = [TOO_OLD.exec(server.message), TOO_OLD.exec(ours.message)];
  const { continue: serverToken, message: serverMessage, ...serverRest } = server;
  const { continue: oursToken, message: oursMessage, ...oursRest } = ours;
  if (outOfRange(server, request)) return verdict.except("a version of more than 64 bits");
  if (inOurFuture(ours, request, context)) {
    // The server has looked, and may have found nothing.
    if (server.code !== 404 && server.code !== 504) verdict.differ(what, server, ours);
    if (server.code !== 504) return verdict.except("future of one stream");
  }
  verdict.same(what, serverRest, oursRest);
  if (oldServer && oldOurs) {
    const sound = oldServer[1] === oldOurs[1] && compareVersions(oldOurs[1], oldOurs[2]) < 0 && beforeWindow(oldOurs[1], context);
    if (!sound) verdict.differ(`${what}: message`, serverMessage, oursMessage);
    else if (serverMessage !== oursMessage) verdict.except("oldest version in a message");
  } else if (serverMessage !== oursMessage) {
    const current = (/** @type {string} */ text) => text.replace(/current: \d+/, "current: M");
    if (current(serverMessage) === current(oursMessage)) verdict.except("current version in a message");
    else verdict.differ(`${what}: message`, serverMessage, oursMessage);
  }
  verdict.same(`${what}: token`, serverToken && decodeToken(serverToken), oursToken && decodeToken(oursToken));
}

/**
 * One side answers and the other does not: right only where the windows differ, or where a version is another resource's.
 * @param {Verdict} verdict @param {string} what
 * @param {{ error?: Refusal, got: unknown }} server @param {{ error?: Refusal, got: unknown }} ours
 * @param {Request} request @param {Context} context
 */
function compareOneSided(verdict, what, server, ours, request, context) {
  const error = ours.error ?? server.error;
  const old = error?.code === 410 && error.reason === "Expired" ? TOO_OLD.exec(error.message) : null;
  const forgotten = error?.code === 410 && error.message === FORGOTTEN;
  if (old && ours.error && beforeWindow(request.version, context)) return verdict.except("window begins later");
  if (server.error && ((old && compareVersions(old[1], old[2]) < 0) || forgotten) && !beforeWindow(pinned(request), context)) {
    return verdict.except("window begins later");
  }
  if (ours.error && inOurFuture(ours.error, request, context)) return verdict.except("future of one stream");
  if (server.error && outOfRange(server.error, request)) return verdict.except("a version of more than 64 bits");
  verdict.differ(what, server.error ?? server.got, ours.error ?? ours.got);
}

/** Whether the package says rightly that its stream has not reached a version. @param {Refusal} error @param {Request} request @param {Context} context */
function inOurFuture({ code, message }, { version = "" }, { reached }) {
  return (
    code === 504 &&
    message.startsWith(`Timeout: Too large resource version: ${version}, current: `) &&
    compareVersions(version, reached) > 0
  );
}

/** Whether the server refuses a version that the package takes. @param {Refusal} error @param {Request} request */
function outOfRange({ message }, { version = "" }) {
  return version.length > 19 && message.endsWith(": value out of range");
}

/** The version that a request pins, if it does. @param {Request} request */
function pinned({ step, version, match, limit, continue: token, initial, kind, namespace, fieldSelector = "" }) {
  if (step === "watch") return initial === true || version === "0" ? undefined : version;
  if (token !== undefined) {
    const { rv } = decodeToken(token);
    return rv !== undefined && rv > 0 ? String(rv) : undefined;
  }
  if (step !== "list" || version === undefined || version === "" || version === "0") return undefined;
  // With a limit and no match a version is exact too, for lists; one object, named by the field selector, is not a list.
  const single = /(^|,)metadata\.name==?[^=]/.test(fieldSelector) && (namespace !== undefined || !kind.namespaced);
  return match === "Exact" || (match === undefined && limit !== undefined && limit > 0 && !single) ? version : undefined;
}

/**
 * Lists, pages and gets.
 * @param {Request} toServer @param {Answer} server @param {Request} toOurs @param {Answer} ours
 * @param {Context} context
 */
export function compareAnswers(toServer, server, toOurs, ours, context) {
  const verdict = new Verdict();
  if ("error" in server || "error" in ours) {
    if ("error" in server && "error" in ours) compareRefusals(verdict, "error", server.error, ours.error, toOurs, context);
    else compareOneSided(verdict, "answer", side(server), side(ours), toOurs, context);
    return verdict;
  }
  if ("object" in server || "object" in ours) {
    verdict.same("object", server, ours);
    return verdict;
  }
  compareObjects(verdict, server.items, ours.items);
  verdict.same("remainingItemCount", server.remaining, ours.remaining);
  compareStateVersions(verdict, toServer, server, toOurs, ours);
  if (isNarrowed(toServer)) {
    verdict.same("whether there is more", server.continue !== undefined, ours.continue !== undefined);
    if (server.continue !== ours.continue) verdict.except("a page of a list narrowed to a namespace");
  } else compareTokens(verdict, server, ours);
  return verdict;
}

/** Whether a list of all namespaces names one in its field selector. @param {Request} request */
export function isNarrowed({ namespace, fieldSelector = "" }) {
  return namespace === undefined && /(^|,)metadata\.namespace==?[^=]/.test(fieldSelector);
}

/** @param {Answer} answer */
function side(answer) {
  if ("error" in answer) return { error: answer.error, got: undefined };
  return { got: "object" in answer ? identity(answer.object) : { version: answer.version, items: answer.items.map(identity) } };
}

/** @param {Verdict} verdict @param {any[]} server @param {any[]} ours */
function compareObjects(verdict, server, ours) {
  const [a, b] = [server.map(identity), ours.map(identity)];
  if (!isDeepStrictEqual(a, b)) verdict.differ("items", a, b);
  else for (const [i, object] of server.entries()) verdict.same(`items[${i}]`, object, ours[i]);
}

/** @param {Verdict} verdict @param {Request} toServer @param {any} server @param {Request} toOurs @param {any} ours */
function compareStateVersions(verdict, toServer, server, toOurs, ours) {
  const [a, b] = [pinned(toServer), pinned(toOurs)];
  if (a !== undefined || b !== undefined) {
    verdict.same("resourceVersion against the one asked for", [server.version, ours.version], [a, b]);
    if (a !== b) verdict.except("version in a token");
    return;
  }
  if (server.version === ours.version) return;
  const newest = ours.items.reduce((/** @type {string} */ v, /** @type {any} */ o) => later(v, o.metadata.resourceVersion), "0");
  const least = later(newest, /^\d+$/.test(toOurs.version ?? "") ? /** @type {string} */ (toOurs.version) : "0");
  if (compareVersions(ours.version, least) < 0) verdict.differ(`resourceVersion, at least ${least}`, server.version, ours.version);
  else verdict.except("version of a state");
}

/** @param {string} a @param {string} b */
function later(a, b) {
  return compareVersions(a, b) < 0 ? b : a;
}

/** @param {Verdict} verdict @param {any} server @param {any} ours */
function compareTokens(verdict, server, ours) {
  if (server.continue === undefined || ours.continue === undefined || server.version === ours.version) {
    verdict.same("continue", server.continue, ours.continue);
    return;
  }
  const [a, b] = [decodeToken(server.continue), decodeToken(ours.continue)];
  verdict.same("continue", { ...a, rv: server.version }, { ...b, rv: server.version });
  verdict.same("version in the token", [String(a.rv), String(b.rv)], [server.version, ours.version]);
  verdict.except("version in a token");
}

/**
 * Watches, as they stand.
 * @param {Request} request @param {Seen} server @param {Seen} ours @param {Context} context of when it was opened
 */
export function compareWatches(request, server, ours, context) {
  const verdict = new Verdict();
  if (server.refused || ours.refused) {
    if (server.refused && ours.refused) compareRefusals(verdict, "refusal", server.refused, ours.refused, request, context);
    else compareOneSided(verdict, "answer", opened(server), opened(ours), request, context);
    return verdict;
  }
  const [a, b] = [withoutBookmarks(verdict, "server", server.events), withoutBookmarks(verdict, "ours", ours.events)];
  const [wrongA, wrongB] = [a[0]?.error, b[0]?.error];
  if ((wrongA === undefined) !== (wrongB === undefined)) {
    compareOneSided(verdict, "events", { error: wrongA, got: a.map(brief) }, { error: wrongB, got: b.map(brief) }, request, context);
    return verdict;
  }
  const unasked = isPlain(request) && a.findIndex((event) => event.type === "BOOKMARK");
  if (unasked !== false && unasked >= 0 && !b.some((event) => event.type === "BOOKMARK")) {
    const state = a.slice(0, unasked);
    if (state.some((event) => event.type !== "ADDED")) verdict.differ("end of the initial events", a.map(brief), b.map(brief));
    a.splice(unasked, 1);
    verdict.except("an end of initial events that was not asked for");
  }
  const byDeadline = request.timeout !== undefined && (server.ended || ours.ended);
  const length = byDeadline ? Math.min(a.length, b.length) : Math.max(a.length, b.length);
  if (a.length !== b.length && byDeadline) verdict.except("end by a deadline");
  for (let i = 0; i < length; i++) {
    const [left, right] = [a[i], b[i]];
    if (
      !left ||
      !right ||
      (left.type !== "BOOKMARK" && brief(left) !== brief(right) && !(left.error && right.error)) ||
      left.type !== right.type
    ) {
      verdict.differ(`event ${i}`, a.slice(i, i + 6).map(brief), b.slice(i, i + 6).map(brief));
      return verdict;
    }
    if (left.error && right.error) compareRefusals(verdict, `event ${i}`, left.error, right.error, request, context);
    else if (left.object) verdict.same(`event ${i}: object`, left.object, right.object);
    else compareInitialEnds(verdict, i, b, left, right, request);
  }
  if (request.timeout === undefined) verdict.same("whether it has ended", server.ended, ours.ended);
  return verdict;
}

/** A watch with bookmarks that says nothing of initial events. @param {Request} request */
function isPlain({ version = "", match, initial, bookmarks }) {
  return bookmarks === true && initial === undefined && match === undefined && (version === "" || version === "0");
}

/** @param {Seen} seen */
function opened(seen) {
  return { error: seen.refused, got: seen.events.map(brief) };
}

/** @param {Verdict} verdict @param {number} i @param {SeenEvent[]} events @param {SeenEvent} server @param {SeenEvent} ours @param {Request} request */
function compareInitialEnds(verdict, i, events, server, ours, request) {
  const newest = events
    .slice(0, i)
    .reduce((v, e) => later(v, e.object?.metadata.resourceVersion ?? "0"), /^\d+$/.test(request.version ?? "") ? request.version : "0");
  const next = events[i + 1]?.object?.metadata.resourceVersion;
  const version = /** @type {string} */ (ours.version);
  const sound = compareVersions(version, /** @type {string} */ (newest)) >= 0 && (next === undefined || compareVersions(version, next) < 0);
  if (!sound) verdict.differ(`event ${i}: end of the initial events`, brief(server), brief(ours));
  else if (server.version !== version) verdict.except("version of a state");
}

/**
 * The events without the bookmarks that come by the clock; those keep their rule.
 * @param {Verdict} verdict @param {string} who @param {SeenEvent[]} events
 */
function withoutBookmarks(verdict, who, events) {
  let newest = "0";
  let mark = "0";
  return events.filter((event) => {
    const version = event.object?.metadata.resourceVersion ?? event.version;
    if (event.type !== "BOOKMARK" || event.initialEnd) {
      if (event.type !== "ERROR" && mark !== "0" && compareVersions(version, mark) <= 0)
        verdict.differ(`${who}: after a bookmark at ${mark}`, "newer", brief(event));
      if (version !== undefined) newest = later(newest, version);
      return true;
    }
    if (compareVersions(version, newest) < 0) verdict.differ(`${who}: a bookmark after ${newest}`, "not older", brief(event));
    mark = version;
    verdict.except("time of a bookmark");
    return false;
  });
}
