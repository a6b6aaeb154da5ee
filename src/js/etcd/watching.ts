import { timer } from "../host/timer.js";
import type { WebSocketClass } from "../host/types.js";
import type { Client } from "./client.js";
import { type KeyRange, revisionRequest } from "./keys.js";
import { ended, isElsewhere, noGateway, Refusal } from "./refusals.js";

/** So much may wait for its reader, in characters. Then the watch is given up, and goes on from where it was read. */
const MAX_UNREAD = 64 << 20;

/** One watch of one member: its socket, its heartbeat, and the messages that nobody has read yet. */
export class Watching {
  readonly #client: Client;
  readonly #endpoint: string;
  readonly #socket: any;
  readonly #heartbeatMs: number;
  readonly #key: string;
  readonly #start: bigint;
  readonly #waiting: string[] = [];
  #unread = 0;
  #wake: (() => void) | undefined;
  /** How it ended; without an error the server has ended it. */
  #end: { readonly error?: unknown } | undefined;
  #beat: ReturnType<typeof setTimeout> | undefined;
  #heard = false;
  #isOpen = false;
  readonly #over = new AbortController();
  /** When etcd has taken the watch, and would tell of changes. */
  readonly created: Promise<void>;
  #settle!: { resolve(): void; reject(error: unknown): void };

  /**
   * Opens it.
   *
   * @param start the first revision that is told
   */
  constructor(
    client: Client,
    {
      endpoint,
      token,
      WebSocket,
      heartbeatMs,
      range,
      start,
    }: {
      readonly endpoint: string;
      readonly token: string | undefined;
      readonly WebSocket: WebSocketClass;
      readonly heartbeatMs: number;
      readonly range: KeyRange;
      readonly start: string;
    },
  ) {
    this.#client = client;
    this.#endpoint = endpoint;
    this.#heartbeatMs = heartbeatMs;
    this.#key = range.key;
    this.#start = BigInt(start);
    this.created = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // Whoever waits hears of it.
    this.created.catch(() => {});
    // Of a socket's headers browsers let nobody write another one than this.
    const protocols = token === undefined ? [] : ["Bearer", token];
    const socket = new WebSocket(`${endpoint.replace(/^http/, "ws")}/v3/watch`, protocols);
    this.#socket = socket;
    const create = { ...range, prev_kv: true, progress_notify: true, fragment: true, start_revision: start };
    let isConnected = false;
    socket.onopen = () => {
      isConnected = true;
      socket.send(JSON.stringify({ create_request: create }));
    };
    socket.onmessage = ({ data }: { data: unknown }) => this.#take(data);
    socket.onerror = () => {}; // the close that follows says as much
    socket.onclose = ({ code = 1006 }: { code?: number }) => {
      if (!isConnected) void this.#notConnected(code);
      else this.finish(code === 1000 || code === 1005 ? {} : { error: new Error(`the connection to etcd was closed (${code})`) });
    };
  }

