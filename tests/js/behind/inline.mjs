// What is not behind a worker, by file and by how the title begins, with the reason. "*" is all of a file. tests/README.md tells the kinds.
// With MATRIX=all these run as well, and one that passes fails the run, unless its reason begins with "may": it goes either way.
const CLOCK = "may: the test turns the clock by hand, and ports go by the host's. A timer that was set before fires though it was cleared";
const OPTIONS = "the mode refuses something else before: it needs an identity, and takes the object of no source";
const PAGE = "may: the page asks that by itself, with a fetch that no page can have behind a worker";
const SAID = "the worker says to its own console how its watches come";
const STANDS = "may: how the stream stands comes by the port, behind what is held";
const PAUSE = "the worker's list is not given up where one tab pauses, and this upstream never answers it";

export const INLINE = {
  config: { "createWatchCache: what is undefined": OPTIONS, "a source without its methods": OPTIONS },
  discovery: {
    "a refresh asks anew": PAGE,
    "credentials go with each request": PAGE,
    "the end of the cache is heard": PAGE,
  },
  "early-tries": { "*": "may: while a server is down one asks for all of a process, and that may be a worker of the test before" },
  host: {
    "WebSocket asks": SAID,
    "watchList asks": SAID,
    "transport asks": SAID,
    "an informer of a resource that has failed for good":
      "a tab cannot tell it from what resume mends, so an informer that comes later waits",
  },
  indexes: { "memory: what nobody uses": "may: the bytes are those of the worker, which holds what it lists and what it hands on" },
  pause: { "paused while it waits": PAUSE },
  persist: { "what cannot be kept": OPTIONS, "a host without storage": STANDS },
  polls: { "nobody who looks": "may: a poll that is under way, and one tab that pauses, are not told apart by the worker at once" },
  seeds: { "*": "it makes instances of its own, of which a port knows nothing" },
  session: { "*": CLOCK },
  sharing: {
    shr_05: "may: bytes are counted between two calls, and what the port brings comes when it comes",
  },
  status: { "after synced the phase": STANDS },
  threads: { "*": "may: its caches are behind threads already" },
  "web-socket": {
    "sockets of several namespaces": "may: the worker closes its sockets later than its tabs are done",
  },
};
