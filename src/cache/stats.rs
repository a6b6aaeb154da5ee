//! What `stats` says of a cacher.

use crate::cache::availability::Availability;
use crate::cache::held::Held;
use crate::cache::observers::Observers;
use crate::informer::InformerStats;
use crate::watch::DispatcherStats;

/// Its numbers of this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacherStats {
    /// Objects held.
    pub objects: usize,
    /// Bytes held by them and by the window.
    pub bytes: usize,
    /// Changes received since the start.
    pub events: u64,
    /// Lists applied since the start.
    pub lists: u64,
    /// Changes held in the window.
    pub history: usize,
    /// Changes the window may hold at the moment.
    pub history_capacity: usize,
    /// Bytes held by the window alone: what its changes replaced.
    pub history_bytes: usize,
    /// How often that capacity grew, and how often it shrank.
    pub history_resizes: (u64, u64),
    /// About the watchers.
    pub dispatcher: DispatcherStats,
    /// Views that are open.
    pub views: usize,
    /// About the informers.
    pub informers: InformerStats,
}

impl CacherStats {
    /// Of a cacher of these parts, which has received so many changes.
    pub(super) fn of(held: &Held, observers: &Observers, availability: &Availability, events: u64) -> Self {
        let window = held.window();
        Self {
            objects: held.store().len(),
            bytes: held.bytes() + observers.bytes(),
            events,
            lists: availability.lists(),
            history: window.len(),
            history_capacity: window.capacity(),
            history_bytes: window.bytes(),
            history_resizes: window.resizes(),
            dispatcher: observers.dispatcher.stats(),
            views: observers.views.len(),
            informers: observers.informers.stats(),
        }
    }
}
