//! Watchers: who hears of which change, in which form, and when a stream ends.
//!
//! A change goes to the watchers that it may concern, as the registry files them. A willing subscriber gets the event with the next flush;
//! otherwise it waits in the watcher's queue, and may find no room there.
//!
//! Start with [`Dispatcher`], then [`Watcher`].
//!
//! Imports: change, growth, id, json, key, metrics, object, runtime, selector, sort, status, store, time, version.

mod audience;
mod bookmark;
mod budget;
mod convert;
mod delivery;
mod demand;
mod dispatcher;
mod event;
mod id;
mod life;
mod options;
mod outbox;
mod overflow;
mod queue;
mod registry;
mod roster;
mod route;
mod set;
mod watcher;

pub use audience::{Form, LastAudience};
pub use bookmark::{Bookmarks, TICK_INTERVAL_MS};
pub use budget::TimeBudget;
pub use convert::Conversion;
pub use demand::Demand;
pub use dispatcher::{Dispatcher, DispatcherStats};
pub use event::{EndReason, EventKind, KINDS_OF_EVENTS, WatchEvent};
pub use id::WatcherId;
pub use options::{Start, WatchOptions};
pub use outbox::{Audience, Outbox};
pub use overflow::OnOverflow;
pub use watcher::{Beginning, Watcher};
