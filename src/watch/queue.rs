//! What waits for one subscriber: its interval, live events, and what found no room after them; and what the subscriber takes of it.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::change::Change;
use crate::object::{Holder, Object};
use crate::selector::Interest;
use crate::status::Status;
use crate::version::Version;

use super::convert::Conversion;
use super::demand::Demand;
use super::event::{EventKind, WatchEvent};
use super::overflow::{OnOverflow, Overflow};

/// Events in the order of their delivery. What is delivered is a prefix of what matched, except where the subscriber asked for less.
#[derive(Debug, Default)]
pub(super) struct Queue {
    // What comes before the live events and does not count against the capacity: the interval, and later the differences of an overflow.
    uncounted: VecDeque<WatchEvent>,
    live: VecDeque<WatchEvent>,
    excess: Excess,
    // What the subscriber takes now.
    demand: Demand,
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
pub(super) enum Pushed {
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

/// What a stream loses when that is dropped which waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// No event.
    Nothing,
    /// All events after this version. A watch from there has them again.
    After(Version),
    /// Part of a state or of a difference. No version stands for what was heard of it.
    ForGood,
}

impl Queue {
    /// Begins with an interval, behind which only events above the gate come.
    pub(super) fn begin(&mut self, interval: Vec<WatchEvent>, gate: Version, capacity: usize, on_overflow: OnOverflow) {
        *self = Self { uncounted: interval.into(), gate, capacity, on_overflow, demand: self.demand, ..Self::default() };
    }

    /// What the subscriber takes now.
    #[inline]
    pub(super) fn demand(&self) -> Demand {
        self.demand
    }

    /// The subscriber takes events from now on in this way.
    pub(super) fn set_demand(&mut self, demand: Demand) {
        self.demand = demand;
    }

    /// A flush is over, and with it a batch that has received something.
    pub(super) fn end_batch(&mut self) {
        self.demand.end_batch();
    }

    /// Whether an event of this version is for the subscriber.
    #[inline]
    pub(super) fn hears(&self, version: &Version) -> bool {
        *version > self.gate
    }

    /// Whether an event may pass the queue by: nothing waits before it, and the subscriber takes it.
    #[inline]
    pub(super) fn goes_straight(&self) -> bool {
        self.is_empty() && self.demand.wants_more(self.capacity)
    }

    /// Notes that an event passed the queue by; whether it was the first of a batch.
    #[inline]
    pub(super) fn took_first(&mut self) -> bool {
        self.demand.took_first()
    }

    /// Whether nothing waits for the subscriber.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.uncounted.is_empty() && self.live.is_empty() && matches!(self.excess, Excess::None)
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

    fn resyncs(&self) -> bool {
        self.on_overflow == OnOverflow::Resync
    }

    /// Whether the subscriber is told each change by itself, and never a difference.
    pub(super) fn tells_every_change(&self) -> bool {
        self.on_overflow == OnOverflow::Terminate
    }

    /// Whether the stream outlives a relist at this version. It must be where the cacher is, for what it then tells is the difference from there.
    pub(super) fn outlives_relist(&self, reached: &Version) -> bool {
        self.resyncs() && self.gate <= *reached
    }

    /// Whether another live event may wait. Who takes everything always has room: what waits then waits for the next flush alone, and that is
    /// not the subscriber's fault.
    fn has_room(&self) -> bool {
        self.demand == Demand::All || self.live.len() < self.capacity
    }

    /// Adds a change as the event of this kind. Where there is no room, it blocks or is merged.
    pub(super) fn push(&mut self, change: &Change, conversion: &Conversion<'_>, kind: EventKind) -> Pushed {
        let skips = matches!(self.excess, Excess::Skipped(_));
        if !skips && self.has_room() {
            self.live.push_back(conversion.event(kind));
            Pushed::Waits
        } else if self.tells_every_change() {
            self.excess = Excess::Blocked(Box::new(conversion.event(kind)));
            Pushed::Blocked
        } else {
            self.skip(change, kind);
            if skips { Pushed::Waits } else { Pushed::Skips }
        }
    }

