// Watches: where a stream starts, what it filters and converts, its bookmarks and its end.
import { selects } from "./list.mjs";
import { encodeJson } from "./json.mjs";
import { apiVersion } from "./resources.mjs";
import { asStatusError, StatusError } from "./status.mjs";
import { parseVersion } from "./version.mjs";

/** @typedef {import("./object-version.mjs").ObjectVersion} ObjectVersion */
/** @typedef {import("./window.mjs").StoreEvent} StoreEvent */

/**
 * Where frames go: a WebSocket or a chunked response.
 * @typedef {object} Sink
 * @property {boolean} writable false while too much waits unsent, or while frozen
 * @property {boolean} frozen silent on command
 * @property {(frame: Buffer) => void} send
 * @property {() => void} end a regular end of the stream
 * @property {(() => void) | undefined} onwritable called when `writable` became true
 * @property {(() => void) | undefined} onclose called when the connection is gone
 */

/**
 * @typedef {object} WatchSettings
 * @property {number} bookmarkMs time between bookmarks
 * @property {() => number} visible the newest version that may be shown
 * @property {() => void} [delivered] called for each frame
 */

/** A watch ends on its own after this time at least; the exact time is spread so that clients do not return all at once. */
const MIN_TIMEOUT_MS = 1_800_000;
/** The last bookmark comes this long before the end, so that a client resumes from a recent version. */
const LAST_BOOKMARK_MS = 2_000;

/**
 * Checks what is answered before the stream opens. A bad version is a plain 500 without a reason: in the original it never becomes a
 * Status of its own.
 * @param {import("./query.mjs").ListOptions} options
 */
export function checkWatchOptions(options) {
  try {
    parseVersion(options.resourceVersion);
  } catch (error) {
    throw new StatusError(500, "", /** @type {Error} */ (error).message);
  }
}

/** What a watch is about. */
export class Scope {
  /**
   * @param {import("./store.mjs").Table} table
   * @param {import("./query.mjs").ListOptions} options
   * @param {{ namespace: string, name?: string }} scope
   */
  constructor(table, options, scope) {
    this.table = table;
    this.options = options;
    this.scope = scope;
  }

  /** @param {number} version */
  state(version) {
    const snapshot = this.table.snapshot(version);
    /** @type {ObjectVersion[]} */
    const objects = [];
    for (const object of snapshot.range(this.scope.namespace ? `/${this.scope.namespace}/` : "/"))
      if (this.matches(object)) objects.push(object);
    return objects;
  }

  /** @param {ObjectVersion | null} object */
  matches(object) {
    if (!object) return false;
    const { namespace, name } = this.scope;
    if (namespace && object.namespace !== namespace) return false;
    if (name && object.name !== name) return false;
    return selects(this.options, object);
  }
}

/** One open watch. It pulls events from the window as its sink takes them; one that is overtaken by the window ends silently. */
export class Watcher extends Scope {
  /**
   * @param {import("./store.mjs").Table} table
   * @param {import("./query.mjs").ListOptions} options
   * @param {{ namespace: string, name?: string }} scope
   * @param {Sink} sink
   * @param {WatchSettings} settings
   */
  constructor(table, options, scope, sink, settings) {
    super(table, options, scope);
    this.sink = sink;
    this.settings = settings;
    this.stopped = false;
    /** Current objects still to be sent as ADDED. @type {ObjectVersion[]} */
    this.initial = [];
    /** How many of `initial` are sent. */
    this.sent = 0;
    this.endBookmark = 0;
    /** The version at which the watch began: events up to here are part of its beginning, or before it. */
    this.gate = 0;
    /** Position of the next event in the window; -1 until the watch has started. */
    this.position = -1;
    this.timeoutMs = options.timeoutSeconds ? options.timeoutSeconds * 1000 : MIN_TIMEOUT_MS * (1 + Math.random());
    this.openedAt = performance.now();
    this.scheduled = false;
    /** @type {NodeJS.Timeout | undefined} */
    this.deadline = undefined;
    /** @type {NodeJS.Timeout | undefined} */
    this.bookmarkTimer = undefined;
    this.changed = () => this.schedule();
    /** Called once when the watch is over. @type {(() => void) | undefined} */
    this.onstop = undefined;
  }

  /** Opens the stream; everything that fails from here on is told inside it. */
  async start() {
    this.sink.onclose = () => this.stop(false);
    this.sink.onwritable = () => this.schedule();
    // setTimeout fires at once for a delay beyond 2^31-1 ms.
    this.deadline = setTimeout(() => this.stop(true), Math.min(this.timeoutMs, 2 ** 31 - 1));
    try {
      const { options, settings, table } = this;
      const asked = parseVersion(options.resourceVersion);
      const unset = options.resourceVersion === "";
      const wanted = unset ? { number: settings.visible(), text: String(settings.visible()) } : asked;
      if (options.sendInitialEvents) await table.store.reached(wanted, settings.visible);
      if (this.stopped) return;
      this.begin(asked, unset);
    } catch (error) {
      this.fail(asStatusError(error));
    }
  }

