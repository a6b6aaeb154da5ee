//! From one change to the watchers it concerns.

use slab::Slab;

use crate::cache::window::Entry;
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::runtime::Millis;
use crate::status::Status;
use crate::version::Version;
use crate::watch::bookmark::BookmarkSchedule;
use crate::watch::convert::Conversion;
use crate::watch::event::{EndReason, EventKind, WatchEvent};
use crate::watch::outbox::Outbox;
use crate::watch::registry::Registry;
use crate::watch::watcher::{BookmarkState, Demand, Watcher};

/// How many waiting events of one watcher go into one flush; the rest follows in the next, after the host had its turn.
const PUMP_LIMIT: usize = 500;

/// All watchers of a cacher, and what is ready for them.
#[derive(Debug, Default)]
pub struct Dispatcher {
    watchers: Slab<Watcher>,
    registry: Registry,
    bookmarks: BookmarkSchedule,
    outbox: Outbox,
    // Events that found no room; nothing else is dispatched until each has gone in or its watcher has ended.
    blocked: Vec<(u32, WatchEvent)>,
    pending: Pending,
    // Watchers whose batch began since the last flush: it is complete with it.
    served: Vec<u32>,
    // Ids that may be used again only after the flush under way.
    retired: Vec<u32>,
    serials: u64,
    terminated: u64,
    delivered: u64,
}

/// Watchers with something to pump at the next flush.
#[derive(Debug, Default)]
struct Pending {
    ids: Vec<u32>,
    // The deliveries of an event 0 that went straight to each watcher of everything, until anything happens to one of the watchers, which
    // makes that one pending: the next event goes the same way, so nobody need be asked.
    straight: Vec<u32>,
}

impl Pending {
    fn push(&mut self, id: u32) {
        self.straight.clear();
        self.ids.push(id);
    }
}

/// Numbers for `stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatcherStats {
    /// Watchers that have not ended.
    pub watchers: usize,
    /// Watchers that were ended because they did not keep up.
    pub terminated: u64,
    /// Deliveries, counted once a subscriber.
    pub delivered: u64,
}

impl Dispatcher {
    /// Adds a watcher that has not started and returns its id.
    pub fn add(&mut self, mut watcher: Watcher) -> u32 {
        self.serials += 1;
        watcher.serial = self.serials;
        u32::try_from(self.watchers.insert(watcher)).unwrap_or(u32::MAX)
    }

    /// The watcher of this id, while it is not forgotten.
    pub fn get(&self, id: u32) -> Option<&Watcher> {
        self.watchers.get(id as usize).filter(|_| !self.retired.contains(&id))
    }

    /// Whether this very watcher is still to be started: it may have ended while it waited, and its id stand for another.
    pub fn awaits_start(&self, id: u32, serial: u64) -> bool {
        self.get(id).is_some_and(|watcher| watcher.serial == serial && !watcher.started && watcher.ended.is_none())
    }

