// The server's side of RFC 6455, as far as a watch needs it: text goes out, and what comes in is answered or ignored. The package has no dependency that
// could do it, and half of one is enough.
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const [CLOSE, PING, PONG] = [0x8, 0x9, 0xa];
const NORMAL = Buffer.from([0x03, 0xe8]);
const PROTOCOL_ERROR = Buffer.from([0x03, 0xea]);
/** The most that a frame of control may carry. */
const MAX_CONTROL = 125;

/** Whether a request asks for a WebSocket, of the one version that there is. */
export function isHandshake({ headers }: IncomingMessage): boolean {
  const key = headers["sec-websocket-key"];
  return (
    /^websocket$/i.test(headers.upgrade ?? "") &&
    headers["sec-websocket-version"] === "13" &&
    typeof key === "string" &&
    /^[A-Za-z0-9+/]{22}==$/.test(key)
  );
}

/** The answer that opens one. @param protocol one of those that were offered */
export function handshake({ headers }: IncomingMessage, protocol: string | undefined): string {
  const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}${GUID}`).digest("base64");
  const chosen = protocol === undefined ? "" : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n${chosen}\r\n`;
}

/** A message, in parts that are written one behind the other. */
export function textFrame(text: Buffer): [head: Buffer, text: Buffer] {
  return [head(0x1, text.length), text];
}

export const pingFrame = (): Buffer => control(PING, Buffer.alloc(0));
export const closeFrame = (): Buffer => control(CLOSE, NORMAL);

function control(opcode: number, payload: Buffer): Buffer {
  return Buffer.concat([head(opcode, payload.length), payload]);
}

function head(opcode: number, length: number): Buffer {
  if (length <= MAX_CONTROL) return Buffer.from([0x80 | opcode, length]);
  if (length < 0x10000) return Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]);
  const bytes = Buffer.alloc(10);
  bytes[0] = 0x80 | opcode;
  bytes[1] = 127;
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}

/** What the client sends: pings are answered, its close ends the watch, and messages are let go unread. */
export class Incoming {
  readonly #answer: (frame: Buffer) => void;
  readonly #closed: () => void;
  /** The beginning of a frame that has not come whole: of a message its head at most. */
  #rest = Buffer.alloc(0);
  /** Bytes of a message that are still to come. */
  #skip = 0n;
  #over = false;

  constructor({ answer, closed }: { answer: (frame: Buffer) => void; closed: () => void }) {
    this.#answer = answer;
    this.#closed = closed;
  }

  take(bytes: Buffer): void {
    let left = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    for (;;) {
      if (this.#over) return;
      if (this.#skip > 0n) {
        const skipped = this.#skip < BigInt(left.length) ? Number(this.#skip) : left.length;
        this.#skip -= BigInt(skipped);
        left = left.subarray(skipped);
      }
      const size = left.length < 2 ? 0 : headSize(left[1]! & 0x7f);
      if (size === 0 || left.length < size) break;
      const opcode = left[0]! & 0x0f;
      const isControl = opcode >= CLOSE;
      const short = left[1]! & 0x7f;
      // What is not masked is no client's, and a long frame of control is nobody's.
      if ((left[1]! & 0x80) === 0 || (left[0]! & 0x70) !== 0 || (isControl && short > MAX_CONTROL)) return this.#end(PROTOCOL_ERROR);
      if (!isControl) {
        this.#skip = lengthOf(left, short);
        left = left.subarray(size);
        continue;
      }
      if (left.length < size + short) break;
      const mask = left.subarray(size - 4, size);
      const payload = Buffer.from(left.subarray(size, size + short).map((byte, at) => byte ^ mask[at & 3]!));
      left = left.subarray(size + short);
      if (opcode === PING) this.#answer(control(PONG, payload));
      if (opcode === CLOSE) return this.#end(undefined);
    }
    this.#rest = Buffer.from(left);
  }

  #end(why: Buffer | undefined): void {
    this.#over = true;
    if (why !== undefined) this.#answer(control(CLOSE, why));
    this.#closed();
  }
}

/** Of a client's frame: two bytes, the length's, and four of the mask. */
const headSize = (short: number): number => 6 + (short === 126 ? 2 : short === 127 ? 8 : 0);

function lengthOf(frame: Buffer, short: number): bigint {
  if (short < 126) return BigInt(short);
  return short === 126 ? BigInt(frame.readUInt16BE(2)) : frame.readBigUInt64BE(2);
}
