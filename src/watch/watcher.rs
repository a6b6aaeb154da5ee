//! One watcher: its filter, its gate, what it has not delivered yet, and how it ends.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::growth::Growth;
use crate::object::{Holder, Object};
use crate::runtime::Millis;
use crate::selector::Filter;
use crate::status::Error;
use crate::version::Version;
use crate::watch::event::{EndReason, EventKind, WatchEvent};
use crate::watch::overflow::{OnOverflow, Overflow};
use crate::watch::registry::Route;

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

impl Demand {
    /// The demand of a number that crossed to here.
    pub fn numbered(mode: u8) -> Option<Self> {
        Some(match mode {
            0 => Self::None,
            1 => Self::Batch(0),
            2 => Self::All,
            _ => return None,
        })
    }
}

/// Whether the bookmark that ends the initial events was delivered. Until then no bookmark before its version is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookmarkState {
    /// Owed, at this version or later.
    Waiting(Version),
    /// A bookmark that is late enough waits in the queue.
    Received,
    /// Delivered, or never owed.
    Sent,
}

/// A watcher. It is gap-free: what it delivers is a prefix of what matched since its start, except where it asked for less.
#[derive(Debug)]
pub struct Watcher {
    /// Which objects it is about.
    pub filter: Rc<Filter>,
    /// Whether every object passes; then nothing is evaluated.
    pub everything: bool,
    /// Tells it from others that had or will have its id.
    pub serial: u64,
    /// Whether its initial events were captured; until then it waits for readiness or freshness.
    pub started: bool,
    /// Events up to this version are part of the initial events, or before the start. Fixed after the start.
    pub gate: Version,
    /// Where it is filed while it runs.
    pub route: Route,
    /// The last event that visited it.
    pub visit: u64,
    /// Initial events, and differences; they do not count against the capacity.
    pub backlog: VecDeque<WatchEvent>,
    /// Live events that the subscriber has not taken.
    pub queue: VecDeque<WatchEvent>,
    /// How many live events may wait.
    pub capacity: usize,
    /// What becomes of more than that.
    pub on_overflow: OnOverflow,
    /// More than that, waiting behind the queue.
    pub overflow: Option<Box<Overflow>>,
    /// What the subscriber takes now.
    pub demand: Demand,
    /// Whether bookmarks are wanted.
    pub bookmarks: bool,
    /// Whether the end of the initial events was told.
    pub bookmark_state: BookmarkState,
    /// When the stream ends by itself.
    pub deadline: Option<Millis>,
    /// An event that found no room, and that nothing may overtake.
    pub blocked: Option<Box<WatchEvent>>,
    /// Whether the subscriber is gone: nothing is delivered under this id any more.
    pub retired: bool,
    /// Why the stream ends once everything is delivered.
    pub ended: Option<EndReason>,
    /// Whether that was told.
    pub end_told: bool,
    /// Why the watch was refused, or cut short for want of memory.
    pub refusal: Option<Box<Error>>,
    /// All that matched up to here was delivered; known when the stream has ended, unless it never began or its initial events
    /// were cut short.
    pub resume_from: Option<Version>,
    /// Of what waits for it, in bytes.
    pub(crate) growth: Growth,
}

impl Watcher {
    /// A watcher that has not started: it hears of nothing.
    pub fn new(filter: impl Into<Rc<Filter>>) -> Self {
        let filter = filter.into();
        Self {
            everything: filter.is_everything(),
            filter,
            serial: 0,
            started: false,
            route: Route::default(),
            visit: 0,
            gate: Version::ZERO,
            backlog: VecDeque::new(),
            queue: VecDeque::new(),
            capacity: 0,
            on_overflow: OnOverflow::Terminate,
            overflow: None,
            demand: Demand::None,
            bookmarks: false,
            bookmark_state: BookmarkState::Sent,
            deadline: None,
            blocked: None,
            retired: false,
            ended: None,
            end_told: false,
            refusal: None,
            resume_from: None,
            growth: Growth::default(),
        }
    }

