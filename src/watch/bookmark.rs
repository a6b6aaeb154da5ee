//! When watchers that asked for bookmarks receive one.

use std::collections::BTreeSet;

use crate::runtime::Millis;

/// A bookmark at least this often, as in the apiserver.
pub const BOOKMARK_PERIOD_MS: Millis = 60_000;
/// The last bookmark comes this long before a stream's deadline, so that the next stream can start close to its end.
pub const BEFORE_DEADLINE_MS: Millis = 2_000;
/// The least time between two looks at the schedule; the most is a quarter more.
pub const TICK_MS: Millis = 1_000;

/// Watchers by the time of their next bookmark.
#[derive(Debug, Default)]
pub struct BookmarkSchedule {
    due: BTreeSet<(Millis, u32)>,
}

impl BookmarkSchedule {
    /// Plans the next bookmark of a watcher; none when its deadline is too close.
    pub fn plan(&mut self, watcher: u32, now: Millis, deadline: Option<Millis>) {
        if let Some(at) = next_bookmark(now, deadline) {
            self.due.insert((at, watcher));
        }
    }

    /// The watchers whose time has come; each must be planned again.
    pub fn take_due(&mut self, now: Millis) -> Vec<u32> {
        let later = self.due.split_off(&(now + 1, 0));
        std::mem::replace(&mut self.due, later).into_iter().map(|(_, watcher)| watcher).collect()
    }

    /// Forgets a watcher.
    pub fn remove(&mut self, watcher: u32) {
        self.due.retain(|(_, planned)| *planned != watcher);
    }

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}

/// In a minute, or two seconds before the deadline, whichever is first; never when that has passed.
pub fn next_bookmark(now: Millis, deadline: Option<Millis>) -> Option<Millis> {
    let regular = now + BOOKMARK_PERIOD_MS;
    let Some(deadline) = deadline else { return Some(regular) };
    let last = deadline.checked_sub(BEFORE_DEADLINE_MS)?;
    let at = regular.min(last);
    (at >= now).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bkm_01_watchers_come_due_in_the_order_of_their_times_and_once() {
        let mut schedule = BookmarkSchedule::default();
        schedule.plan(1, 0, Some(12_000));
        schedule.plan(2, 0, Some(22_000));
        schedule.plan(3, 0, Some(22_000));
        assert!(schedule.take_due(0).is_empty());
        assert_eq!(schedule.take_due(10_000), [1]);
        assert!(schedule.take_due(10_000).is_empty());
        assert_eq!(schedule.take_due(22_000), [2, 3]);
        assert!(schedule.is_empty());
    }

    #[test]
    fn the_last_bookmark_is_two_seconds_before_the_deadline_and_none_follows() {
        assert_eq!(next_bookmark(0, None), Some(60_000));
        assert_eq!(next_bookmark(0, Some(120_000)), Some(60_000));
        assert_eq!(next_bookmark(90_000, Some(120_000)), Some(118_000));
        assert_eq!(next_bookmark(118_001, Some(120_000)), None);
    }

    #[test]
    fn a_forgotten_watcher_is_never_due() {
        let mut schedule = BookmarkSchedule::default();
        schedule.plan(1, 0, None);
        schedule.remove(1);
        assert!(schedule.take_due(1_000_000).is_empty());
    }
}
