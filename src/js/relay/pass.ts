// Everything else is the server's: passed on with the caller's own credentials, and never with the relay's.
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Answer, statusAnswer, unreachable } from "./answers.js";
import type { Upstream } from "./upstream.js";
import { type Writes, writtenBy } from "./writes.js";

/** Headers of one connection, which no proxy passes on. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
];
/** By these a proxy that the server trusts says who asks. They are never a caller's to say, should the server ever trust this connection. */
const NAMES_OF_PROXIES = /^x-remote-(user|uid|group|extra-.*)$/;

/** Who asks belongs to the request, whatever a header of the connection says. A gateway before the relay may have added it, and the caller that other header. */
const IDENTIFIES = /^(authorization|impersonate-.*)$/;

/** Passes a request on. */
export function passRequest(
  { upstream, writes }: { readonly upstream: Upstream; readonly writes: Writes },
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  refuse: (answer: Answer) => void,
): void {
  const sent = headersOf(request, ["upgrade"]);
  // Where the length is not known the body goes on in chunks, whatever the method is. Else the server would take it for another request.
  if (comesInParts(request)) sent["transfer-encoding"] = "chunked";
  const passed = upstream.open(request.method ?? "GET", request.url ?? "/", { ...sent, ...forwarded(request) });
  passed.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, isHttp2(request) ? undefined : answer.statusMessage, {
      ...headersOf(answer, ["upgrade"]),
      ...headers,
    });
    // A watch that is quiet has begun all the same.
    response.flushHeaders();
    answer.on("error", () => response.destroy());
    const written = writtenBy(request);
    if (written !== undefined) writes.follow(written, answer);
    // What breaks off is no whole answer, and is not to look like one.
    answer.on("aborted", () => response.destroy());
    answer.pipe(response);
  });
  passed.on("error", (error) => {
    if (response.headersSent) response.destroy();
    else refuse(unreachable(upstream.name, error.message));
  });
  response.on("close", () => passed.destroy());
  request.on("error", () => passed.destroy());
  request.pipe(passed);
}

/** Passes on what becomes another protocol: a WebSocket or SPDY, as `kubectl exec` uses them. */
export function passUpgrade(
  upstream: Upstream,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  refuse: (answer: Answer) => void,
): void {
  // Clients of Java offer HTTP/2 so with each request. It is none of this connection, and the request is one as any other.
  const isOffer = /^h2c$/i.test(request.headers.upgrade ?? "");
  const kept = headersOf(request, isOffer ? ["upgrade", "http2-settings"] : []);
  const headers = { ...kept, ...forwarded(request), connection: isOffer ? "close" : "Upgrade" };
  // In chunks it would have to be read here, and nobody does so.
  if (request.headers["transfer-encoding"] !== undefined)
    return refuse(statusAnswer(400, "BadRequest", "a request that offers another protocol has no body in chunks"));
  const passed = upstream.open(request.method ?? "GET", request.url ?? "/", headers, true);
  const hasBody = Number(request.headers["content-length"] ?? 0) > 0;
  let answered = false;
  passed.on("upgrade", (answer, other, rest) => {
    answered = true;
    socket.write(headOf(answer, answer.rawHeaders));
    if (rest.length > 0) socket.write(rest);
    if (head.length > 0 && !hasBody) other.write(head);
    other.on("error", () => socket.destroy());
    other.on("close", () => socket.destroy());
    socket.on("close", () => other.destroy());
    other.pipe(socket);
    socket.pipe(other);
  });
  passed.on("response", (answer) => {
    answered = true;
    // Its end is that of the connection, because chunks were put together.
    const kept = Object.entries(headersOf(answer, ["upgrade", "content-length"]));
    const lines = kept.flatMap(([name, value]) => [value].flat().flatMap((one) => [name, String(one)]));
    socket.write(headOf(answer, [...lines, "connection", "close"]));
    answer.on("error", () => socket.destroy());
    answer.pipe(socket);
  });
  passed.on("error", (error) => {
    if (answered) socket.destroy();
    else refuse(unreachable(upstream.name, error.message));
  });
  socket.on("close", () => passed.destroy());
  sendBody(Number(request.headers["content-length"] ?? 0), socket, head, passed);
}

/** What was read ahead is no request any more: its body is the next so many bytes. */
function sendBody(length: number, socket: Duplex, head: Buffer, passed: ClientRequest): void {
  let left = length;
  const take = (bytes: Buffer) => {
    passed.write(bytes.subarray(0, left));
    left -= Math.min(left, bytes.length);
    if (left > 0) return;
    socket.removeListener("data", take);
    passed.end();
  };
  if (left === 0) return void passed.end();
  socket.on("data", take);
  if (head.length > 0) take(head);
}

const isHttp2 = ({ httpVersionMajor }: IncomingMessage): boolean => httpVersionMajor === 2;

/** Over HTTP/2 a body needs to say neither its length nor that it comes in chunks. */
function comesInParts(request: IncomingMessage): boolean {
  if (!isHttp2(request)) return request.headers["transfer-encoding"] !== undefined;
  const { stream } = request as unknown as { stream: { endAfterHeaders: boolean } };
  return !stream.endAfterHeaders && request.headers["content-length"] === undefined;
}

/** Headers without those of the connection. @param more that are left out */
function headersOf(message: IncomingMessage, more: readonly string[] = []): OutgoingHttpHeaders {
  const named = String(message.headers.connection ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase());
  const left = new Set([...HOP_BY_HOP, ...named.filter((name) => name !== "upgrade" && !IDENTIFIES.test(name)), ...more]);
  const kept: Record<string, string | string[]> = {};
  for (let at = 0; at < message.rawHeaders.length; at += 2) {
    const name = message.rawHeaders[at]!.toLowerCase();
    // HTTP/2 tells so what stands in the first line of HTTP/1.1.
    if (name.startsWith(":") || left.has(name) || NAMES_OF_PROXIES.test(name)) continue;
    const before = kept[name];
    // Cookies are one header, which HTTP/2 may cut.
    if (name === "cookie" && before !== undefined) kept[name] = `${String(before)}; ${message.rawHeaders[at + 1]!}`;
    else kept[name] = before === undefined ? message.rawHeaders[at + 1]! : [before, message.rawHeaders[at + 1]!].flat();
  }
  return kept;
}

function forwarded(request: IncomingMessage): OutgoingHttpHeaders {
  const before = request.headers["x-forwarded-for"];
  const address = request.socket.remoteAddress ?? "unknown";
  return { "x-forwarded-for": before === undefined ? address : `${String(before)}, ${address}` };
}

function headOf(answer: IncomingMessage, lines: readonly string[]): string {
  let text = `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`;
  for (let at = 0; at < lines.length; at += 2) text += `${lines[at]}: ${lines[at + 1]}\r\n`;
  return `${text}\r\n`;
}