    /// Whether an event may go straight to the subscriber: nothing waits before it, and the subscriber takes it.
    #[inline]
    pub fn is_direct(&self) -> bool {
        self.is_drained() && self.wants_more()
    }

    #[inline]
    fn wants_more(&self) -> bool {
        match self.demand {
            Demand::None => false,
            Demand::Batch(taken) => taken < self.capacity.max(1),
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
    /// that is not the subscriber's fault. Never while others wait behind the queue.
    pub fn has_room(&self) -> bool {
        self.overflow.is_none() && (self.demand == Demand::All || self.queue.len() < self.capacity)
    }

    /// Takes the next event for the subscriber, if it wants one.
    pub fn next_wanted(&mut self) -> Option<WatchEvent> {
        if !self.wants_more() {
            return None;
        }
        loop {
            let Some(event) = self.backlog.pop_front().or_else(|| self.queue.pop_front()) else {
                self.catch_up()?;
                continue;
            };
            match event.kind {
                EventKind::InitialEventsEnd => self.bookmark_state = BookmarkState::Sent,
                // It was to end the initial events, and another has.
                EventKind::Bookmark if event.version <= self.gate => continue,
                _ => {}
            }
            if let Demand::Batch(taken) = &mut self.demand {
                *taken += 1;
            }
            return Some(event);
        }
    }

    /// Turns what waited behind the queue into events.
    fn catch_up(&mut self) -> Option<()> {
        let overflow = *self.overflow.take()?;
        let told = (self.on_overflow == OnOverflow::Resync).then(|| WatchEvent::resync(overflow.since.clone()));
        self.backlog = told.into_iter().chain(overflow.into_events()).collect();
        Some(())
    }

    /// Whether a bookmark of this version says something new to the subscriber.
    pub fn wants_bookmark(&self, version: &Version) -> bool {
        match &self.bookmark_state {
            BookmarkState::Waiting(after) => version >= after && version >= &self.gate,
            BookmarkState::Received | BookmarkState::Sent => *version > self.gate,
        }
    }

    /// Whether nothing waits for the subscriber.
    pub fn is_drained(&self) -> bool {
        self.backlog.is_empty() && self.queue.is_empty() && self.overflow.is_none()
    }

    /// Bytes of the objects that wait for it and that nobody but readers hold.
    pub(crate) fn held(&self) -> usize {
        let late = |object: &Rc<Object>| if object.holder() == Holder::Nobody { object.size() } else { 0 };
        let waiting: usize = self.backlog.iter().chain(&self.queue).chain(self.blocked.as_deref()).map(|event| late(&event.object)).sum();
        waiting + self.overflow.as_ref().map_or(0, |overflow| overflow.objects().map(late).sum())
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
        // What waits behind the queue is not delivered any more.
        let reached = self.overflow.take().map_or_else(|| reached.clone(), |overflow| overflow.since);
        // One that began ahead of the cacher has missed nothing before its beginning.
        self.resume_from = self.started.then(|| reached.max(self.gate.clone()));
        if reason == EndReason::Stopped {
            self.discard();
        }
    }

    /// It has ended, and what waits is not delivered.
    pub(crate) fn discard(&mut self) {
        // The subscriber may resume where it stopped hearing, not where the cacher is.
        if !self.backlog.is_empty() {
            self.resume_from = None;
        } else if let Some(first) = self.queue.iter().find(|event| event.kind != EventKind::Bookmark) {
            // A bookmark takes nothing with it, and may stand at the version of the last event that was heard.
            self.resume_from = first.version.predecessor();
        }
        self.backlog = VecDeque::new();
        self.queue = VecDeque::new();
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
    fn an_idle_watcher_costs_little() {
        assert!(size_of::<Watcher>() <= 400, "{} bytes", size_of::<Watcher>());
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
