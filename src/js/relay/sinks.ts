// Where the frames of a watch go: the chunks of a response, or the messages of a WebSocket.
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { closeFrame, Incoming, pingFrame, textFrame } from "./websocket.js";

/** One client's end of a watch. */
export interface Sink {
  /** False while too much waits unsent. */
  readonly writable: boolean;
  send(frame: Buffer): void;
  /** Ends it in good order. */
  end(): void;
  /** Called when `writable` may be true again. */
  ondrain: () => void;
  /** Called when the client is gone, or says that it goes. */
  onclose: () => void;
}

/** Above so many unsent bytes a client counts as slow, and its events wait in the cache. */
const HIGH_WATER_BYTES = 1 << 20;
/** A client that does not take the end either is let go. */
const GRACE_MS = 10_000;
/** Proxies cut what is silent for long. */
const PING_MS = 30_000;

abstract class StreamSink implements Sink {
  readonly #stream: ServerResponse | Duplex;
  #ended = false;
  #closed = false;
  ondrain = () => {};
  onclose = () => {};

  constructor(stream: ServerResponse | Duplex) {
    this.#stream = stream;
    stream.on("drain", () => this.ondrain());
    // A peer that vanished is no news: "close" follows.
    stream.on("error", () => {});
    stream.once("close", () => {
      this.#closed = true;
      this.onclose();
    });
    if (stream.destroyed) queueMicrotask(() => this.onclose());
  }

  get writable(): boolean {
    return !this.#ended && !this.#closed && this.#stream.writableLength < HIGH_WATER_BYTES;
  }

  send(frame: Buffer): void {
    if (!this.#ended && !this.#closed) this.write(frame);
  }

  end(): void {
    if (this.#ended) return;
    this.finish();
    this.#ended = true;
    if (!this.#closed) setTimeout(() => this.#stream.destroy(), GRACE_MS).unref();
  }

  protected abstract write(frame: Buffer): void;
  protected abstract finish(): void;
}

/** Chunks of a response, a line each. */
export class HttpSink extends StreamSink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>) {
    super(response);
    this.#response = response;
    response.writeHead(200, headers);
    response.flushHeaders();
  }

  protected write(frame: Buffer): void {
    this.#response.write(frame);
  }

  protected finish(): void {
    this.#response.end();
  }
}

/** Messages of a WebSocket that is open. */
export class WebSocketSink extends StreamSink {
  readonly #socket: Duplex;
  readonly #pings: NodeJS.Timeout;
  #corked = false;

  /** @param head what the client has sent already */
  constructor(socket: Duplex, head: Buffer) {
    super(socket);
    this.#socket = socket;
    const incoming = new Incoming({
      answer: (frame) => socket.writable && socket.write(frame),
      closed: () => {
        this.end();
        this.onclose();
      },
    });
    socket.on("data", (bytes: Buffer) => incoming.take(bytes));
    socket.on("end", () => socket.end());
    this.#pings = setInterval(() => socket.writable && socket.write(pingFrame()), PING_MS).unref();
    socket.once("close", () => clearInterval(this.#pings));
    if (head.length > 0) incoming.take(head);
  }

  protected write(frame: Buffer): void {
    if (!this.#corked) {
      // One write for all messages of this tick.
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    for (const part of textFrame(frame)) this.#socket.write(part);
  }

  protected finish(): void {
    if (this.#socket.writable) this.#socket.end(closeFrame());
  }
}
