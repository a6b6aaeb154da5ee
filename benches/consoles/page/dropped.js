// What nobody can do without: the browser brings each frame's text to the page.
import { createElement } from "react";
import { patiently, plain } from "./peers.js";

const VERSION = 1000;

export function dropped() {
  let frames = 0;
  let length = 0;
  let socket;
  return {
    ...plain,
    Around: ({ children }) => createElement("main", null, children),
    async hold() {
      const url = new URL(`/api/v1/pods?watch=true&resourceVersion=${VERSION}`, location.href);
      url.protocol = "ws:";
      socket = new WebSocket(url);
      socket.onmessage = ({ data }) => {
        length += data.length;
        frames++;
      };
      await patiently(() => socket.readyState === WebSocket.OPEN, "the watch did not open");
    },
    useRows: () => ({ total: 0, rowAt: () => undefined }),
    reached: ({ version }) => length > 0 && VERSION + frames >= version,
    close: () => socket.close(),
  };
}
