// The two ways a watch leaves the server. Both can be broken on command, the way networks break them.

/** @typedef {import("./watch.mjs").Sink} Sink */

/** Above this many unsent bytes a watcher stops pulling. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** How long torn bytes get to leave the machine before the reset: a reset throws away what the peer has not read. */
const TORN_FLUSH_MS = 50;
/** A frame that will never be completed announces this length. */
const TORN_LENGTH = 40_000;
const TORN_TEXT = '{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"to';

/**
 * What both sinks share: the state of being frozen, and who to call.
 * @implements {Sink}
 */
class SocketSink {
  /**
   * @param {import("node:stream").Duplex & { resetAndDestroy?: () => unknown }} socket
   * @param {import("node:events").EventEmitter} carrier tells "close" when this stream is gone; a response ends before its socket does
   */
  constructor(socket, carrier) {
    this.socket = socket;
    this.closed = false;
    this.frozen = false;
    /** @type {(() => void) | undefined} */
    this.onwritable = undefined;
    /** @type {(() => void) | undefined} */
    this.onclose = undefined;
    /** @type {NodeJS.Timeout | undefined} */
    this.thaw = undefined;
    carrier.once("close", () => {
      this.closed = true;
      clearTimeout(this.thaw);
      this.onclose?.();
    });
    // A peer that vanished is no news: "close" follows and is handled.
    carrier.on("error", () => {});
  }

  /** @param {number} waiting unsent bytes */
  open(waiting) {
    return !this.closed && !this.frozen && waiting < HIGH_WATER_BYTES;
  }

  /** @param {Buffer} _frame */
  send(_frame) {
    throw new Error("a sink sends in its own way");
  }

  end() {
    this.socket.destroy();
  }

  get writable() {
    return this.open(this.socket.writableLength);
  }

  /**
   * Half-open silence: the connection stays, no byte moves in either direction, and nobody is told.
   * @param {number} ms Infinity for good
   */
  freeze(ms) {
    if (this.closed) return;
    if (!this.frozen) {
      this.frozen = true;
      this.socket.cork();
      this.socket.pause();
    }
    clearTimeout(this.thaw);
    if (Number.isFinite(ms)) {
      this.thaw = setTimeout(() => this.unfreeze(), ms);
      this.thaw.unref();
    }
  }

  unfreeze() {
    if (!this.frozen || this.closed) return;
    clearTimeout(this.thaw);
    this.frozen = false;
    this.socket.uncork();
    this.socket.resume();
    this.onwritable?.();
  }

  /** Ends the connection with a TCP reset. */
  reset() {
    this.frozen = false;
    if (this.socket.resetAndDestroy) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  /**
   * Writes the beginning of something and resets the connection before its end.
   * @param {Buffer} beginning raw bytes of the connection
   */
  tear(beginning) {
    if (this.closed) return;
    this.onclose?.();
    if (this.frozen) this.socket.uncork();
    this.frozen = false;
    this.socket.write(beginning, () => setTimeout(() => this.reset(), TORN_FLUSH_MS).unref());
  }
}

/** Frames as WebSocket text messages. */
export class WebSocketSink extends SocketSink {
  /** @param {import("ws").WebSocket} webSocket @param {import("node:stream").Duplex} socket */
  constructor(webSocket, socket) {
    super(socket, socket);
    this.kind = "websocket";
    this.webSocket = webSocket;
    this.corked = false;
    socket.on("drain", () => this.writable && this.onwritable?.());
    // What a client sends on a watch is read and ignored; a close from its side ends the watch.
    webSocket.on("message", () => {});
    webSocket.on("error", () => {});
  }

  /** @param {Buffer} frame @param {{ binary?: boolean }} [as] */
  send(frame, { binary = false } = {}) {
    if (this.webSocket.readyState !== this.webSocket.OPEN) return;
    if (!this.corked) {
      // One system call for all messages of this tick.
      this.corked = true;
      this.socket.cork();
      process.nextTick(() => {
        this.corked = false;
        this.socket.uncork();
      });
    }
    this.webSocket.send(frame, { binary, compress: false });
  }

  end() {
    if (this.closed) return;
    // As the original: a close frame, and no waiting for the answer.
    this.webSocket.close(1000);
    this.socket.end();
    setTimeout(() => this.socket.destroy(), 1000).unref();
  }

  /** Announces a message and sends only a part of it. */
  drop({ midFrame = false } = {}) {
    if (!midFrame) {
      this.reset();
      return;
    }
    const header = Buffer.from([0x81, 126, TORN_LENGTH >> 8, TORN_LENGTH & 0xff]);
    this.tear(Buffer.concat([header, Buffer.from(TORN_TEXT)]));
  }
}

/** Frames as chunks of an HTTP response. */
export class StreamSink extends SocketSink {
  /** @param {import("node:http").ServerResponse} response headers are sent here */
  constructor(response) {
    super(/** @type {import("node:net").Socket} */ (response.socket), response);
    this.kind = "http";
    this.response = response;
    response.on("drain", () => this.writable && this.onwritable?.());
    response.flushHeaders();
  }

  get writable() {
    return this.open(this.response.writableLength);
  }

  /** @param {Buffer} frame */
  send(frame) {
    this.response.write(frame);
  }

  end() {
    this.response.end();
  }

  /** Announces a chunk and sends only a part of it. */
  drop({ midFrame = false } = {}) {
    if (!midFrame) this.reset();
    else this.tear(Buffer.from(`${TORN_LENGTH.toString(16)}\r\n${TORN_TEXT}`));
  }
}
