//! Informers: handlers that are called for each change of a resource, as client-go's shared informers do it, over the stream and the bytes that
//! watches and views have.
//!
//! An informer has handlers, each with a queue of its own; what waits there are shared notices, which hold objects, never copies. The store is
//! changed first, then handlers are told: whoever reads in a callback sees at least the state that he is told of.
//!
//! Imports: change, connection, growth, id, json, key, message, object, runtime, selector, status, store, version.

mod handler;
mod id;
mod index;
mod informers;
mod interruption;
mod notice;
mod overlay;
mod queue;
mod resync;
mod shared;
mod sync;

pub use handler::{DEFAULT_BOUND, HandlerOptions};
pub use id::{HandlerId, InformerId};
pub use index::Indexer;
pub use informers::{InformerStats, Informers, Notices};
pub use interruption::{Interruption, Interruptions};
pub use notice::{Notice, NoticeKind};
pub use shared::{Informer, InformerOptions};
