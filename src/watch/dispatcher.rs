//! From one change to the watchers that it concerns.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::change::{Change, Difference};
use crate::json::fields::FieldSet;
use crate::metrics::Metrics;
use crate::object::Object;
use crate::runtime::Task;
use crate::selector::{Filter, Interest};
use crate::status::{Error, Status};
use crate::store::{Replacement, StoreObserver};
use crate::time::Instant;
use crate::version::Version;

use super::bookmark::BookmarkSchedule;
use super::convert::Conversion;
use super::delivery::Delivery;
use super::demand::Demand;
use super::event::{EndReason, EventKind, WatchEvent};
use super::id::WatcherId;
use super::outbox::Outbox;
use super::queue::{Pushed, Retried};
use super::set::Watchers;
use super::watcher::{Beginning, Watcher};

/// All watchers of a cacher, and what is ready for them.
#[derive(Debug, Default)]
pub struct Dispatcher {
    watchers: Watchers,
    delivery: Delivery,
    bookmarks: BookmarkSchedule,
    deadlines: BTreeSet<(Instant, WatcherId)>,
    // Those with an event that found no room. Nothing else is dispatched until each event has found room or its watcher has ended. A watcher
    // that has ended meanwhile may still stand here.
    blocked: Vec<WatcherId>,
    // Whether a watcher began to skip changes since that was last asked.
    overflowed: bool,
    // Those that the event under way may concern. The memory is used again for the next event.
    candidates: Vec<WatcherId>,
    metrics: Rc<Metrics>,
    dispatched: u64,
    visited: u64,
    terminated: u64,
}

/// Where an event stands in the outbox, by kind, once somebody takes it at once.
type Indices = [Option<u32>; 3];

/// Numbers for `stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatcherStats {
    /// Watchers that have not ended.
    pub watchers: usize,
    /// Watchers that were ended because they did not keep up.
    pub terminated: u64,
    /// Deliveries, counted once a subscriber.
    pub delivered: u64,
    /// How many watchers events have looked at, all in all.
    pub visited: u64,
}

impl Dispatcher {
    /// A dispatcher that counts in these metrics what the apiserver counts.
    pub fn counting(metrics: Rc<Metrics>) -> Self {
        Self { metrics, ..Self::default() }
    }

    // ------------------------------------------------------------------------------------------------- lives of watchers

    /// Adds a watcher that waits for its start. With an interest it hears only of those updates that this wants.
    pub fn add(&mut self, filter: Filter, interest: Option<Interest>) -> WatcherId {
        self.watchers.add(filter, interest)
    }

    /// The watcher of this id, while it is not forgotten.
    pub fn get(&self, id: WatcherId) -> Option<&Watcher> {
        self.watchers.get(id)
    }

    /// Has a watcher keep the task that is to start it, so that the task ends with the watcher.
    pub fn start_later(&mut self, id: WatcherId, task: Task) {
        if let Some(watcher) = self.watchers.get_mut(id) {
            watcher.wait(task);
        }
    }

    /// Has a field route events: watchers that demand a value of it hear of that value alone.
    pub fn set_trigger(&mut self, slot: usize) {
        self.watchers.set_trigger(slot);
    }

    /// Whether a field routes events, and whether it would route them to a watcher of this filter.
    pub fn triggers(&self, filter: &Filter) -> (bool, bool) {
        self.watchers.triggers(filter)
    }

    /// Begins to dispatch to a watcher. One step with the capture of its interval.
    pub fn start(&mut self, id: WatcherId, beginning: Beginning, now: Instant) {
        let Some(watcher) = self.watchers.start(id, beginning) else { return };
        if watcher.filter().shard().is_some() {
            self.metrics.watch_shards.inc();
        }
        if let Some(deadline) = watcher.life().live().and_then(|live| live.deadline) {
            self.deadlines.insert((deadline, id));
        }
        plan_bookmark(&mut self.bookmarks, id, watcher, now);
        self.delivery.pend(id);
    }

