// A process with many clients, each with a watch of its own over a WebSocket, as so many browsers have them. It is started by fork, and told by messages.
import WebSocket from "ws";

/** Opened at once: a server is asked for thousands of watches in a second only after it was down. */
const AT_ONCE = 50;
const AT = '"at":"';

const heard = { events: 0, delays: /** @type {number[]} */ ([]) };
const sockets = /** @type {WebSocket[]} */ ([]);
let over = false;

/** @param {Buffer} data */
function hear(data) {
  const text = data.toString("latin1");
  const at = text.indexOf(AT);
  if (at < 0) return; // a bookmark
  heard.events++;
  heard.delays.push(performance.timeOrigin + performance.now() - Number(text.slice(at + AT.length, text.indexOf('"', at + AT.length))));
}

/** @param {{ url: string, ca?: string, token: string }} to */
function open({ url, ca, token }) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      ca,
      origin: new URL(url).origin,
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: false,
    });
    sockets.push(socket);
    socket.on("open", () => resolve(undefined));
    socket.on("message", hear);
    socket.on("error", reject);
    socket.on("close", (code) => over || fail(new Error(`a watch was closed with ${code}`)));
  });
}

/** @param {any} error */
function fail(error) {
  process.send?.({ error: String(error) });
}

process.on("message", async (/** @type {any} */ asked) => {
  try {
    if (asked.open !== undefined) {
      for (let at = 0; at < asked.clients; at += AT_ONCE) {
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, asked.clients - at) }, () => open(asked.open)));
      }
      process.send?.({});
    } else if (asked.take) {
      const { events, delays } = heard;
      [heard.events, heard.delays] = [0, []];
      process.send?.({ events, delays: delays.sort((a, b) => a - b).filter((_, n) => n % 100 === 50) });
    } else {
      over = true;
      for (const socket of sockets) socket.terminate();
      process.disconnect();
    }
  } catch (error) {
    fail(error);
  }
});
