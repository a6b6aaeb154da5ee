//! What waits for one subscriber: its interval, live events, and what found no room behind them.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::change::Change;
use crate::object::{Holder, Object};
use crate::status::Status;
use crate::version::Version;

use super::convert::Conversion;
use super::demand::Demand;
use super::event::{EventKind, WatchEvent};
use super::overflow::{OnOverflow, Overflow};

/// Events in the order of their delivery. What is delivered is a prefix of what matched, except where the subscriber asked for less.
#[derive(Debug, Default)]
pub(super) struct Queue {
    // Initial events, and differences after an overflow. They do not count against the capacity.
    interval: VecDeque<WatchEvent>,
    live: VecDeque<WatchEvent>,
    excess: Excess,
    // How many live events may wait.
    capacity: usize,
    on_overflow: OnOverflow,
    // Events up to this version are part of the interval, or before it.
    gate: Version,
}

/// What found no room.
#[derive(Debug, Default)]
enum Excess {
    #[default]
    None,
    /// One event, which nothing may overtake. The watcher gets what is left of the time for slow ones, or ends.
    Blocked(Box<WatchEvent>),
    /// All that came since, merged by object.
    Skipped(Box<Overflow>),
}

/// What became of a live event that could not go straight to the subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It waits in its turn, or merged with others.
    Waits,
    /// It found no room, and the watcher may not skip it.
    Blocked,
    /// It is the first that the watcher skips.
    Skips,
}

/// What became of an event that had found no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retried {
    /// It has room now.
    Placed,
    /// It has none.
    Blocked,
    /// It is gone: the watcher has ended.
    Gone,
}

impl Queue {
    /// A queue that begins with an interval, behind which only events above the gate come.
    pub(super) fn new(interval: Vec<WatchEvent>, gate: Version, capacity: usize, on_overflow: OnOverflow) -> Self {
        Self { interval: interval.into(), gate, capacity, on_overflow, ..Self::default() }
    }