    /// The subscriber takes events from now on in this way.
    pub fn demand(&mut self, id: WatcherId, demand: Demand) {
        if let Some(watcher) = self.watchers.get_mut(id) {
            watcher.queue_mut().set_demand(demand);
            self.delivery.pend(id);
        }
    }

    /// Ends one stream. The first reason counts.
    pub fn end(&mut self, id: WatcherId, reason: EndReason, reached: &Version) {
        let Some(watcher) = self.get(id) else { return };
        let sharded = watcher.filter().shard().is_some();
        if let Some(live) = self.watchers.end(id, reason, reached) {
            if sharded {
                self.metrics.watch_shards.dec();
            }
            if let Some(deadline) = live.deadline {
                self.deadlines.remove(&(deadline, id));
            }
        }
        self.delivery.pend(id);
    }

    /// Ends one stream with an ERROR event that carries this Status.
    pub fn fail(&mut self, id: WatcherId, status: &Status, reached: &Version) {
        if let Some(watcher) = self.watchers.get_mut(id).filter(|watcher| watcher.life().is_open()) {
            watcher.queue_mut().push_failure(status);
            self.end(id, EndReason::Error, reached);
        }
    }

    /// Ends a watcher that cannot start: its subscriber is told the error, and no event.
    pub fn refuse(&mut self, id: WatcherId, error: Error) {
        self.cut(id, error, &Version::ZERO);
    }

    /// Ends one stream at once, for this reason. What waits is not delivered any more.
    pub fn cut(&mut self, id: WatcherId, error: Error, reached: &Version) {
        self.end(id, EndReason::Error, reached);
        if let Some(watcher) = self.watchers.get_mut(id) {
            watcher.cut(error);
        }
    }

    /// Ends all streams, begun or not.
    pub fn end_all(&mut self, reason: EndReason, reached: &Version) {
        self.watchers.unfile_all();
        for id in self.watchers.ids() {
            self.end(id, reason, reached);
        }
    }

    /// The subscriber is gone; nothing more is delivered under this id, and after the next flush it may stand for another.
    pub fn forget(&mut self, id: WatcherId) {
        if self.get(id).is_some() {
            self.end(id, EndReason::Stopped, &Version::ZERO);
            self.watchers.retire(id);
        }
    }

    /// Ends the streams that a relist ends. Those that outlive it hear of nothing until the list has replaced the state.
    pub fn end_round(&mut self, reached: &Version) {
        self.watchers.unfile_all();
        for id in self.watchers.ids() {
            let Some(watcher) = self.get(id).filter(|watcher| watcher.life().live().is_some()) else { continue };
            if watcher.queue().outlives_relist(reached) {
                self.watchers.refile(id);
            } else {
                self.end(id, EndReason::Relist, reached);
            }
        }
    }

    /// Sends bookmarks that are due and ends streams whose time is over. Returns whether somebody needs another tick.
    pub fn tick(&mut self, now: Instant, processed: &Version) -> bool {
        let mut bookmark: Option<WatchEvent> = None;
        for (id, serial) in self.bookmarks.take_due(now) {
            // Who has ended is still planned, and its id may stand for another by now.
            let known = |watcher: &&mut Watcher| watcher.serial() == serial && watcher.life().live().is_some();
            let Some(watcher) = self.watchers.get_mut(id).filter(known) else { continue };
            let mut make = || bookmark.get_or_insert_with(|| WatchEvent::bookmark(processed.clone(), false)).clone();
            if watcher.push_bookmark(processed, &mut make) {
                self.delivery.pend(id);
            }
            plan_bookmark(&mut self.bookmarks, id, watcher, now);
        }
        while let Some((_, id)) = self.deadlines.first().copied().filter(|(deadline, _)| *deadline <= now) {
            self.deadlines.pop_first();
            self.end(id, EndReason::Timeout, processed);
        }
        !self.bookmarks.is_empty() || !self.deadlines.is_empty()
    }

