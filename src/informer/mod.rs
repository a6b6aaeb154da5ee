//! Informers: handlers that are called for each change of a resource, as client-go's shared informers do it, over the stream and the bytes that
//! watches and views have.
//!
//! An informer has handlers, each with a queue of its own; what waits there are shared notices, which hold objects, never copies. The store is
//! changed first, then handlers are told: whoever reads in a callback sees at least the state that he is told of.

pub mod handler;
pub mod index;
pub mod informers;
pub mod interruption;
pub mod notice;
pub mod overlay;
pub mod queue;
pub mod resync;
pub mod shared;
pub mod sync;
