//! Watchers: who hears of which change, in which form, and when a stream ends.
//!
//! Imports: change, growth, id, json, key, metrics, object, runtime, selector, sort, status, store, version.

mod bookmark;
mod budget;
mod convert;
mod dispatcher;
mod event;
mod id;
mod memory;
mod options;
mod outbox;
mod overflow;
mod registry;
mod relist;
mod roster;
mod sharing;
mod watcher;

pub use bookmark::TICK_MS;
pub use budget::TimeBudget;
pub use convert::Conversion;
pub use dispatcher::{Dispatcher, DispatcherStats};
pub use event::{EndReason, EventKind, WatchEvent};
pub use id::WatcherId;
pub use options::{Start, WatchOptions};
pub use outbox::{Audience, Outbox};
pub use overflow::OnOverflow;
pub use watcher::{BookmarkState, Demand, Watcher};