    /// Whether nothing waits for the subscriber.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.interval.is_empty() && self.live.is_empty() && matches!(self.excess, Excess::None)
    }

    /// How many live events may wait.
    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The version up to which events are part of the interval, or before it.
    #[inline]
    pub(super) fn gate(&self) -> &Version {
        &self.gate
    }

    /// Whether the watcher outlives a relist and is told the difference.
    pub(super) fn resyncs(&self) -> bool {
        self.on_overflow == OnOverflow::Resync
    }

    /// Whether another live event may wait. Who takes everything always has room: what waits then waits for the next flush alone, and that is
    /// not the subscriber's fault.
    fn has_room(&self, demand: Demand) -> bool {
        demand == Demand::All || self.live.len() < self.capacity
    }

    /// Keeps a change as the event of this kind, or what it makes of others.
    pub(super) fn keep(&mut self, change: &Change, conversion: &Conversion<'_>, kind: EventKind, demand: Demand) -> Kept {
        let skips = matches!(self.excess, Excess::Skipped(_));
        if !skips && self.has_room(demand) {
            self.live.push_back(conversion.event(kind));
            return Kept::Waits;
        }
        if self.on_overflow == OnOverflow::Terminate {
            self.excess = Excess::Blocked(Box::new(conversion.event(kind)));
            return Kept::Blocked;
        }
        let before = change.previous.as_ref().filter(|_| kind != EventKind::Added);
        let after = (kind != EventKind::Deleted).then_some(&change.object);
        self.skip_after(|| change.version().predecessor().unwrap_or_default());
        self.merge(before, after, change.version());
        if skips { Kept::Waits } else { Kept::Skips }
    }

    /// From here on the watcher is told differences, unless it is already.
    pub(super) fn skip_after(&mut self, reached: impl FnOnce() -> Version) {
        if let Excess::None = self.excess {
            self.excess = Excess::Skipped(Box::new(Overflow::new(reached())));
        }
    }

    /// Adds what became of an object to the difference, as the watcher sees it. Nothing happens to one that is told every change.
    pub(super) fn merge(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, version: &Version) {
        if let (Excess::Skipped(overflow), Some(object)) = (&mut self.excess, after.or(before)) {
            overflow.merge(object.key(), before, after, version);
        }
    }

    /// Tries to place the event that found no room.
    pub(super) fn retry(&mut self, demand: Demand) -> Retried {
        match std::mem::take(&mut self.excess) {
            Excess::Blocked(event) if self.has_room(demand) => {
                self.live.push_back(*event);
                Retried::Placed
            }
            Excess::Blocked(event) => {
                self.excess = Excess::Blocked(event);
                Retried::Blocked
            }
            other => {
                self.excess = other;
                Retried::Gone
            }
        }
    }

    /// The version before the event that found no room; `None` where none waits for room.
    pub(super) fn before_blocked(&self) -> Option<Version> {
        let Excess::Blocked(event) = &self.excess else { return None };
        Some(event.version.predecessor().unwrap_or_default())
    }

    /// Adds a bookmark, where there is room and no event that it would overtake.
    pub(super) fn push_bookmark(&mut self, demand: Demand, make: impl FnOnce() -> WatchEvent) -> bool {
        let fits = matches!(self.excess, Excess::None) && self.has_room(demand);
        if fits {
            self.live.push_back(make());
        }
        fits
    }

    /// Adds the event with which a stream fails, behind everything that waits.
    pub(super) fn push_failure(&mut self, status: &Status) {
        let last = if self.live.is_empty() { &mut self.interval } else { &mut self.live };
        last.push_back(WatchEvent { kind: EventKind::Error, object: Object::status(status), version: Version::ZERO });
    }

    /// Takes the next event.
    pub(super) fn pop(&mut self) -> Option<WatchEvent> {
        loop {
            match self.interval.pop_front().or_else(|| self.live.pop_front()) {
                // It was to end the initial events, and another has.
                Some(event) if event.kind == EventKind::Bookmark && event.version <= self.gate => {}
                Some(event) => return Some(event),
                None => self.catch_up()?,
            }
        }
    }

    /// Turns what was skipped into events.
    fn catch_up(&mut self) -> Option<()> {
        match std::mem::take(&mut self.excess) {
            Excess::Skipped(overflow) => {
                let told = self.resyncs().then(|| WatchEvent::resync(overflow.since.clone()));
                self.interval = told.into_iter().chain(overflow.into_events()).collect();
                Some(())
            }
            other => {
                self.excess = other;
                None
            }
        }
    }

    /// Nothing more comes. What found no room is not delivered; returns the version up to which everything else is.
    pub(super) fn close(&mut self, reached: &Version) -> Version {
        let reached = match std::mem::take(&mut self.excess) {
            Excess::None => reached.clone(),
            Excess::Blocked(event) => event.version.predecessor().map_or_else(|| reached.clone(), |before| before.min(reached.clone())),
            Excess::Skipped(overflow) => overflow.since,
        };
        // One that began ahead of the cacher has missed nothing before its beginning.
        reached.max(self.gate.clone())
    }

    /// Drops what waits. Where that loses events, returns from where they could be had again; `Some(None)`: from nowhere.
    pub(super) fn discard(&mut self) -> Option<Option<Version>> {
        let (interval, live) = (std::mem::take(&mut self.interval), std::mem::take(&mut self.live));
        if !interval.is_empty() {
            return Some(None);
        }
        // A bookmark takes nothing with it, and may stand at the version of the last event that was heard.
        let first = live.iter().find(|event| event.kind != EventKind::Bookmark)?;
        Some(first.version.predecessor())
    }

    /// Bytes of the objects that wait here and that nobody but readers hold.
    pub(super) fn held(&self) -> usize {
        let late = |object: &Rc<Object>| if object.holder() == Holder::Nobody { object.size() } else { 0 };
        let waiting: usize = self.interval.iter().chain(&self.live).map(|event| late(&event.object)).sum();
        waiting
            + match &self.excess {
                Excess::None => 0,
                Excess::Blocked(event) => late(&event.object),
                Excess::Skipped(overflow) => overflow.objects().map(late).sum(),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeKind;
    use crate::testing::named;
    use crate::time::Instant;

    fn change(version: u64) -> Change {
        Change { kind: ChangeKind::Added, object: named(&format!("pod{version}"), version), previous: None, at: Instant::START }
    }

    fn keep(queue: &mut Queue, version: u64, demand: Demand) -> Kept {
        let change = change(version);
        queue.keep(&change, &Conversion::new(&change), EventKind::Added, demand)
    }

    fn drained(queue: &mut Queue) -> Vec<(EventKind, u64)> {
        std::iter::from_fn(|| queue.pop()).map(|event| (event.kind, event.version.as_u64().unwrap())).collect()
    }

    #[test]
    fn one_that_may_not_skip_blocks_until_there_is_room() {
        let mut queue = Queue::new(Vec::new(), Version::ZERO, 1, OnOverflow::Terminate);
        assert_eq!(keep(&mut queue, 1, Demand::None), Kept::Waits);
        assert_eq!(keep(&mut queue, 2, Demand::None), Kept::Blocked);
        assert_eq!((queue.retry(Demand::None), queue.before_blocked()), (Retried::Blocked, Some(Version::from(1))));
        assert!(!queue.push_bookmark(Demand::All, || unreachable!("it may not overtake what is blocked")));
        assert_eq!((queue.retry(Demand::All), queue.retry(Demand::All)), (Retried::Placed, Retried::Gone));
        assert_eq!(drained(&mut queue), [(EventKind::Added, 1), (EventKind::Added, 2)]);
    }

    #[test]
    fn one_that_skips_says_so_once_and_tells_the_difference_at_the_end() {
        for (on_overflow, told) in [(OnOverflow::Resync, true), (OnOverflow::Coalesce, false)] {
            let mut queue = Queue::new(Vec::new(), Version::ZERO, 1, on_overflow);
            let kept = [1, 2, 3].map(|version| keep(&mut queue, version, Demand::None));
            assert_eq!(kept, [Kept::Waits, Kept::Skips, Kept::Waits]);
            let mut expected = vec![(EventKind::Added, 1), (EventKind::Added, 2), (EventKind::Added, 3)];
            if told {
                expected.insert(1, (EventKind::Resync, 1));
            }
            assert_eq!(drained(&mut queue), expected);
            assert!(queue.is_empty());
        }
    }

    #[test]
    fn a_stream_ends_before_what_found_no_room() {
        for (on_overflow, reached) in [(OnOverflow::Terminate, 1), (OnOverflow::Resync, 1)] {
            let mut queue = Queue::new(Vec::new(), Version::ZERO, 1, on_overflow);
            keep(&mut queue, 1, Demand::None);
            keep(&mut queue, 2, Demand::None);
            assert_eq!(queue.close(&Version::from(9)), Version::from(reached));
            assert_eq!(drained(&mut queue), [(EventKind::Added, 1)]);
        }
        let mut ahead = Queue::new(Vec::new(), Version::from(12), 1, OnOverflow::Terminate);
        assert_eq!(ahead.close(&Version::from(9)), Version::from(12), "it has missed nothing before its beginning");
    }

    #[test]
    fn a_bookmark_that_was_to_end_the_initial_events_is_dropped_when_another_has() {
        let mut queue = Queue::new(vec![WatchEvent::bookmark(Version::from(5), true)], Version::from(5), 9, OnOverflow::Terminate);
        for version in [5, 6] {
            assert!(queue.push_bookmark(Demand::None, || WatchEvent::bookmark(Version::from(version), false)));
        }
        assert_eq!(drained(&mut queue), [(EventKind::InitialEventsEnd, 5), (EventKind::Bookmark, 6)]);
    }
}
