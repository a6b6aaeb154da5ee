//! Turns a source into messages: one list, then one watch, for ever.
//!
//! The reflector asks a [`crate::source::Source`] for a list in pages and for the changes since, and tells a bounded channel what arrives,
//! in order. It does not know who reads the channel. Start with `state.rs`, where the loop can stand, and `reflector.rs`: the one `match`
//! that leads from each state to the next.
//!
//! | file | what it is |
//! |---|---|
//! | `state.rs`, `reflector.rs` | the states of the loop; what leads from each to the next, and the steps between rounds |
//! | `list.rs`, `watch.rs`, `watch_list.rs` | the steps that list, that watch, and that take the state over a watch |
//! | `listing.rs` | a list under way: what its pages have brought so far |
//! | `ahead.rs` | the watch that is opened while a list is still being read |
//! | `order.rs`, `quarantine.rs`, `kinds.rs`, `reader.rs` | which of what arrives is taken, and as what |
//! | `predecessors.rs` | a frame or item that is read by comparing it with what is held of its object |
//! | `failure.rs` | what a failure means: a list, or the same watch again |
//! | `throttle.rs`, `tries.rs`, `backoff.rs`, `early.rs`, `breaker.rs`, `peers.rs` | when the next request goes out |
//! | `handle.rs`, `host.rs`, `liveness.rs`, `sink.rs` | what users ask, how each wait listens to them, to deadlines, and to who reads |
//!
//! Imports: change, connection, json, key, message, object, runtime, source, status, time, version.

mod ahead;
mod backoff;
mod bounds;
mod breaker;
mod config;
mod early;
mod failure;
mod handle;
mod host;
mod kinds;
mod list;
mod listing;
mod liveness;
mod order;
mod peers;
mod predecessors;
mod quarantine;
mod reader;
#[allow(clippy::module_inception)] // the folder is named after what it holds
mod reflector;
mod sink;
mod state;
mod throttle;
mod tries;
mod watch;
mod watch_list;

pub use self::backoff::Retry;
pub use self::bounds::{MAX_GROWTH, MAX_WAIT_MS};
pub use self::config::{MIN_WATCH_SECONDS, ReflectorConfig};
pub use self::early::{EARLY_PERIOD_MS, EarlyTries, MAX_EARLY_TRIES};
pub use self::handle::ReflectorHandle;
pub use self::peers::Peers;
pub use self::predecessors::Predecessors;
pub use self::reader::Recipient;
pub use self::reflector::Reflector;
