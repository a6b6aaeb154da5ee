//! What a flush tells.

use crate::informer::Notifications;
use crate::view::ViewId;
use crate::watch::Outbox;

/// Things a flush tells once, as bits.
pub mod signal {
    /// The status changed.
    pub const STATUS: u32 = 1;
    /// The first list is complete.
    pub const SYNCED: u32 = 2;
    /// A later list replaced the state.
    pub const RELIST: u32 = 4;
    /// A watcher or a handler did not keep up.
    pub const OVERFLOW: u32 = 8;
    /// An error was recorded in the status.
    pub const ERROR: u32 = 16;
    /// Memory is short: decoded versions that are held for their successors are to be let go of.
    pub const LET_GO: u32 = 32;
}

/// What happened since the last flush.
#[derive(Debug, Default)]
pub struct Flush {
    /// Events and who receives them.
    pub outbox: Outbox,
    /// Views that changed.
    pub views: Vec<ViewId>,
    /// Bits of [`signal`].
    pub signals: u32,
    /// What handlers of informers are told.
    pub notifications: Notifications,
}

impl Flush {
    /// Whether it tells watchers something, and nobody else but handlers.
    pub fn is_only_events(&self) -> bool {
        self.views.is_empty() && self.signals == 0
    }

    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.outbox.is_empty() && self.is_only_events() && self.notifications.is_empty()
    }
}
