//! One watcher: its filter, its life, and the queue of what waits for it.

use std::rc::Rc;

use crate::growth::Growth;
use crate::runtime::Task;
use crate::selector::{Filter, Interest};
use crate::status::Error;
use crate::time::Instant;
use crate::version::Version;

use super::bookmark::Bookmarks;
use super::event::{EndReason, EventKind, WatchEvent};
use super::life::{Life, Live};
use super::overflow::OnOverflow;
use super::queue::{Lost, Queue};
use super::route::Route;

/// How a watcher begins, captured in one step with its start.
#[derive(Debug, Default)]
pub struct Beginning {
    /// What it begins with.
    pub interval: Vec<WatchEvent>,
    /// Whether they are a state, in the order of keys, and no part of the window.
    pub of_state: bool,
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
    interest: Option<Rc<Interest>>,
    // Each watcher has another one. Ids are used again.
    serial: u64,
    // The last event that visited it.
    visit: u64,
    queue: Queue,
    life: Life,
    growth: Growth,
    // Whether its initial events are a state.
    of_state: bool,
}

impl Watcher {
    /// A watcher that waits for its start.
    pub(super) fn new(filter: Filter, interest: Option<Rc<Interest>>, serial: u64) -> Self {
        let (queue, life, growth) = (Queue::default(), Life::default(), Growth::default());
        Self { filter: Rc::new(filter), interest, serial, visit: 0, queue, life, growth, of_state: false }
    }

    // ------------------------------------------------------------------------------------------------- what it is

    /// Which objects it is about.
    #[inline]
    pub fn filter(&self) -> &Rc<Filter> {
        &self.filter
    }

    /// Of which fields it hears, where that is not all.
    #[inline]
    pub fn interest(&self) -> Option<&Rc<Interest>> {
        self.interest.as_ref()
    }

    /// Shares the filter of another watcher that asks for the same.
    pub(super) fn share_filter(&mut self, filter: Rc<Filter>) {
        self.filter = filter;
    }

    /// A number that no other watcher has. Ids are used again.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// How many live events may wait.
    pub fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    /// The version behind which it hears of events; `None` before its start.
    pub fn gate(&self) -> Option<&Version> {
        (!self.life.is_waiting() && !self.queue.gate().is_zero()).then(|| self.queue.gate())
    }

    /// Why the watch was refused, or cut short for want of memory.
    pub fn refusal(&self) -> Option<&Error> {
        self.life.ended()?.error.as_deref()
    }

    /// The version up to which all that matched was delivered. It is known once the stream has ended. `None` if the stream never began, if its
    /// interval was cut short, or if the cache held nothing yet.
    pub fn resume_from(&self) -> Option<&Version> {
        self.life.ended()?.resume_from.as_ref().filter(|version| !version.is_zero())
    }

    /// Whether a subscriber that missed what waits can go on from the last version that it saw. It cannot where that version says nothing of
    /// other objects. So it is amid a state, whose events come in the order of keys, and where a difference may have merged changes.
    pub fn resumes_from_seen(&self, past_initial_events: bool) -> bool {
        self.queue.tells_every_change() && (past_initial_events || !self.of_state)
    }

    /// Where it stands in its life.
    pub(super) fn life(&self) -> &Life {
        &self.life
    }

    /// Whether it is live, and all that it was to hear of was delivered.
    pub fn is_drained(&self) -> bool {
        self.life.live().is_some() && self.queue.is_empty()
    }

    /// What waits for its subscriber, and what that takes.
    #[inline]
    pub(super) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The same, to add to it or to take from it.
    #[inline]
    pub(super) fn queue_mut(&mut self) -> &mut Queue {
        &mut self.queue
    }

    // ------------------------------------------------------------------------------------------------- its life

    /// This task starts it, and ends when it has nothing more to wait for.
    pub(super) fn wait(&mut self, task: Task) {
        if self.life.is_waiting() {
            self.life = Life::Waiting { _start: Some(task) };
        }
    }

    /// It hears of changes from now on.
    pub(super) fn start(&mut self, beginning: Beginning, route: Route) {
        let Beginning { interval, of_state, gate, capacity, on_overflow, bookmarks, deadline } = beginning;
        self.of_state = of_state;
        self.queue.begin(interval, gate, capacity, on_overflow);
        self.life = Life::Live(Live { route, bookmarks, deadline });
    }

    /// It is filed elsewhere from now on.
    pub(super) fn refile(&mut self, route: Route) {
        if let Some(live) = self.life.live_mut() {
            live.route = route;
        }
    }

    /// Ends the stream. What waits is still delivered, except where the subscriber itself stopped it. The first reason counts.
    ///
    /// Returns what it had while it was live.
    pub(super) fn end(&mut self, reason: EndReason, reached: &Version) -> Option<Live> {
        let live = self.life.end(reason, || self.queue.close(reached));
        if reason == EndReason::Stopped {
            self.discard();
        }
        live
    }

    /// What waits is not delivered any more. The subscriber may resume where it stopped hearing, not where the cacher is.
    fn discard(&mut self) {
        let resume_from = match self.queue.discard() {
            Lost::Nothing => return,
            Lost::After(version) => Some(version),
            Lost::ForGood => None,
        };
        if let Some(end) = self.life.ended_mut() {
            end.resume_from = resume_from;
        }
    }

