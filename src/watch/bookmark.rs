//! When watchers that asked for bookmarks receive one.

use crate::time::{Instant, Millis};
use crate::version::Version;
use std::collections::BTreeMap;

use super::id::WatcherId;

/// How long after one bookmark a watcher gets the next, as in the apiserver; to a second or two, because seconds and ticks decide.
pub(super) const BOOKMARK_INTERVAL_MS: Millis = 60_000;
/// The last bookmark comes this long before a stream's deadline, so that the next stream can start close to its end.
pub(super) const LAST_BOOKMARK_LEAD_MS: Millis = 2_000;
/// The time between two ticks, which send bookmarks that are due and end streams whose time is over. Up to a quarter is added at random.
pub const TICK_INTERVAL_MS: Millis = 1_000;

/// Which bookmarks a watcher gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bookmarks {
    /// None.
    #[default]
    Unwanted,
    /// The one that ends its initial events is owed, at this version or later. No earlier one is taken.
    Owed(Version),
    /// One that is late enough for that waits in the queue.
    Queued,
    /// The end of its initial events was delivered, or never owed.
    Regular,
}

impl Bookmarks {
    /// Whether a bookmark of this version says more than the beginning of a watcher, which ended at the gate.
    pub(super) fn want(&self, version: &Version, gate: &Version) -> bool {
        match self {
            Self::Unwanted => false,
            Self::Owed(after) => version >= after && version >= gate,
            Self::Queued | Self::Regular => version > gate,
        }
    }

    /// A bookmark went into the queue.
    pub(super) fn queued(&mut self) {
        if let Self::Owed(_) = self {
            *self = Self::Queued;
        }
    }

    /// The end of the initial events was delivered.
    pub(super) fn delivered_end(&mut self) {
        *self = Self::Regular;
    }

    /// When the next one is due: at once while one is owed, else in a minute, or two seconds before the deadline, whichever is first. Never
    /// when that has passed.
    pub(super) fn next(&self, now: Instant, deadline: Option<Instant>) -> Option<Instant> {
        match self {
            Self::Unwanted => return None,
            Self::Owed(_) => return Some(now),
            Self::Queued | Self::Regular => {}
        }
        let regular = now + BOOKMARK_INTERVAL_MS;
        let Some(deadline) = deadline else { return Some(regular) };
        let last = deadline.checked_sub(LAST_BOOKMARK_LEAD_MS)?;
        let at = regular.min(last);
        (at >= now).then_some(at)
    }
}

/// A watcher as the schedule knows it: its id, and the serial number that tells it from others with that id.
pub(super) type Planned = (WatcherId, u64);

/// Watchers by the second of their next bookmark. One that has ended stays until its second has come; then its serial number names nobody.
#[derive(Debug, Default)]
pub(super) struct BookmarkSchedule {
    buckets: BTreeMap<u64, Vec<Planned>>,
    // Seconds before this one were handed out.
    current: u64,
}

impl BookmarkSchedule {
    /// Plans a bookmark. One that is late already comes with the next tick.
    pub(super) fn plan(&mut self, watcher: Planned, at: Instant) {
        self.buckets.entry(second_of(at).max(self.current)).or_default().push(watcher);
    }

    /// The watchers whose second has come. Each must be planned again.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Planned> {
        let second = second_of(now);
        if second < self.current {
            return Vec::new();
        }
        let later = self.buckets.split_off(&(second + 1));
        self.current = second + 1;
        std::mem::replace(&mut self.buckets, later).into_values().flatten().collect()
    }

    /// Whether nothing is planned.
    pub(super) fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }
}

fn second_of(at: Instant) -> u64 {
    at.as_millis() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::at;

    fn plan(schedule: &mut BookmarkSchedule, id: u32, now: Instant, bookmarks: &Bookmarks, deadline: Instant) {
        if let Some(at) = bookmarks.next(now, Some(deadline)) {
            schedule.plan((id.into(), u64::from(id)), at);
        }
    }

    fn due(schedule: &mut BookmarkSchedule, now: Instant) -> Vec<u32> {
        schedule.take_due(now).into_iter().map(|(id, _)| id.number()).collect()
    }

    #[test]
    fn bkm_01_watchers_come_due_by_the_second_and_once() {
        let mut schedule = BookmarkSchedule::default();
        for (id, deadline) in [(1, 10_000), (2, 20_000), (3, 20_000)] {
            plan(&mut schedule, id, Instant::START, &Bookmarks::Regular, at(deadline));
        }
        assert_eq!(schedule.buckets.len(), 2);
        assert!(due(&mut schedule, Instant::START).is_empty());
        assert_eq!(due(&mut schedule, at(10_000)), [1]);
        assert!(due(&mut schedule, at(10_000)).is_empty());
        assert_eq!(due(&mut schedule, at(22_000)), [2, 3]);
        assert!(schedule.is_empty());
    }

    #[test]
    fn bkm_02_who_is_owed_the_end_of_its_initial_events_is_due_at_every_tick() {
        let mut schedule = BookmarkSchedule::default();
        let waiting = Bookmarks::Owed(Version::from(10));
        for now in [0, 1_000, 30_000] {
            plan(&mut schedule, 1, at(now), &waiting, at(120_000));
            assert_eq!(due(&mut schedule, at(now)), [1], "at {now}");
        }
        plan(&mut schedule, 1, at(30_000), &Bookmarks::Queued, at(120_000));
        assert!(due(&mut schedule, at(60_000)).is_empty());
        assert_eq!(due(&mut schedule, at(90_000)), [1]);
    }

    #[test]
    fn the_last_bookmark_is_two_seconds_before_the_deadline_and_none_follows() {
        let next = |now, deadline| Bookmarks::Regular.next(now, deadline);
        assert_eq!(next(Instant::START, None), Some(at(60_000)));
        assert_eq!(next(Instant::START, Some(at(120_000))), Some(at(60_000)));
        assert_eq!(next(at(90_000), Some(at(120_000))), Some(at(118_000)));
        assert_eq!(next(at(118_001), Some(at(120_000))), None);
    }

    #[test]
    fn law_10_deadline_what_is_planned_for_the_past_comes_with_the_next_tick() {
        let mut schedule = BookmarkSchedule::default();
        assert!(schedule.take_due(at(50_000)).is_empty());
        schedule.plan((1.into(), 1), at(20_000));
        assert!(due(&mut schedule, at(50_999)).is_empty());
        assert_eq!(due(&mut schedule, at(51_000)), [1]);
    }
}
