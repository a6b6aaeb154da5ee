// Node before version 22 has no WebSocket; a browser has one, and sends an Origin. The README's browser examples run with this.
import WS from "ws";

globalThis.WebSocket ??= class extends WS {
  constructor(url, protocols) {
    super(url, protocols, { origin: new URL(url).origin.replace(/^ws/, "http") });
  }
};
