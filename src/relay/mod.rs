//! A resource as the upstream of others: who shares one stream lists and watches what it holds.
//!
//! Start with `relay.rs`. What it holds is told as pages and frames of the Kubernetes wire (`document.rs`). So every rule of a list and a watch
//! holds at this hop, too. `streams.rs` carries the flushes of the resource to the watches that
//! they are for.
//!
//! Between two threads there is a channel. `message.rs` says what crosses it, and `packet.rs` in which bytes: a head (`head.rs`) of a call (`call.rs`) or of how
//! the stream stands (`standing.rs`). `serving.rs` is the relay's end, and `remote.rs` the source at the other one.
//!
//! Imports: cache, connection, json, message, object, runtime, selector, source, status, time, version, watch.

mod call;
mod document;
mod head;
mod message;
mod packet;
mod relay;
mod remote;
mod serving;
mod standing;
mod streams;

pub use self::message::{Answer, Call, CallId, Described, Request, WATCH_PACE_MS};
pub use self::packet::Packet;
pub use self::relay::Relay;
pub use self::remote::{Remote, Traits};
pub use self::serving::Serving;