  /** Asks for the revision up to which all was told. */
  requestProgress(): void {
    if (this.#socket.readyState === 1) this.#socket.send('{"progress_request":{}}');
  }

  /** Ends it, if it has not ended. */
  finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearTimeout(this.#beat);
    this.#over.abort();
    const socket = this.#socket;
    socket.onopen = socket.onmessage = socket.onclose = null;
    // A class of Node's throws what it cannot say to anybody.
    socket.onerror = () => {};
    socket.close();
    this.#settle.reject(end.error ?? new Error("etcd has closed the connection"));
    this.#wake?.();
  }

  /** The next message; undefined at the end. @throws what ended it */
  async next(): Promise<string | undefined> {
    while (this.#waiting.length === 0 && this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
    const message = this.#waiting.shift();
    if (message !== undefined) {
      this.#unread -= message.length;
      return message;
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    return undefined;
  }

  #take(data: unknown): void {
    this.#heard = true;
    const message = typeof data === "string" ? data : new TextDecoder().decode(data as ArrayBuffer);
    // What tells of changes is read elsewhere, and only there; it may be long.
    if (!message.includes('"events"')) {
      const read = parse(message);
      const refusal = read === undefined ? noGateway() : ended(read);
      if (refusal !== undefined) {
        this.#refused(refusal);
        return;
      }
      if (read.result?.created) void this.#opened();
    }
    this.#keep(message);
  }

  /** Until it is read. */
  #keep(message: string): void {
    this.#unread += message.length;
    if (this.#unread > MAX_UNREAD) {
      this.finish({ error: new Error("more changes than can be held wait for their reader") });
      return;
    }
    this.#waiting.push(message);
    this.#wake?.();
  }

  #rest(): void {
    this.#beat = timer(() => {
      // A member tells of changes as long as it hears of them.
      if (this.#heard) {
        this.#heard = false;
        this.#rest();
      } else {
        void this.#pulse();
      }
    }, this.#heartbeatMs);
  }

  /** A member opens watches without a leader, too, and then has nothing to tell. So it counts as open when the leader has answered through it. */
  async #opened(): Promise<void> {
    if ((await this.#leaders()) === undefined) return;
    this.#isOpen = true;
    this.#settle.resolve();
    this.#rest();
  }

  /** Browsers do not say why a WebSocket was refused. A request to the same member is told. */
  async #notConnected(code: number): Promise<void> {
    if ((await this.#leaders()) === undefined) return;
    const why = "etcd answers, but what stands before it may let no WebSocket through, which a watch needs";
    this.finish({ error: new Error(`the connection to etcd was closed (${code}) before it was open: ${why}`) });
  }

  /** Asks whether the member still hears from its leader, and then whether this watch still hears from the member. */
  async #pulse(): Promise<void> {
    const header = await this.#leaders();
    if (header === undefined) return;
    if (BigInt(header.revision) < this.#start) {
      // Nothing has happened behind which this watch could be, and until then etcd tells it of no progress.
      this.#keep(JSON.stringify({ result: { header } }));
      this.#rest();
      return;
    }
    this.#heard = false;
    this.requestProgress();
    this.#beat = timer(() => {
      if (!this.#heard) {
        this.#dead(new Error(`the watch has not answered within ${this.#heartbeatMs / 1000} seconds`));
        return;
      }
      this.#heard = false;
      this.#rest();
    }, this.#heartbeatMs);
  }

  /** What the leader says of itself, through this member. Undefined: the watch has ended. */
  async #leaders(): Promise<{ readonly revision: string } | undefined> {
    try {
      const { header } = await this.#client.at(this.#endpoint, "/v3/kv/range", revisionRequest(this.#key), this.#over.signal);
      if (BigInt(header.revision) + 1n < this.#start) {
        const why = `etcd is at revision ${header.revision}, before ${this.#start - 1n}, which was seen: it was restored, or made anew`;
        throw new Refusal(410, "Expired", why);
      }
      return this.#end === undefined ? (header as { readonly revision: string }) : undefined;
    } catch (error) {
      this.#dead(error);
      return undefined;
    }
  }

  /**
   * Of a watch that was open only a compaction says that it cannot go on where it was. Anything else is told to who opens it again, if it is so
   * then. A member may have lost its leader, or a token its time.
   */
  #refused(error: unknown): void {
    const goesOn = this.#isOpen && error instanceof Refusal && error.code !== 410;
    this.finish({ error: goesOn ? new Error(error.message) : error });
  }

  #dead(error: unknown): void {
    if (this.#end !== undefined) return;
    if (isElsewhere(error)) this.#client.failed(this.#endpoint);
    this.#refused(error);
    // Of `ws`: nobody is there to say good-bye to.
    this.#socket.terminate?.();
  }
}

function parse(message: string): any {
  try {
    return JSON.parse(message) as unknown;
  } catch {
    return undefined;
  }
}