  /**
   * Takes the initial state and the place in the window in one synchronous step, so that nothing falls between them.
   * @param {import("./version.mjs").AskedVersion} asked @param {boolean} unset
   */
  begin(asked, unset) {
    const { options, settings, table } = this;
    const visible = Math.max(settings.visible(), table.window.oldest);
    const { sendInitialEvents } = options;
    const state = sendInitialEvents === true || (sendInitialEvents === undefined && asked.number === 0);
    if (state) {
      this.initial = this.state(visible);
      this.gate = Math.max(asked.number, visible);
      this.position = table.window.after(visible);
      if (sendInitialEvents && options.allowWatchBookmarks) this.endBookmark = visible;
    } else {
      const since = unset || asked.number === 0 ? visible : asked.number;
      this.position = table.window.after(since, unset || asked.number === 0 ? undefined : asked.text);
      this.gate = since;
    }
    table.listeners.add(this.changed);
    if (options.allowWatchBookmarks) this.scheduleBookmark();
    this.schedule();
  }

  /** Delivers soon: events of one tick go out together. */
  schedule() {
    if (this.scheduled || this.stopped) return;
    this.scheduled = true;
    queueMicrotask(() => {
      this.scheduled = false;
      this.pump();
    });
  }

  pump() {
    const { sink, table } = this;
    const { window } = table;
    if (this.stopped || this.position < 0) return;
    if (this.position < window.first) {
      this.stop(true);
      return;
    }
    while (sink.writable && this.sent < this.initial.length) {
      this.deliver(this.initial[this.sent].frame("ADDED"));
      this.sent += 1;
    }
    if (this.sent < this.initial.length || !sink.writable) return;
    this.initial = [];
    this.sent = 0;
    if (this.endBookmark > 0) {
      this.deliver(bookmarkFrame(table.definition, this.endBookmark, true));
      this.endBookmark = 0;
    }
    const visible = this.settings.visible();
    while (sink.writable && this.position < window.end) {
      const event = window.at(this.position);
      if (event.version > visible) break;
      this.position += 1;
      if (event.version <= this.gate) continue;
      const frame = this.convert(event);
      if (frame) this.deliver(frame);
    }
  }

  /** @param {Buffer} frame */
  deliver(frame) {
    this.sink.send(frame);
    this.settings.delivered?.();
  }

  /**
   * What an event is for this watcher. An object that enters the selection is ADDED. One that leaves it is DELETED, with its previous
   * content under the event's version.
   * @param {StoreEvent} event
   */
  convert(event) {
    const before = this.matches(event.previous);
    const now = this.matches(event.current);
    if (now) return /** @type {ObjectVersion} */ (event.current).frame(before ? "MODIFIED" : "ADDED");
    if (!before) return undefined;
    event.last ??= /** @type {ObjectVersion} */ (event.previous).restamped(event.version);
    return event.last.frame("DELETED");
  }

  scheduleBookmark() {
    const left = this.timeoutMs - (performance.now() - this.openedAt) - LAST_BOOKMARK_MS;
    if (left < 0) return;
    const isLast = left <= this.settings.bookmarkMs;
    this.bookmarkTimer = setTimeout(
      () => {
        this.bookmark();
        if (!isLast && !this.stopped) this.scheduleBookmark();
      },
      Math.min(this.settings.bookmarkMs, left),
    );
  }

  /** Tells how far the stream has come, when that is news and nothing before it waits unsent. */
  bookmark() {
    this.pump();
    const { sink, table } = this;
    const version = this.settings.visible();
    const caughtUp = this.position === table.window.end || (this.position >= 0 && table.window.at(this.position).version > version);
    if (this.stopped || !sink.writable || this.initial.length > 0 || !caughtUp || version <= this.gate) return;
    this.deliver(bookmarkFrame(table.definition, version, false));
  }

  /** @param {StatusError} error */
  fail(error) {
    if (this.stopped) return;
    this.deliver(errorFrame(error));
    this.stop(true);
  }

  /** @param {boolean} close whether the connection is to be ended, too */
  stop(close) {
    if (this.stopped) return;
    this.stopped = true;
    this.table.listeners.delete(this.changed);
    clearTimeout(this.deadline);
    clearTimeout(this.bookmarkTimer);
    this.onstop?.();
    if (close) this.sink.end();
  }
}

/**
 * @param {import("./resources.mjs").ResourceDefinition} definition
 * @param {number | string} version
 * @param {boolean} endsInitialEvents
 */
export function bookmarkFrame(definition, version, endsInitialEvents) {
  /** @type {Record<string, unknown>} */
  const metadata = { resourceVersion: String(version) };
  if (endsInitialEvents) metadata.annotations = { "k8s.io/initial-events-end": "true" };
  const object = { kind: definition.kind, apiVersion: apiVersion(definition), metadata, ...definition.empty };
  return Buffer.from(`${encodeJson({ type: "BOOKMARK", object })}\n`);
}

/** @param {StatusError} error */
export function errorFrame(error) {
  return Buffer.from(`${encodeJson({ type: "ERROR", object: error.toStatus() })}\n`);
}
