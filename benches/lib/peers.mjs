// The names of the harnesses of benches/page/peers.
export const OURS = "watchcache";
export const MAP = "Map and predicates";
export const PEERS = [MAP, "client-node informer", "RxJS", "MobX", "TanStack DB", "Immutable.js"];
export const ALL = [OURS, ...PEERS];