    /// Makes a change part of the difference that the watcher is told later.
    fn skip(&mut self, change: &Change, kind: EventKind) {
        let before = change.previous.as_ref().filter(|_| kind != EventKind::Added);
        let after = (kind != EventKind::Deleted).then_some(&change.object);
        self.skip_after(|| change.version().predecessor().unwrap_or_default());
        self.merge(before, after, [change.version(), change.object.version()]);
    }

    /// From here on the watcher is told differences, unless it is already.
    pub(super) fn skip_after(&mut self, reached: impl FnOnce() -> Version) {
        if let Excess::None = self.excess {
            self.excess = Excess::Skipped(Box::new(Overflow::new(reached())));
        }
    }

    /// Adds what became of an object to the difference, as the watcher sees it. Nothing happens to one that is told every change.
    pub(super) fn merge(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, versions: [&Version; 2]) {
        if let (Excess::Skipped(overflow), Some(object)) = (&mut self.excess, after.or(before)) {
            overflow.merge(object.key(), before, after, versions);
        }
    }

    /// Tries to place the event that found no room.
    pub(super) fn retry(&mut self) -> Retried {
        match std::mem::take(&mut self.excess) {
            Excess::Blocked(event) if self.has_room() => {
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
    pub(super) fn push_bookmark(&mut self, make: impl FnOnce() -> WatchEvent) -> bool {
        let fits = matches!(self.excess, Excess::None) && self.has_room();
        if fits {
            self.live.push_back(make());
        }
        fits
    }

    /// Adds the event with which a stream fails, behind everything that waits.
    pub(super) fn push_failure(&mut self, status: &Status) {
        let last = if self.live.is_empty() { &mut self.uncounted } else { &mut self.live };
        last.push_back(WatchEvent { kind: EventKind::Error, object: Object::status(status), version: Version::ZERO, before: None });
    }

    /// Takes the next event, if the subscriber wants one.
    pub(super) fn next_wanted(&mut self, interest: Option<&Interest>) -> Option<WatchEvent> {
        if !self.demand.wants_more(self.capacity) {
            return None;
        }
        let event = self.pop(interest)?;
        self.demand.took_first();
        Some(event)
    }

    fn pop(&mut self, interest: Option<&Interest>) -> Option<WatchEvent> {
        loop {
            match self.uncounted.pop_front().or_else(|| self.live.pop_front()) {
                // A plain bookmark that came while initial events waited. Their own end has told this version.
                Some(event) if event.kind == EventKind::Bookmark && event.version <= self.gate => {}
                Some(event) => return Some(event),
                None => self.catch_up(interest)?,
            }
        }
    }

    /// Turns what was skipped into events.
    fn catch_up(&mut self, interest: Option<&Interest>) -> Option<()> {
        match std::mem::take(&mut self.excess) {
            Excess::Skipped(overflow) => {
                let told = self.resyncs().then(|| WatchEvent::resync(overflow.since.clone()));
                self.uncounted = told.into_iter().chain(overflow.into_events(interest)).collect();
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

    /// Drops what waits.
    pub(super) fn discard(&mut self) -> Lost {
        let (uncounted, live) = (std::mem::take(&mut self.uncounted), std::mem::take(&mut self.live));
        if !uncounted.is_empty() {
            return Lost::ForGood;
        }
        // A bookmark takes nothing with it, and may stand at the version of the last event that was heard.
        match live.iter().find(|event| event.kind != EventKind::Bookmark) {
            Some(first) => first.version.predecessor().map_or(Lost::ForGood, Lost::After),
            None => Lost::Nothing,
        }
    }

    /// Bytes of the objects that wait here and that nobody but readers hold.
    pub(super) fn late_bytes(&self) -> usize {
        let late = |object: &Rc<Object>| if object.holder() == Holder::Nobody { object.size() } else { 0 };
        let waiting: usize = self.uncounted.iter().chain(&self.live).map(|event| late(&event.object)).sum();
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
        Change::new(ChangeKind::Added, named(&format!("pod{version}"), version), None, Instant::START)
    }

    fn begun(interval: Vec<WatchEvent>, gate: u64, capacity: usize, on_overflow: OnOverflow) -> Queue {
        let mut queue = Queue::default();
        queue.begin(interval, Version::from(gate), capacity, on_overflow);
        queue
    }

    fn push(queue: &mut Queue, version: u64) -> Pushed {
        let change = change(version);
        queue.push(&change, &Conversion::new(&change), EventKind::Added)
    }

    fn drained(queue: &mut Queue) -> Vec<(EventKind, u64)> {
        std::iter::from_fn(|| queue.pop(None)).map(|event| (event.kind, event.version.as_u64().unwrap())).collect()
    }

    #[test]
    fn one_that_may_not_skip_blocks_until_there_is_room() {
        let mut queue = begun(Vec::new(), 0, 1, OnOverflow::Terminate);
        assert_eq!(push(&mut queue, 1), Pushed::Waits);
        assert_eq!(push(&mut queue, 2), Pushed::Blocked);
        assert_eq!((queue.retry(), queue.before_blocked()), (Retried::Blocked, Some(Version::from(1))));
        queue.set_demand(Demand::All);
        assert!(!queue.push_bookmark(|| unreachable!("it may not overtake what is blocked")));
        assert_eq!((queue.retry(), queue.retry()), (Retried::Placed, Retried::Gone));
        assert_eq!(drained(&mut queue), [(EventKind::Added, 1), (EventKind::Added, 2)]);
    }

    #[test]
    fn one_that_skips_says_so_once_and_tells_the_difference_at_the_end() {
        for (on_overflow, told) in [(OnOverflow::Resync, true), (OnOverflow::Coalesce, false)] {
            let mut queue = begun(Vec::new(), 0, 1, on_overflow);
            let pushed = [1, 2, 3].map(|version| push(&mut queue, version));
            assert_eq!(pushed, [Pushed::Waits, Pushed::Skips, Pushed::Waits]);
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
            let mut queue = begun(Vec::new(), 0, 1, on_overflow);
            push(&mut queue, 1);
            push(&mut queue, 2);
            assert_eq!(queue.close(&Version::from(9)), Version::from(reached));
            assert_eq!(drained(&mut queue), [(EventKind::Added, 1)]);
        }
        let mut ahead = begun(Vec::new(), 12, 1, OnOverflow::Terminate);
        assert_eq!(ahead.close(&Version::from(9)), Version::from(12), "it has missed nothing before its beginning");
    }

    #[test]
    fn a_bookmark_that_was_to_end_the_initial_events_is_dropped_when_another_has() {
        let mut queue = begun(vec![WatchEvent::bookmark(Version::from(5), true)], 5, 9, OnOverflow::Terminate);
        for version in [5, 6] {
            assert!(queue.push_bookmark(|| WatchEvent::bookmark(Version::from(version), false)));
        }
        assert_eq!(drained(&mut queue), [(EventKind::InitialEventsEnd, 5), (EventKind::Bookmark, 6)]);
    }

    #[test]
    fn law_08_bounded_objects_count_here_once_nobody_else_holds_them() {
        for on_overflow in [OnOverflow::Terminate, OnOverflow::Coalesce] {
            let mut queue = begun(Vec::new(), 0, 1, on_overflow);
            assert_eq!(queue.late_bytes(), 0);
            let changes = [1, 2].map(change);
            changes.iter().for_each(|change| _ = queue.push(change, &Conversion::new(change), EventKind::Added));
            let sizes = changes.each_ref().map(|change| change.object.size());
            assert_eq!(queue.late_bytes(), sizes[0] + sizes[1], "one that waits, and one that found no room or was merged");
            changes[0].object.set_holder(Holder::Window);
            assert_eq!(queue.late_bytes(), sizes[1]);
            changes[1].object.set_holder(Holder::Store);
            assert_eq!(queue.late_bytes(), 0);
        }
    }
}