    /// To change it before it starts.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Watcher> {
        if self.retired.contains(&id) { None } else { self.watchers.get_mut(id as usize) }
    }

    /// Begins to dispatch to a watcher whose initial events are in its backlog. One step with the capture of these events.
    pub fn start(&mut self, id: u32, now: Millis) {
        let Some(watcher) = self.watchers.get_mut(id as usize) else { return };
        watcher.started = true;
        if watcher.ended.is_none() {
            self.registry.insert(watcher.filter.scope_namespace(), watcher.filter.scope_name(), id);
            if watcher.bookmarks {
                self.bookmarks.plan(id, now, watcher.deadline);
            }
        }
        self.pending.push(id);
    }

    /// Hands one change to every watcher it concerns. Returns whether some of them have no room for it.
    pub fn dispatch(&mut self, entry: &Entry, fields: &FieldSet) -> bool {
        let conversion = Conversion::new(entry);
        let plain = conversion.plain_kind();
        let mut indices = [None::<u32>; 3];
        let groups = self.registry.candidates(entry.object.namespace(), entry.object.name());
        for (number, group) in groups.enumerate() {
            // The first group are those everywhere.
            if number == 0
                && !self.pending.straight.is_empty()
                && let Some(kind) = plain
            {
                let index = *indices[kind as usize].get_or_insert_with(|| self.outbox.event(conversion.event(kind)));
                self.outbox.deliver_all(&self.pending.straight, index);
                self.delivered += group.len() as u64;
                continue;
            }
            let begin = self.outbox.pairs.len();
            let mut straight = 0;
            for &id in group {
                let Some(watcher) = self.watchers.get_mut(id as usize) else { continue };
                let kind =
                    if watcher.everything { plain } else { conversion.kind(|object: &Object| watcher.filter.passes(object, fields)) };
                let Some(kind) = kind else { continue };
                if *entry.version() <= watcher.gate {
                    continue;
                }
                if watcher.is_direct() {
                    let index = *indices[kind as usize].get_or_insert_with(|| self.outbox.event(conversion.event(kind)));
                    self.outbox.deliver(id, index);
                    if watcher.took_first() {
                        self.served.push(id);
                    }
                    straight += usize::from(watcher.everything && watcher.demand == Demand::All);
                    self.delivered += 1;
                } else if watcher.has_room() {
                    watcher.queue.push_back(conversion.event(kind));
                } else {
                    self.blocked.push((id, conversion.event(kind)));
                }
            }
            if number == 0 && straight == group.len() {
                self.pending.straight = self.outbox.pairs_for_first(begin);
            }
        }
        !self.blocked.is_empty()
    }

    /// Tries again to place what found no room. Returns whether something is still waiting.
    pub fn retry_blocked(&mut self) -> bool {
        let blocked = std::mem::take(&mut self.blocked);
        for (id, event) in blocked {
            let Some(watcher) = self.watchers.get_mut(id as usize).filter(|watcher| watcher.ended.is_none()) else { continue };
            if watcher.has_room() {
                watcher.queue.push_back(event);
                self.pending.push(id);
            } else {
                self.blocked.push((id, event));
            }
        }
        !self.blocked.is_empty()
    }

    /// Ends the watchers that still have no room: their streams stop before the event they could not take.
    pub fn terminate_blocked(&mut self) -> usize {
        let blocked = std::mem::take(&mut self.blocked);
        let count = blocked.len();
        for (id, event) in blocked {
            self.terminated += 1;
            let reached = event.version.predecessor().unwrap_or_default();
            self.end(id, EndReason::Overflow, &reached);
        }
        count
    }

    /// Ends one stream. Idempotent.
    pub fn end(&mut self, id: u32, reason: EndReason, reached: &Version) {
        let Some(watcher) = self.watchers.get_mut(id as usize) else { return };
        // An event that waits for room is not delivered any more: whoever goes on from this stream needs it first.
        let missed = self.blocked.iter().position(|(blocked, _)| *blocked == id).map(|index| self.blocked.swap_remove(index).1);
        match missed.and_then(|event| event.version.predecessor()) {
            Some(before) => watcher.end(reason, reached.min(&before)),
            None => watcher.end(reason, reached),
        }
        let (namespace, name) = (watcher.filter.scope_namespace().to_owned(), watcher.filter.scope_name().to_owned());
        self.registry.remove(&namespace, &name, id);
        self.bookmarks.remove(id);
        self.pending.push(id);
    }

    /// Ends one stream with an ERROR event that carries this Status.
    pub fn fail(&mut self, id: u32, status: &Status, reached: &Version) {
        let Some(watcher) = self.watchers.get_mut(id as usize).filter(|watcher| watcher.ended.is_none()) else { return };
        watcher.backlog.push_back(WatchEvent { kind: EventKind::Error, object: Object::status(status), version: Version::ZERO });
        self.end(id, EndReason::Error, reached);
    }

    /// Ends all streams that run.
    pub fn end_all(&mut self, reason: EndReason, reached: &Version) {
        self.registry.clear();
        for id in self.ids() {
            let running = self.get(id).is_some_and(|watcher| watcher.ended.is_none() && watcher.started);
            if running || reason == EndReason::Closed {
                self.end(id, reason, reached);
            }
        }
    }

    /// The subscriber takes events from now on in this way.
    pub fn demand(&mut self, id: u32, demand: Demand) {
        if let Some(watcher) = self.get_mut(id) {
            watcher.demand = demand;
            self.pending.push(id);
        }
    }

    /// The subscriber is gone; nothing more is delivered under this id, and after the next flush it may stand for another.
    pub fn forget(&mut self, id: u32) {
        if self.get(id).is_none() {
            return;
        }
        self.end(id, EndReason::Stopped, &Version::ZERO);
        self.outbox.retract(id);
        self.retired.push(id);
    }

    /// Sends bookmarks that are due and ends streams whose time is over. Returns whether somebody needs another tick.
    pub fn tick(&mut self, now: Millis, processed: &Version) -> bool {
        let mut bookmark: Option<WatchEvent> = None;
        for id in self.bookmarks.take_due(now) {
            let Some(watcher) = self.watchers.get_mut(id as usize).filter(|watcher| watcher.ended.is_none()) else { continue };
            // A bookmark must not overtake an event that waits for room.
            let behind = self.blocked.iter().any(|(blocked, _)| *blocked == id);
            let wanted = *processed > watcher.gate || (*processed == watcher.gate && watcher.bookmark_state != BookmarkState::Sent);
            if wanted && !behind && (watcher.is_direct() || watcher.has_room()) {
                let event = bookmark.get_or_insert_with(|| WatchEvent::bookmark(processed.clone(), false)).clone();
                watcher.queue.push_back(event);
                self.pending.push(id);
            }
            self.bookmarks.plan(id, now, watcher.deadline);
        }
        let mut again = !self.bookmarks.is_empty();
        for id in self.ids() {
            let Some(watcher) = self.get(id) else { continue };
            match watcher.deadline {
                Some(deadline) if watcher.ended.is_none() && deadline <= now => self.end(id, EndReason::Timeout, processed),
                Some(_) if watcher.ended.is_none() => again = true,
                _ => {}
            }
        }
        again
    }

    /// Moves what waits for willing subscribers into the outbox. Returns whether there is more than one flush can hold.
    fn pump(&mut self) -> bool {
        let mut more = false;
        let mut pending = std::mem::take(&mut self.pending.ids);
        pending.sort_unstable();
        pending.dedup();
        for id in pending {
            let Some(watcher) = self.watchers.get_mut(id as usize).filter(|_| !self.retired.contains(&id)) else { continue };
            let mut moved = 0;
            if matches!(watcher.demand, Demand::Batch(_)) {
                self.served.push(id);
            }
            while moved < PUMP_LIMIT
                && let Some(event) = watcher.next_wanted()
            {
                let index = self.outbox.shared_event(event);
                self.outbox.deliver(id, index);
                moved += 1;
            }
            self.delivered += moved as u64;
            if watcher.is_drained() {
                if let Some(reason) = watcher.ended.filter(|_| !watcher.end_told) {
                    watcher.end_told = true;
                    self.outbox.ended.push((id, reason));
                }
            } else if moved == PUMP_LIMIT {
                self.pending.push(id);
                more = true;
            }
        }
        more
    }

    /// Takes what is to be delivered now; whether more follows at once. Batches that received something are served.
    pub fn take_outbox(&mut self) -> (Outbox, bool) {
        let more = self.pump();
        for id in std::mem::take(&mut self.retired) {
            self.watchers.remove(id as usize);
        }
        for id in std::mem::take(&mut self.served) {
            if let Some(watcher) = self.watchers.get_mut(id as usize)
                && matches!(watcher.demand, Demand::Batch(1..))
            {
                watcher.demand = Demand::None;
            }
        }
        (std::mem::take(&mut self.outbox), more)
    }

    /// Whether a flush would deliver something.
    pub fn has_output(&self) -> bool {
        !self.outbox.is_empty() || !self.pending.ids.is_empty()
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> DispatcherStats {
        let watchers = self.watchers.iter().filter(|(_, watcher)| watcher.ended.is_none()).count();
        DispatcherStats { watchers, terminated: self.terminated, delivered: self.delivered }
    }

    fn ids(&self) -> Vec<u32> {
        self.watchers.iter().filter_map(|(id, _)| u32::try_from(id).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::incoming::ChangeKind;
    use crate::testing::named;
    use crate::watch::filter::Filter;

    fn listener(dispatcher: &mut Dispatcher, demand: Demand) -> u32 {
        let id = dispatcher.add(Watcher::new(Filter::default()));
        dispatcher.get_mut(id).unwrap().capacity = 5;
        dispatcher.start(id, 0);
        dispatcher.demand(id, demand);
        dispatcher.take_outbox();
        id
    }

    /// The deliveries of one change, as watcher and version.
    fn change(dispatcher: &mut Dispatcher, versions: &[u64]) -> Vec<(u32, u64)> {
        for &version in versions {
            let entry = Entry { kind: ChangeKind::Added, object: named("pod", version), previous: None, at: 0 };
            dispatcher.dispatch(&entry, &FieldSet::new(Vec::new()));
        }
        let (outbox, _) = dispatcher.take_outbox();
        let version = |index: u32| outbox.events[index as usize].version.as_u64().unwrap();
        outbox.pairs.chunks_exact(2).map(|pair| (pair[0], version(pair[1]))).collect()
    }

    #[test]
    fn who_simply_listens_hears_everything_in_order_until_something_happens_to_it() {
        let mut dispatcher = Dispatcher::default();
        let [a, b, c] = [(); 3].map(|()| listener(&mut dispatcher, Demand::All));
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
        let d = listener(&mut dispatcher, Demand::All);
        assert_eq!(change(&mut dispatcher, &[7, 8]), [(b, 7), (c, 7), (d, 7), (b, 8), (c, 8), (d, 8)]);
        dispatcher.end_all(EndReason::Relist, &Version::from(8));
        assert_eq!(change(&mut dispatcher, &[9]), []);
    }

    #[test]
    fn one_who_takes_batches_changes_nothing_for_the_others() {
        let mut dispatcher = Dispatcher::default();
        let (a, b) = (listener(&mut dispatcher, Demand::All), listener(&mut dispatcher, Demand::Batch(0)));
        assert_eq!(change(&mut dispatcher, &[1, 2]), [(a, 1), (b, 1), (a, 2), (b, 2)]);
        assert_eq!(change(&mut dispatcher, &[3]), [(a, 3)]);
        dispatcher.demand(b, Demand::Batch(0));
        assert_eq!(change(&mut dispatcher, &[4]), [(a, 4), (b, 3), (b, 4)]);
    }
}
