//! One watcher: its filter, what waits for it, and where it stands in its life.

use std::rc::Rc;

use crate::change::Change;
use crate::growth::Growth;
use crate::object::Object;
use crate::selector::Filter;
use crate::status::{Error, Status};
use crate::time::Instant;
use crate::version::Version;

use super::bookmark::Bookmarks;
use super::convert::Conversion;
use super::demand::Demand;
use super::event::{EndReason, EventKind, WatchEvent};
use super::overflow::OnOverflow;
use super::queue::{Kept, Queue, Retried};
use super::route::Route;

/// How a watcher begins, captured in one step with its start.
#[derive(Debug, Default)]
pub struct Beginning {
    /// The initial events.
    pub interval: Vec<WatchEvent>,
    /// Events up to this version are part of the interval, or before it.
    pub gate: Version,
    /// How many live events may wait.
    pub capacity: usize,
    /// What becomes of more than that.
    pub on_overflow: OnOverflow,
    /// Which bookmarks it gets.
    pub bookmarks: Bookmarks,
    /// When the stream ends by itself.
    pub deadline: Option<Instant>,
}

/// A watcher.
#[derive(Debug)]
pub struct Watcher {
    filter: Rc<Filter>,
    // Tells it from others that had or will have its id.
    serial: u64,
    // The last event that visited it.
    visit: u64,
    demand: Demand,
    queue: Queue,
    state: State,
    growth: Growth,
}

/// Where it stands in its life.
#[derive(Debug)]
enum State {
    /// It waits until its initial events can be captured, and hears of nothing.
    Waiting,
    /// It hears of changes.
    Live(Live),
    /// Its stream is over. What waits is still delivered, and then the end is told.
    Ended(End),
    /// The subscriber is gone: nothing is delivered under this id any more.
    Retired,
}

/// What a watcher has while it hears of changes.
#[derive(Debug)]
pub(super) struct Live {
    /// Where it is filed.
    pub(super) route: Route,
    /// Which bookmarks it gets.
    pub(super) bookmarks: Bookmarks,
    /// When the stream ends by itself.
    pub(super) deadline: Option<Instant>,
}

#[derive(Debug)]
struct End {
    reason: EndReason,
    told: bool,
    resume_from: Option<Version>,
    error: Option<Box<Error>>,
}

impl Watcher {
    /// A watcher that waits for its start.
    pub(super) fn new(filter: Filter, serial: u64) -> Self {
        Self {
            filter: Rc::new(filter),
            serial,
            visit: 0,
            demand: Demand::None,
            queue: Queue::default(),
            state: State::Waiting,
            growth: Growth::default(),
        }
    }

    // ------------------------------------------------------------------------------------------------- what it is

    /// Which objects it is about.
    #[inline]
    pub fn filter(&self) -> &Rc<Filter> {
        &self.filter
    }

    /// Shares the filter of another watcher that asks for the same.
    pub(super) fn share_filter(&mut self, filter: Rc<Filter>) {
        self.filter = filter;
    }

    /// Tells it from others that had or will have its id.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// How many live events may wait.
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// The version behind which it hears of events; `None` before its start.
    pub fn gate(&self) -> Option<&Version> {
        (!matches!(self.state, State::Waiting) && !self.queue.gate().is_zero()).then(|| self.queue.gate())
    }

    /// Why the watch was refused, or cut short for want of memory.
    pub fn refusal(&self) -> Option<&Error> {
        self.end_of()?.error.as_deref()
    }

    /// All that matched up to here was delivered. Known when the stream has ended, unless it never began or its interval was cut short.
    pub fn resume_from(&self) -> Option<&Version> {
        self.end_of()?.resume_from.as_ref()
    }

    fn end_of(&self) -> Option<&End> {
        if let State::Ended(end) = &self.state { Some(end) } else { None }
    }