    // ------------------------------------------------------------------------------------------------- one change

    /// To the watchers of everything.
    fn dispatch_to_all(&mut self, change: &Change, conversion: &Conversion<'_>, kind: EventKind, indices: &mut Indices) {
        let count = self.watchers.everything().len();
        self.visited += count as u64;
        if self.delivery.has_audience() {
            let index = self.index(conversion, kind, indices);
            return self.delivery.deliver_to_audience(index);
        }
        let begin = self.delivery.noted();
        let mut straight = 0;
        for index in 0..count {
            let id = self.watchers.everything()[index];
            straight += usize::from(self.offer(id, change, conversion, kind, indices));
        }
        if straight == count && count > 0 {
            self.delivery.make_audience(begin);
        }
    }

    /// Hands a change of this kind to a watcher that it concerns. Whether it went straight to a subscriber that takes everything.
    fn offer(&mut self, id: WatcherId, change: &Change, conversion: &Conversion<'_>, kind: EventKind, indices: &mut Indices) -> bool {
        let queue = self.watchers.filed(id).map(Watcher::queue_mut).filter(|queue| queue.hears(change.version()));
        let Some(queue) = queue else { return false };
        if queue.goes_straight() {
            let everything = queue.demand() == Demand::All;
            let begins = queue.took_first();
            let index = self.index(conversion, kind, indices);
            self.delivery.deliver(id, index, begins);
            return everything;
        }
        match queue.push(change, conversion, kind) {
            Pushed::Waits => {}
            Pushed::Blocked => self.blocked.push(id),
            Pushed::Skips => self.overflowed = true,
        }
        false
    }

    fn index(&mut self, conversion: &Conversion<'_>, kind: EventKind, indices: &mut Indices) -> u32 {
        *indices[kind as usize].get_or_insert_with(|| self.delivery.event(conversion.event(kind)))
    }

    // ------------------------------------------------------------------------------------------------- no room

