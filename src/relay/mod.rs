//! A resource as the upstream of others: who shares one stream lists and watches what it holds.
//!
//! Start with `relay.rs`. What it holds is told as pages and frames of the Kubernetes wire (`document.rs`). So every rule of a list and a watch
//! holds at this hop, too. `streams.rs` carries the flushes of the resource to the watches that
//! they are for.
//!
//! Imports: cache, json, object, selector, source, status, watch.

mod document;
mod relay;
mod streams;

pub use self::relay::Relay;
