import type { Here, Own } from "../link/workers.js";
import type { Runtime } from "../load/instance.js";
import { Hub } from "./hub.js";

/** A page's own streams, held as a worker would hold them, for the tab that it is. Its WebAssembly is that of the page. */
export function serveHere(runtime: Runtime, own: Own): Here {
  const hub = new Hub(runtime, { own, isInPage: true });
  let channel: MessageChannel | undefined;
  const leave = () => {
    hub.leave();
    // What is under way is heard by nobody any more.
    channel?.port1.close();
    channel?.port2.close();
  };
  return {
    open: () => {
      channel = new MessageChannel();
      hub.connect(channel.port2);
      return channel.port1;
    },
    leave,
    close: () => {
      leave();
      hub.close();
    },
  };
}
