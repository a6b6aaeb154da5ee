//! The cache of one resource: its state, who hears of it, and the loop that keeps it.
//!
//! Start with [`Cacher`], the one synchronous step a message, then [`Resource`], the handle over the parts that do the waiting.
//!
//! - `cacher.rs` is composed of `held.rs`, `availability.rs` and `observers.rs`. The first holds store, window, strays and packing. The second holds
//!   status, readiness and who waits for it. The third holds views, informers and watchers, and the order in which they hear of a change.
//! - `ready.rs` says whether requests may be answered, `freshness.rs` and `waiters.rs` who waits for which version. `followers.rs` are those who share the
//!   stream.
//! - `viewing.rs`, `informing.rs` and `watching.rs` are what takes both an observer and the state: to open, start or end one of them.
//! - `interval.rs` captures what a watcher begins with: the state, the changes since a version, or nothing. `comparison.rs` finds in slices what a whole list changes.
//! - `joint.rs` makes one of what the branches of a joined resource tell.
//! - `list` says what a list request means, `config.rs` how a resource is set up, `status.rs` what users see of it.
//! - `memory.rs` bounds the bytes that all resources of a cache may hold. `latency.rs` times the way of an event. `flush.rs` is what is told at once.
//!
//! Imports: base64url, change, connection, growth, informer, json, key, message, metrics, object, persist, reflector, runtime, selector, sort, source, status, store, time, version, view, watch.

mod availability;
mod cacher;
mod comparison;
mod config;
mod flush;
mod followers;
mod freshness;
mod held;
mod informing;
mod interval;
mod joint;
mod latency;
mod list;
mod memory;
mod observers;
mod ready;
mod resource;
mod stats;
mod status;
mod viewing;
mod waiters;
mod watching;

pub use availability::Availability;
pub use cacher::Cacher;
pub use config::ResourceConfig;
pub use flush::{Flush, signal};
pub use freshness::Freshness;
pub use held::Held;
pub use informing::Informing;
pub use interval::Basis;
pub use list::{Checked, DEFAULT_WAIT, List, ListOptions, Token, Want};
pub use memory::{DEFAULT_MAX_BYTES, Memory};
pub use ready::Ready;
pub use resource::{
    COMPACTION_INTERVAL_MS, Deleting, Failure, Item, MIN_CHECK_INTERVAL_MS, MIN_WRITE_INTERVAL_MS, Mismatch, Outcome, Resource, Written,
};
pub use stats::CacherStats;
pub use status::ResourceStatus;
pub use viewing::Viewing;
pub use watching::Watching;
