/** The channel on which a tab ends the worker of all. */
export const END = "watchcache demo: end the worker";

/** Ends the worker in the midst of whatever it does, as a browser that is short of memory may. */
export function endWorker(): void {
  const channel = new BroadcastChannel(END);
  channel.postMessage("now");
  channel.close();
}
