//! One watcher: its filter, its gate, what it has not delivered yet, and how it ends.

use std::collections::VecDeque;

use crate::runtime::Millis;
use crate::status::Error;
use crate::version::Version;
use crate::watch::event::{EndReason, EventKind, WatchEvent};
use crate::watch::filter::Filter;

/// Whether the subscriber takes events at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Nothing: events wait here.
    None,
    /// One batch: what comes until the next flush. Counts what was taken.
    Batch(usize),
    /// Everything, at each flush.
    All,
}

/// Whether a bookmark that ends the initial events is still owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookmarkState {
    /// Owed, at this version or later.
    Waiting(Version),
    /// Delivered, or never owed.
    Sent,
}

/// A watcher. It is gap-free: what it delivers is a prefix of what matched since its start.
#[derive(Debug)]
pub struct Watcher {
    /// Which objects it is about.
    pub filter: Filter,
    /// Whether every object passes; then nothing is evaluated.
    pub everything: bool,
    /// Tells it from others that had or will have its id.
    pub serial: u64,
    /// Whether its initial events were captured; until then it waits for readiness or freshness.
    pub started: bool,
    /// Events up to this version are part of the initial events, or before the start. Fixed after the start.
    pub gate: Version,
    /// Initial events; they do not count against the capacity.
    pub backlog: VecDeque<WatchEvent>,
    /// Live events that the subscriber has not taken.
    pub queue: VecDeque<WatchEvent>,
    /// How many live events may wait.
    pub capacity: usize,
    /// What the subscriber takes now.
    pub demand: Demand,
    /// Whether bookmarks are wanted.
    pub bookmarks: bool,
    /// Whether the end of the initial events was told.
    pub bookmark_state: BookmarkState,
    /// When the stream ends by itself.
    pub deadline: Option<Millis>,
    /// Why the stream ends once everything is delivered.
    pub ended: Option<EndReason>,
    /// Whether that was told.
    pub end_told: bool,
    /// Why the watch was refused.
    pub refusal: Option<Error>,
    /// All that matched up to here was delivered; known when the stream has ended, unless it never began or its initial events
    /// were cut short.
    pub resume_from: Option<Version>,
}

impl Watcher {
    /// A watcher that has not started: it hears of nothing.
    pub fn new(filter: Filter) -> Self {
        Self {
            everything: filter.is_everything(),
            filter,
            serial: 0,
            started: false,
            gate: Version::ZERO,
            backlog: VecDeque::new(),
            queue: VecDeque::new(),
            capacity: 0,
            demand: Demand::None,
            bookmarks: false,
            bookmark_state: BookmarkState::Sent,
            deadline: None,
            ended: None,
            end_told: false,
            refusal: None,
            resume_from: None,
        }
    }

    /// Whether an event may go straight to the subscriber: nothing waits before it, and the subscriber takes it.
    #[inline]
    pub fn is_direct(&self) -> bool {
        if !self.queue.is_empty() || !self.backlog.is_empty() {
            return false;
        }
        match self.demand {
            Demand::None => false,
            Demand::Batch(taken) => taken < self.capacity,
            Demand::All => true,
        }
    }

    /// Notes that an event went straight to the subscriber; whether it was the first of a batch.
    #[inline]
    pub fn took_first(&mut self) -> bool {
        let Demand::Batch(taken) = &mut self.demand else { return false };
        *taken += 1;
        *taken == 1
    }

    /// Whether another live event may wait. Always for who takes everything: what waits then waits for the next flush alone, and
    /// that is not the subscriber's fault.
    pub fn has_room(&self) -> bool {
        self.demand == Demand::All || self.queue.len() < self.capacity
    }

    /// Takes the next event for the subscriber, if it wants one.
    pub fn next_wanted(&mut self) -> Option<WatchEvent> {
        match &mut self.demand {
            Demand::None => return None,
            Demand::Batch(taken) if *taken >= self.capacity.max(1) => return None,
            Demand::Batch(taken) => {
                let event = self.backlog.pop_front().or_else(|| self.queue.pop_front())?;
                *taken += 1;
                return Some(event);
            }
            Demand::All => {}
        }
        self.backlog.pop_front().or_else(|| self.queue.pop_front())
    }

    /// Whether nothing waits for the subscriber.
    pub fn is_drained(&self) -> bool {
        self.backlog.is_empty() && self.queue.is_empty()
    }

    /// Ends the stream. What waits is still delivered, except when the subscriber itself stopped it. The first reason counts.
    pub fn end(&mut self, reason: EndReason, reached: &Version) {
        if self.ended.is_some() {
            if reason == EndReason::Stopped {
                self.discard();
            }
            return;
        }
        self.ended = Some(reason);
        self.resume_from = self.started.then(|| reached.clone());
        if reason == EndReason::Stopped {
            self.discard();
        }
    }

    fn discard(&mut self) {
        // The subscriber may resume where it stopped hearing, not where the cacher is.
        if !self.backlog.is_empty() {
            self.resume_from = None;
        } else if let Some(first) = self.queue.iter().find(|event| event.kind != EventKind::Bookmark) {
            // A bookmark takes nothing with it, and may stand at the version of the last event that was heard.
            self.resume_from = first.version.predecessor();
        }
        self.backlog.clear();
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    fn stopped(waiting: Vec<WatchEvent>) -> Option<Version> {
        let mut watcher = Watcher::new(Filter::default());
        watcher.started = true;
        watcher.queue = waiting.into();
        watcher.end(EndReason::Stopped, &Version::from(9));
        assert!(watcher.is_drained());
        watcher.resume_from
    }

    #[test]
    fn who_stops_goes_on_before_the_first_event_it_did_not_hear() {
        let event = |version| WatchEvent::of(EventKind::Added, named("x", version));
        let bookmark = || WatchEvent::bookmark(Version::from(7), false);
        assert_eq!(stopped(vec![]), Some(Version::from(9)));
        assert_eq!(stopped(vec![event(8), event(9)]), Some(Version::from(7)));
        assert_eq!(stopped(vec![bookmark()]), Some(Version::from(9)));
        assert_eq!(stopped(vec![bookmark(), event(9)]), Some(Version::from(8)));
    }
}