    /// Its stream, which has ended, is cut short with an error that no event tells.
    pub(super) fn cut(&mut self, error: Error) {
        self.discard();
        if let Some(end) = self.life.ended_mut() {
            end.error = Some(Box::new(error));
        }
    }

    /// The reason of its end, once everything before it is delivered; told once.
    pub(super) fn take_end(&mut self) -> Option<EndReason> {
        if self.queue.is_empty() { self.life.take_end() } else { None }
    }

    /// The subscriber is gone.
    pub(super) fn retire(&mut self) {
        self.life = Life::Retired;
        self.queue = Queue::default();
    }

    // ------------------------------------------------------------------------------------------------- events

    /// Notes the visit of an event; whether that is its first of this number.
    #[inline]
    pub(super) fn visit(&mut self, number: u64) -> bool {
        std::mem::replace(&mut self.visit, number) != number
    }

    /// Adds a bookmark, where it says something new and may be told now; whether it did.
    pub(super) fn push_bookmark(&mut self, version: &Version, make: impl FnOnce() -> WatchEvent) -> bool {
        let Some(live) = self.life.live_mut() else { return false };
        let told = live.bookmarks.want(version, self.queue.gate()) && self.queue.push_bookmark(make);
        if told {
            live.bookmarks.queued();
        }
        told
    }

    /// Takes the next event for the subscriber, if it wants one.
    pub(super) fn next_wanted(&mut self) -> Option<WatchEvent> {
        let event = self.queue.next_wanted(self.interest.as_deref())?;
        if let (EventKind::InitialEventsEnd, Some(live)) = (event.kind, self.life.live_mut()) {
            live.bookmarks.delivered_end();
        }
        Some(event)
    }

    // ------------------------------------------------------------------------------------------------- memory

    /// By how many bytes that nobody but readers hold it has grown lately.
    pub(super) fn grown(&self) -> usize {
        self.growth.until(self.queue.late_bytes())
    }

    /// Notes what waits now.
    pub(super) fn note_bytes(&mut self) {
        self.growth.note(self.queue.late_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, ChangeKind};
    use crate::testing::named;
    use crate::watch::convert::Conversion;
    use crate::watch::queue::Pushed;

    fn stopped(waiting: &[u64], bookmark: Option<u64>) -> Option<u64> {
        let mut watcher = Watcher::new(Filter::default(), None, 1);
        watcher.start(Beginning { capacity: 9, bookmarks: Bookmarks::Regular, ..Beginning::default() }, Route::default());
        if let Some(version) = bookmark.map(Version::from) {
            assert!(watcher.push_bookmark(&version, || WatchEvent::bookmark(version.clone(), false)));
        }
        for &version in waiting {
            let change = Change::new(ChangeKind::Added, named("x", version), None, Instant::START);
            assert_eq!(watcher.queue_mut().push(&change, &Conversion::new(&change), EventKind::Added), Pushed::Waits);
        }
        assert!(watcher.end(EndReason::Stopped, &Version::from(9)).is_some());
        assert!(watcher.queue().is_empty());
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
    fn one_that_missed_events_goes_on_from_what_it_saw_unless_that_was_amid_a_state_or_a_difference() {
        for (on_overflow, of_state, resumes) in [
            (OnOverflow::Terminate, false, [true, true]),
            (OnOverflow::Terminate, true, [false, true]),
            (OnOverflow::Resync, false, [false, false]),
            (OnOverflow::Coalesce, true, [false, false]),
        ] {
            let mut watcher = Watcher::new(Filter::default(), None, 1);
            watcher.start(Beginning { of_state, on_overflow, ..Beginning::default() }, Route::default());
            let told = [false, true].map(|past_initial_events| watcher.resumes_from_seen(past_initial_events));
            assert_eq!(told, resumes, "{on_overflow:?} {of_state}");
        }
    }

    #[test]
    fn a_life_goes_one_way_and_the_first_reason_counts() {
        let mut watcher = Watcher::new(Filter::default(), None, 1);
        assert!(watcher.life().is_waiting() && watcher.life().is_open() && watcher.gate().is_none());
        watcher.start(Beginning { gate: Version::from(3), ..Beginning::default() }, Route::default());
        assert!(watcher.life().live().is_some() && watcher.gate() == Some(&Version::from(3)));
        assert!(watcher.end(EndReason::Relist, &Version::from(5)).is_some());
        assert!(watcher.end(EndReason::Timeout, &Version::from(6)).is_none() && !watcher.life().is_open());
        assert_eq!((watcher.take_end(), watcher.take_end()), (Some(EndReason::Relist), None));
        assert_eq!(watcher.resume_from(), Some(&Version::from(5)));
        watcher.retire();
        assert!(watcher.life().is_retired() && watcher.end(EndReason::Stopped, &Version::ZERO).is_none() && watcher.life().is_retired());
    }

    #[test]
    fn one_that_ends_before_the_first_version_has_nothing_to_resume_from() {
        let mut watcher = Watcher::new(Filter::default(), None, 1);
        watcher.start(Beginning::default(), Route::default());
        assert!(watcher.end(EndReason::Closed, &Version::ZERO).is_some());
        assert_eq!(watcher.resume_from(), None);
    }

    #[test]
    fn one_that_never_began_has_nothing_to_resume_from() {
        let mut watcher = Watcher::new(Filter::default(), None, 1);
        assert!(watcher.end(EndReason::Error, &Version::from(5)).is_none());
        watcher.cut(Error::closed());
        assert!(watcher.resume_from().is_none() && watcher.refusal().is_some());
    }
}
