//! When a handler has been told the state that it began with.

use crate::status::{Error, ErrorCode};

/// Counts notifications of the initial state that have not been handled, and waits until no more are to come: client-go's `SingleFileTracker`.
/// Once synced, it stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SyncTracker {
    waiting: usize,
    upstream: bool,
    synced: bool,
}

impl SyncTracker {
    /// So many notifications of the initial state are queued.
    pub(super) fn start(&mut self, notifications: usize) {
        self.waiting += notifications;
    }

    /// So many of them were handled, or will never be told. Fails where fewer were queued, and then counts none.
    pub(super) fn finish(&mut self, notifications: usize) -> Result<(), Error> {
        let Some(waiting) = self.waiting.checked_sub(notifications) else {
            let message = format!("{notifications} notifications of the initial state were handled, and only {} were queued", self.waiting);
            return Err(Error::new(ErrorCode::Internal, message));
        };
        self.waiting = waiting;
        self.conclude();
        Ok(())
    }

    /// All notifications of the initial state are queued.
    pub(super) fn upstream_synced(&mut self) {
        self.upstream = true;
        self.conclude();
    }

    /// Whether the initial state has been told.
    pub(super) fn has_synced(&self) -> bool {
        self.synced
    }

    fn conclude(&mut self) {
        self.synced |= self.upstream && self.waiting == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sy_01_both_are_needed_in_either_order() {
        let mut tracker = SyncTracker::default();
        tracker.start(1);
        tracker.upstream_synced();
        assert!(!tracker.has_synced(), "the notification was not handled");
        tracker.finish(1).unwrap();
        assert!(tracker.has_synced());

        let mut tracker = SyncTracker::default();
        tracker.start(1);
        tracker.finish(1).unwrap();
        assert!(!tracker.has_synced(), "more may be to come");
        tracker.upstream_synced();
        assert!(tracker.has_synced());

        let mut tracker = SyncTracker::default();
        tracker.upstream_synced();
        assert!(tracker.has_synced(), "an empty state");
    }

    #[test]
    fn sy_02_the_hundredth_of_a_hundred_makes_it_synced_and_one_more_is_an_error() {
        let mut tracker = SyncTracker::default();
        tracker.start(100);
        tracker.upstream_synced();
        for _ in 0..99 {
            tracker.finish(1).unwrap();
        }
        assert!(!tracker.has_synced());
        tracker.finish(1).unwrap();
        assert!(tracker.has_synced());
        assert_eq!(tracker.finish(1).unwrap_err().code, ErrorCode::Internal);
        assert!(tracker.has_synced(), "what was synced stays so");
    }
}
