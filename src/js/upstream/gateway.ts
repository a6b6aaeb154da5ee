/**
 * Under it a source that speaks etcd has another one, which gives etcd's own answers. The core asks that one, and reads the answers itself:
 * `src/web/transport/dialect.rs`.
 */
export const GATEWAY = Symbol.for("watchcache.etcd");