    /// Whether a watcher has begun to skip changes since the last call.
    pub fn take_overflowed(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    /// Whether a watcher has no room for the last change. Nothing else is dispatched before that is settled.
    pub fn is_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Tries again to place what found no room. Returns whether something is still waiting.
    pub fn retry_blocked(&mut self) -> bool {
        for id in std::mem::take(&mut self.blocked) {
            let Some(watcher) = self.watchers.get_mut(id) else { continue };
            match watcher.queue_mut().retry() {
                Retried::Placed => self.delivery.pend(id),
                Retried::Blocked => self.blocked.push(id),
                Retried::Gone => {}
            }
        }
        self.is_blocked()
    }

    /// Ends the watchers that still have no room: their streams stop before the event they could not take. Returns how many.
    pub fn terminate_blocked(&mut self) -> usize {
        let mut count = 0;
        for id in std::mem::take(&mut self.blocked) {
            let Some(reached) = self.get(id).and_then(|watcher| watcher.queue().before_blocked()) else { continue };
            count += 1;
            self.overflowed = true;
            self.terminated += 1;
            self.metrics.terminated_watchers.inc();
            self.end(id, EndReason::Overflow, &reached);
        }
        count
    }

    // ------------------------------------------------------------------------------------------------- flushes and numbers

    /// Takes what is to be delivered now; whether more follows at once. Batches that received something are served.
    pub fn take_outbox(&mut self) -> (Outbox, bool) {
        self.delivery.take(&mut self.watchers)
    }

    /// Whether a flush would deliver something.
    pub fn has_output(&self) -> bool {
        self.delivery.has_output()
    }

    /// Deliveries so far.
    pub fn delivered(&self) -> u64 {
        self.delivery.delivered()
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> DispatcherStats {
        let watchers = self.watchers.iter().filter(|(_, watcher)| watcher.life().is_open()).count();
        DispatcherStats { watchers, terminated: self.terminated, delivered: self.delivered(), visited: self.visited }
    }

    /// The ids of all watchers, whatever their state.
    pub(crate) fn ids(&self) -> Vec<WatcherId> {
        self.watchers.ids()
    }

    /// Whose waiting objects have grown most lately, and by how many bytes that nobody but readers hold. Looks at all that waits.
    pub(crate) fn grown(&self) -> (WatcherId, usize) {
        let open = self.watchers.iter().filter(|(_, watcher)| watcher.life().is_open());
        open.map(|(id, watcher)| (id, watcher.grown())).max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }

    /// Notes what waits for each now.
    pub(crate) fn note_bytes(&mut self) {
        self.watchers.iter_mut().for_each(Watcher::note_bytes);
    }
}

impl StoreObserver for Dispatcher {
    fn shown(&mut self, _previous: Option<&Rc<Object>>, _object: Option<&Rc<Object>>, _fields: &FieldSet) {}

    /// Hands the change to every watcher that it concerns. Afterwards some may have no room for it.
    fn changed(&mut self, change: &Change, fields: &FieldSet) {
        self.dispatched += 1;
        self.metrics.events_dispatched.inc();
        let conversion = Conversion::new(change);
        let mut indices = Indices::default();
        let mut candidates = std::mem::take(&mut self.candidates);
        if let Some(kind) = conversion.plain_kind() {
            self.dispatch_to_all(change, &conversion, kind, &mut indices);
            self.watchers.interested(|interest| conversion.is_wanted(kind, Some(interest), fields), &mut candidates);
        }
        self.watchers.candidates(change, fields, &mut candidates);
        // Watchers of one bucket mostly share a filter, so its last answer is used again. To ask it reads memory that no cache of the CPU has.
        let mut asked: Option<(*const Filter, Option<EventKind>)> = None;
        for id in candidates.drain(..) {
            let Some(watcher) = self.watchers.filed(id) else { continue };
            if !watcher.visit(self.dispatched) {
                continue;
            }
            self.visited += 1;
            let filter = Rc::as_ptr(watcher.filter());
            let kind = match asked {
                Some((known, kind)) if known == filter => kind,
                _ => conversion.kind(|object: &Object| watcher.filter().passes(object, fields)),
            };
            asked = Some((filter, kind));
            let Some(kind) = kind else {
                self.metrics.filtered_events.add(u64::from(!watcher.filter().in_shard(&change.object)));
                continue;
            };
            if conversion.is_wanted(kind, watcher.interest().map(Rc::as_ref), fields) {
                self.offer(id, change, &conversion, kind, &mut indices);
            }
        }
        self.candidates = candidates;
    }

    /// Those who outlive a relist hear of the differences, unless versions went back: a stream whose versions grow cannot follow that.
    fn replaced(&mut self, replacement: &Replacement<'_>, fields: &FieldSet) {
        let Replacement { differences, from, to, .. } = *replacement;
        if to < from {
            self.end_all(EndReason::Relist, from);
        }
        for id in self.watchers.ids() {
            if let Some(watcher) = self.watchers.get_mut(id).filter(|watcher| watcher.life().live().is_some()) {
                watcher.queue_mut().skip_after(|| from.clone());
                self.delivery.pend(id);
            }
        }
        let mut candidates = Vec::new();
        for difference in differences {
            self.watchers.concerned(difference, fields, &mut candidates);
            let Difference { before, after } = difference;
            // One that only left the selection did so at its own version.
            let at = after.as_ref().map_or(to, |object| object.version());
            for id in candidates.drain(..) {
                let Some(watcher) = self.watchers.filed(id) else { continue };
                let passes = |object: &&Rc<Object>| watcher.filter().passes(object, fields);
                let (before, after) = (before.as_ref().filter(passes), after.as_ref().filter(passes));
                watcher.queue_mut().merge(before, after, [at, at]);
            }
        }
    }

    fn reset(&mut self, reached: &Version) {
        self.end_all(EndReason::Closed, reached);
    }
}

fn plan_bookmark(schedule: &mut BookmarkSchedule, id: WatcherId, watcher: &Watcher, now: Instant) {
    if let Some(at) = watcher.life().live().and_then(|live| live.bookmarks.next(now, live.deadline)) {
        schedule.plan((id, watcher.serial()), at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::ChangeKind;
    use crate::selector::Filter;
    use crate::selector::FilterText;
    use crate::testing::named;

    fn subscribed(dispatcher: &mut Dispatcher, demand: Demand) -> WatcherId {
        let id = dispatcher.add(Filter::default(), None);
        dispatcher.start(id, Beginning { capacity: 5, ..Beginning::default() }, Instant::START);
        dispatcher.demand(id, demand);
        dispatcher.take_outbox();
        id
    }

    /// The deliveries of one change, as watcher and version.
    fn change(dispatcher: &mut Dispatcher, versions: &[u64]) -> Vec<(WatcherId, u64)> {
        for &version in versions {
            let change = Change::new(ChangeKind::Added, named("pod", version), None, Instant::START);
            dispatcher.changed(&change, &FieldSet::new(Vec::new()));
        }
        let (outbox, _) = dispatcher.take_outbox();
        let version = |index: u32| outbox.events[index as usize].version.as_u64().unwrap();
        outbox.pairs().chunks_exact(2).map(|pair| (pair[0].into(), version(pair[1]))).collect()
    }

    #[test]
    fn who_simply_listens_hears_everything_in_order_until_something_happens_to_it() {
        let mut dispatcher = Dispatcher::default();
        let [a, b, c] = [(); 3].map(|()| subscribed(&mut dispatcher, Demand::All));
        assert_eq!(change(&mut dispatcher, &[1]), [(a, 1), (b, 1), (c, 1)]);
        // Two changes in one flush: the second has another index.
        assert_eq!(change(&mut dispatcher, &[2, 3]), [(a, 2), (b, 2), (c, 2), (a, 3), (b, 3), (c, 3)]);
        assert_eq!(dispatcher.stats().delivered, 9);

        dispatcher.demand(b, Demand::None);
        assert_eq!(change(&mut dispatcher, &[4]), [(a, 4), (c, 4)]);
        dispatcher.demand(b, Demand::All);
        assert_eq!(change(&mut dispatcher, &[]), [(b, 4)]);
        assert_eq!(change(&mut dispatcher, &[5]), [(a, 5), (b, 5), (c, 5)]);

        dispatcher.end(a, EndReason::Stopped, &Version::ZERO);
        assert_eq!(change(&mut dispatcher, &[6]), [(b, 6), (c, 6)]);
        let d = subscribed(&mut dispatcher, Demand::All);
        assert_eq!(change(&mut dispatcher, &[7, 8]), [(b, 7), (c, 7), (d, 7), (b, 8), (c, 8), (d, 8)]);
        dispatcher.end_all(EndReason::Relist, &Version::from(8));
        assert_eq!(change(&mut dispatcher, &[9]), []);
    }

    #[test]
    fn one_who_takes_batches_changes_nothing_for_the_others() {
        let mut dispatcher = Dispatcher::default();
        let (a, b) = (subscribed(&mut dispatcher, Demand::All), subscribed(&mut dispatcher, Demand::Batch(0)));
        assert_eq!(change(&mut dispatcher, &[1, 2]), [(a, 1), (b, 1), (a, 2), (b, 2)]);
        assert_eq!(change(&mut dispatcher, &[3]), [(a, 3)]);
        dispatcher.demand(b, Demand::Batch(0));
        assert_eq!(change(&mut dispatcher, &[4]), [(a, 4), (b, 3), (b, 4)]);
    }

    /// Where memory runs out, what grew lately ends, and not what has been held all along.
    #[test]
    fn what_waited_when_it_was_noted_has_not_grown_since() {
        let mut dispatcher = Dispatcher::default();
        let [first, second] = [(); 2].map(|()| subscribed(&mut dispatcher, Demand::None));
        change(&mut dispatcher, &[1, 2]);
        dispatcher.note_bytes();
        assert_eq!(dispatcher.grown().1, 0);
        dispatcher.end(first, EndReason::Stopped, &Version::ZERO);
        change(&mut dispatcher, &[3]);
        let (id, bytes) = dispatcher.grown();
        assert_eq!((id, bytes), (second, named("pod", 3).size()));
    }

    fn filter(fields: &mut FieldSet, labels: &str, selector: &str) -> Filter {
        Filter::new(FilterText { labels: Some(labels), fields: Some(selector), ..FilterText::default() }, fields).unwrap()
    }

    /// 100,000 watchers of every kind that can be looked up, 10 of whom the change concerns, and 3 who cannot be looked up.
    #[test]
    fn law_08_bounded_an_event_visits_those_it_may_concern_however_many_there_are() {
        let mut fields = FieldSet::new(Vec::new());
        let mut dispatcher = Dispatcher::default();
        let mut open = |filter: Filter| {
            let id = dispatcher.add(filter, None);
            dispatcher.start(id, Beginning::default(), Instant::START);
            dispatcher.demand(id, Demand::All);
            id
        };
        for number in 0..24_997 {
            open(filter(&mut fields, &format!("app=app{number}"), ""));
            open(filter(&mut fields, "", &format!("spec.nodeName=node{number}")));
            open(filter(&mut fields, &format!("app in (app{number}, other{number})"), ""));
            open(filter(&mut fields, "", &format!("metadata.namespace=ns{number},metadata.name=pod")));
        }
        let asked: Vec<WatcherId> = ["app!=app7", "app", "!x"].map(|labels| open(filter(&mut fields, labels, ""))).into();
        let matching: Vec<WatcherId> = (0..2).map(|_| open(filter(&mut fields, "app=app7", ""))).collect();
        let everything: Vec<WatcherId> = (0..4).map(|_| open(Filter::default())).collect();
        dispatcher.take_outbox();

        let spec = serde_json::json!({"nodeName": "node7"});
        let object = crate::testing::with_spec("ns7/pod", 5, &[("app", "app7")], &spec);
        let change = Change::new(ChangeKind::Added, object, None, Instant::START);
        dispatcher.changed(&change, &fields);
        assert_eq!(dispatcher.stats().visited, 10 + 3);
        let (outbox, _) = dispatcher.take_outbox();
        let mut heard: Vec<WatcherId> = outbox.pairs().chunks_exact(2).map(|pair| pair[0].into()).collect();
        heard.sort_unstable();
        let mut expected = Vec::from([28, 29, 30, 31].map(WatcherId::from));
        expected.extend(asked[1..].iter().chain(&matching).chain(&everything));
        assert_eq!(heard, expected);
        assert_eq!(dispatcher.stats().watchers, 100_000 - 3);
    }

    #[test]
    fn chg_08_an_update_visits_only_those_who_have_an_interest_in_it() {
        let mut fields = FieldSet::new(Vec::new());
        let mut dispatcher = Dispatcher::default();
        for number in 0..1000 {
            let paths = [format!("spec.n{}", number % 4), "metadata.name".into()];
            let id = dispatcher.add(Filter::default(), Some(Interest::read(&paths, &mut fields).unwrap()));
            dispatcher.start(id, Beginning::default(), Instant::START);
            dispatcher.demand(id, Demand::All);
        }
        let object = |version, n0: u32| crate::testing::with_spec("x", version, &[], &serde_json::json!({"n0": n0}));
        let mut visits = |kind, before, after| {
            let before_all = dispatcher.stats().visited;
            dispatcher.changed(&Change::new(kind, after, before, Instant::START), &fields);
            (dispatcher.stats().visited - before_all, dispatcher.take_outbox().0.delivered())
        };
        assert_eq!(visits(ChangeKind::Added, None, object(1, 0)), (1000, 1000));
        assert_eq!(visits(ChangeKind::Modified, Some(object(1, 0)), object(2, 0)), (0, 0), "however many there are");
        assert_eq!(visits(ChangeKind::Modified, Some(object(2, 0)), object(3, 1)), (250, 250));
        assert_eq!(visits(ChangeKind::Deleted, Some(object(3, 1)), object(4, 1)), (1000, 1000));
    }

    #[test]
    fn a_watcher_that_is_filed_under_several_values_hears_of_a_change_once() {
        let mut fields = FieldSet::new(Vec::new());
        let mut dispatcher = Dispatcher::default();
        let id = dispatcher.add(filter(&mut fields, "app in (a, b)", ""), None);
        dispatcher.start(id, Beginning::default(), Instant::START);
        dispatcher.demand(id, Demand::All);
        let pod = |version: u64, app: &str| crate::testing::labelled("x", version, &[("app", app)]);
        let change = Change::new(ChangeKind::Modified, pod(2, "b"), Some(pod(1, "a")), Instant::START);
        dispatcher.changed(&change, &fields);
        assert_eq!(dispatcher.take_outbox().0.pairs()[..], [id.number(), 0]);
        assert_eq!(dispatcher.stats().visited, 1);
    }

    #[test]
    fn shards_are_counted_while_they_are_open_and_so_is_what_they_keep_away() {
        let fields = FieldSet::new(Vec::new());
        let mut dispatcher = Dispatcher::default();
        // The hash of uid-x begins with 0x8 or above.
        let lower = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
        let object = named("x", 1);
        let out = !Filter::default().with_shard(Some(lower)).unwrap().passes(&object, &fields);
        let id = dispatcher.add(Filter::default().with_shard(Some(lower)).unwrap(), None);
        dispatcher.start(id, Beginning::default(), Instant::START);
        dispatcher.changed(&Change::new(ChangeKind::Added, object, None, Instant::START), &fields);
        let metrics = dispatcher.metrics.clone();
        assert_eq!((metrics.watch_shards.get(), metrics.filtered_events.get()), (1.0, u64::from(out)));
        for _ in 0..2 {
            dispatcher.end(id, EndReason::Stopped, &Version::ZERO);
            assert_eq!(metrics.watch_shards.get(), 0.0);
        }
    }

    /// In the apiserver each encoder runs once an object, and a deletion's version is written into a copy. Here the object itself is shared:
    /// it crosses once however many hear of it, and a deletion is restamped once for all.
    #[test]
    fn cwl_13_an_event_is_made_once_for_all_who_hear_of_it() {
        let mut fields = FieldSet::new(Vec::new());
        let mut dispatcher = Dispatcher::default();
        for labels in ["", "", "app=web", "app in (web, db)", "app!=db"] {
            let id = dispatcher.add(filter(&mut fields, labels, ""), None);
            dispatcher.start(id, Beginning::default(), Instant::START);
            dispatcher.demand(id, Demand::All);
        }
        let pod = |version: u64, app: &str| crate::testing::labelled("x", version, &[("app", app)]);
        let mut hear = |kind, object: &Rc<Object>, previous: &Rc<Object>| {
            dispatcher.changed(&Change::new(kind, object.clone(), Some(previous.clone()), Instant::START), &fields);
            let (outbox, _) = dispatcher.take_outbox();
            assert_eq!(outbox.pairs().len(), 2 * 5);
            outbox.events
        };
        let (old, new, last) = (pod(1, "web"), pod(2, "web"), pod(3, "web"));
        let modified = hear(ChangeKind::Modified, &new, &old);
        assert!(modified.len() == 1 && Rc::ptr_eq(&modified[0].object, &new), "the very object, and no copy");
        let deleted = hear(ChangeKind::Deleted, &last, &new);
        assert_eq!((deleted.len(), deleted[0].object.version().as_u64()), (1, Some(3)));
        assert!(!Rc::ptr_eq(&deleted[0].object, &new) && new.version().as_u64() == Some(2), "what is held is not written to");
    }
}
