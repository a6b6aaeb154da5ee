// A watch that the package's cache serves: its events as frames, as fast as the client takes them.
import { bufferOf } from "./front.mjs";
import { frameStart } from "./object-version.mjs";
import { asStatusError } from "./status.mjs";
import { bookmarkFrame, errorFrame, Scope } from "./watch.mjs";

/** @typedef {import("watchcache").WatchEvent<any>} WatchEvent */

const CLOSING = Buffer.from("}\n");

/**
 * Frames by event: one event is one object for all the watches that it goes to, and so is its frame.
 * @type {WeakMap<WatchEvent, Buffer>}
 */
const frames = new WeakMap();

/** One open watch. What its client does not take waits in the cache, which ends a watch that is too slow. */
export class FrontWatcher extends Scope {
  /**
   * @param {import("./store.mjs").Table} table
   * @param {import("./query.mjs").ListOptions} options
   * @param {{ namespace: string, name?: string }} scope
   * @param {import("./watch.mjs").Sink} sink
   * @param {import("./watch.mjs").WatchSettings} settings
   * @param {import("./front.mjs").OpenWatch} open
   */
  constructor(table, options, scope, sink, settings, open) {
    super(table, options, scope);
    this.sink = sink;
    this.settings = settings;
    this.open = open;
    this.stopped = false;
    /** The version of the last event that was sent. */
    this.sent = 0;
    /** Called once when the watch is over. @type {(() => void) | undefined} */
    this.onstop = undefined;
    this.writable = () => {};
  }

  /** Where its client is in the window of the store; the beginning where the window no longer reaches back so far. */
  get position() {
    const { window } = this.table;
    return window.covers(this.sent) ? window.after(this.sent) : window.first;
  }

  async start() {
    this.sink.onclose = () => this.stop(false);
    this.sink.onwritable = () => this.writable();
    try {
      for (let next = await this.open.first; !next.done && !this.stopped; next = await this.open.batches.next()) {
        for (const event of next.value) {
          while (!this.sink.writable && !this.stopped) await this.untilWritable();
          if (this.stopped) return;
          this.deliver(event);
        }
      }
    } catch (error) {
      if (!this.stopped) this.sink.send(errorFrame(asStatusError(error)));
    }
    // A frozen connection stays silent, and its end is a word, too.
    while (this.sink.frozen && !this.stopped) await this.untilWritable();
    this.stop(true);
  }

  untilWritable() {
    return new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      this.writable = resolve;
    });
  }

  /** @param {WatchEvent} event */
  deliver(event) {
    let frame = frames.get(event);
    if (!frame) {
      frame = frameOf(event, this.table.definition);
      frames.set(event, frame);
    }
    this.sink.send(frame);
    this.sent = Number(event.resourceVersion) || this.sent;
    this.settings.delivered?.();
  }

  /** The cache delivers by itself. */
  schedule() {}

  /** @param {boolean} close whether the connection is to be ended, too */
  stop(close) {
    if (this.stopped) return;
    this.stopped = true;
    this.open.watcher.stop();
    this.writable();
    this.onstop?.();
    if (close) this.sink.end();
  }
}

/** @param {WatchEvent} event @param {import("./resources.mjs").ResourceDefinition} definition */
function frameOf(event, definition) {
  const { type } = event;
  if (type === "BOOKMARK") return bookmarkFrame(definition, event.resourceVersion, event.initialEventsEnd === true);
  const raw = bufferOf(event.raw);
  if (type === "ERROR") return Buffer.concat([Buffer.from('{"type":"ERROR","object":'), raw, CLOSING]);
  // The stored object goes without its kind, which is that of all of them.
  return Buffer.concat([Buffer.from(frameStart(type, definition)), raw.subarray(1), CLOSING]);
}
