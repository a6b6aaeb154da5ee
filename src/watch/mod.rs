//! Watchers: who hears of which change, in which form, and when a stream ends.

pub mod bookmark;
pub mod budget;
pub mod convert;
pub mod dispatcher;
pub mod event;
mod memory;
pub mod options;
pub mod outbox;
pub mod overflow;
pub mod registry;
mod relist;
mod roster;
mod sharing;
pub mod watcher;
