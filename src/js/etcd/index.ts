/**
 * `watchcache/etcd`: keys of etcd as a source. Nothing of it is part of the main entry. Start reading at `source.ts`; `gateway.ts` asks etcd.
 */
export { etcdSource } from "./source.js";
export type { EtcdObject, EtcdSource, EtcdSourceOptions } from "./types.js";