    /// Whether it still waits for its start.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting)
    }

    /// What it has while it hears of changes.
    pub(super) fn live(&self) -> Option<&Live> {
        if let State::Live(live) = &self.state { Some(live) } else { None }
    }

    /// The same, to change it.
    pub(super) fn live_mut(&mut self) -> Option<&mut Live> {
        if let State::Live(live) = &mut self.state { Some(live) } else { None }
    }

    /// Whether it may still hear of anything.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Waiting | State::Live(_))
    }

    /// Whether its subscriber is gone.
    pub(super) fn is_retired(&self) -> bool {
        matches!(self.state, State::Retired)
    }

    // ------------------------------------------------------------------------------------------------- its life

    /// It hears of changes from now on.
    pub(super) fn start(&mut self, beginning: Beginning, route: Route) {
        let Beginning { interval, gate, capacity, on_overflow, bookmarks, deadline } = beginning;
        self.queue = Queue::new(interval, gate, capacity, on_overflow);
        self.state = State::Live(Live { route, bookmarks, deadline });
    }

    /// Ends the stream. What waits is still delivered, except where the subscriber itself stopped it. The first reason counts.
    ///
    /// Returns what it had while it was live.
    pub(super) fn end(&mut self, reason: EndReason, reached: &Version) -> Option<Live> {
        let live = match std::mem::replace(&mut self.state, State::Retired) {
            State::Waiting => {
                self.state = State::Ended(End { reason, told: false, resume_from: None, error: None });
                None
            }
            State::Live(live) => {
                let resume_from = Some(self.queue.close(reached));
                self.state = State::Ended(End { reason, told: false, resume_from, error: None });
                Some(live)
            }
            over => {
                self.state = over;
                None
            }
        };
        if reason == EndReason::Stopped {
            self.discard();
        }
        live
    }

    /// What waits is not delivered any more. The subscriber may resume where it stopped hearing, not where the cacher is.
    pub(super) fn discard(&mut self) {
        let lost = self.queue.discard();
        if let (State::Ended(end), Some(resume_from)) = (&mut self.state, lost) {
            end.resume_from = resume_from;
        }
    }

    /// It has ended with an error that no event tells.
    pub(super) fn refuse(&mut self, error: Error) {
        if let State::Ended(end) = &mut self.state {
            end.error = Some(Box::new(error));
        }
    }

    /// Adds the event with which it fails, behind everything that waits.
    pub(super) fn push_failure(&mut self, status: &Status) {
        self.queue.push_failure(status);
    }

    /// The reason of its end, once everything before it is delivered; told once.
    pub(super) fn take_end(&mut self) -> Option<EndReason> {
        let State::Ended(end) = &mut self.state else { return None };
        (!std::mem::replace(&mut end.told, true)).then_some(end.reason)
    }

    /// The subscriber is gone.
    pub(super) fn retire(&mut self) {
        self.state = State::Retired;
        self.queue = Queue::default();
    }

    // ------------------------------------------------------------------------------------------------- events

    /// Notes the visit of an event; whether that is its first of this number.
    #[inline]
    pub(super) fn visit(&mut self, number: u64) -> bool {
        std::mem::replace(&mut self.visit, number) != number
    }

    /// Whether an event of this version is for it.
    #[inline]
    pub(super) fn hears(&self, version: &Version) -> bool {
        version > self.queue.gate()
    }

    /// Whether an event may go straight to the subscriber: nothing waits before it, and the subscriber takes it.
    #[inline]
    pub(super) fn is_direct(&self) -> bool {
        self.queue.is_empty() && self.demand.wants_more(self.queue.capacity())
    }

    /// Notes that an event went straight to the subscriber; whether it was the first of a batch.
    #[inline]
    pub(super) fn took_first(&mut self) -> bool {
        self.demand.took_first()
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

    /// Keeps a change until the subscriber takes it.
    pub(super) fn keep(&mut self, change: &Change, conversion: &Conversion<'_>, kind: EventKind) -> Kept {
        self.queue.keep(change, conversion, kind, self.demand)
    }

    /// Tries to place the event that found no room.
    pub(super) fn retry(&mut self) -> Retried {
        self.queue.retry(self.demand)
    }

    /// The version before the event that found no room.
    pub(super) fn before_blocked(&self) -> Option<Version> {
        self.queue.before_blocked()
    }

    /// Whether it outlives a relist at this version. It must be where the cacher is, for what it then hears is the difference from there.
    pub(super) fn outlives_relist(&self, reached: &Version) -> bool {
        self.queue.resyncs() && self.queue.gate() <= reached
    }

    /// From this version on it is told differences.
    pub(super) fn skip_after(&mut self, reached: &Version) {
        self.queue.skip_after(|| reached.clone());
    }

    /// Adds what became of an object to the difference that it is told: `before` and `after` only where they pass its filter.
    pub(super) fn merge(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, version: &Version) {
        self.queue.merge(before, after, version);
    }

    /// Adds a bookmark, where it says something new and may be told now; whether it did.
    pub(super) fn push_bookmark(&mut self, version: &Version, make: impl FnOnce() -> WatchEvent) -> bool {
        let State::Live(live) = &mut self.state else { return false };
        let told = live.bookmarks.want(version, self.queue.gate()) && self.queue.push_bookmark(self.demand, make);
        if told {
            live.bookmarks.queued();
        }
        told
    }

    /// Takes the next event for the subscriber, if it wants one.
    pub(super) fn next_wanted(&mut self) -> Option<WatchEvent> {
        if !self.demand.wants_more(self.queue.capacity()) {
            return None;
        }
        let event = self.queue.pop()?;
        self.demand.took_first();
        if let (EventKind::InitialEventsEnd, State::Live(live)) = (event.kind, &mut self.state) {
            live.bookmarks.delivered_end();
        }
        Some(event)
    }

    /// Whether nothing waits for the subscriber.
    pub(super) fn is_drained(&self) -> bool {
        self.queue.is_empty()
    }

    // ------------------------------------------------------------------------------------------------- memory

    /// By how many bytes that nobody but readers hold it has grown lately.
    pub(super) fn grown(&self) -> usize {
        self.growth.until(self.queue.held())
    }

    /// Notes what waits now.
    pub(super) fn mark(&mut self) {
        self.growth.mark(self.queue.held());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeKind;
    use crate::testing::named;

    fn stopped(waiting: &[u64], bookmark: Option<u64>) -> Option<u64> {
        let mut watcher = Watcher::new(Filter::default(), 1);
        watcher.start(Beginning { capacity: 9, bookmarks: Bookmarks::Regular, ..Beginning::default() }, Route::default());
        if let Some(version) = bookmark.map(Version::from) {
            assert!(watcher.push_bookmark(&version, || WatchEvent::bookmark(version.clone(), false)));
        }
        for &version in waiting {
            let change = Change { kind: ChangeKind::Added, object: named("x", version), previous: None, at: Instant::START };
            assert_eq!(watcher.keep(&change, &Conversion::new(&change), EventKind::Added), Kept::Waits);
        }
        assert!(watcher.end(EndReason::Stopped, &Version::from(9)).is_some());
        assert!(watcher.is_drained());
        watcher.resume_from().and_then(Version::as_u64)
    }

    #[test]
    fn an_idle_watcher_costs_little() {
        assert!(size_of::<Watcher>() <= 400, "{} bytes", size_of::<Watcher>());
    }

    #[test]
    fn who_stops_goes_on_before_the_first_event_it_did_not_hear() {
        assert_eq!(stopped(&[], None), Some(9));
        assert_eq!(stopped(&[8, 9], None), Some(7));
        assert_eq!(stopped(&[], Some(7)), Some(9));
        assert_eq!(stopped(&[9], Some(7)), Some(8));
    }

    #[test]
    fn a_life_goes_one_way_and_the_first_reason_counts() {
        let mut watcher = Watcher::new(Filter::default(), 1);
        assert!(watcher.is_waiting() && watcher.is_open() && watcher.gate().is_none());
        watcher.start(Beginning { gate: Version::from(3), ..Beginning::default() }, Route::default());
        assert!(watcher.live().is_some() && watcher.gate() == Some(&Version::from(3)));
        assert!(watcher.end(EndReason::Relist, &Version::from(5)).is_some());
        assert!(watcher.end(EndReason::Timeout, &Version::from(6)).is_none() && !watcher.is_open());
        assert_eq!((watcher.take_end(), watcher.take_end()), (Some(EndReason::Relist), None));
        assert_eq!(watcher.resume_from(), Some(&Version::from(5)));
        watcher.retire();
        assert!(watcher.is_retired() && watcher.end(EndReason::Stopped, &Version::ZERO).is_none() && watcher.is_retired());
    }

    #[test]
    fn one_that_never_began_has_nothing_to_resume_from() {
        let mut watcher = Watcher::new(Filter::default(), 1);
        assert!(watcher.end(EndReason::Error, &Version::from(5)).is_none());
        watcher.refuse(Error::closed());
        assert!(watcher.resume_from().is_none() && watcher.refusal().is_some());
    }
}
