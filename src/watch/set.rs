//! The watchers of one dispatcher by id, and where each of them is filed.

use std::rc::Rc;

use slab::Slab;

use crate::change::{Change, Difference};
use crate::json::fields::FieldSet;
use crate::selector::{Filter, Interest, Interests};
use crate::version::Version;

use super::event::EndReason;
use super::id::WatcherId;
use super::life::Live;
use super::registry::Registry;
use super::watcher::{Beginning, Watcher};

/// Watchers of every age: those that wait, that are live, that have ended, and those whose id may be used again after the next flush.
#[derive(Debug, Default)]
pub(super) struct Watchers {
    all: Slab<Watcher>,
    registry: Registry,
    interests: Interests,
    serials: u64,
    retired: Vec<WatcherId>,
}

impl Watchers {
    /// Adds a watcher that waits for its start.
    pub(super) fn add(&mut self, filter: Filter, interest: Option<Interest>) -> WatcherId {
        self.serials += 1;
        let interest = interest.map(|interest| self.interests.share(Rc::new(interest)));
        WatcherId::of(self.all.insert(Watcher::new(filter, interest, self.serials)))
    }

    /// The watcher of an id, while its subscriber is there.
    pub(super) fn get(&self, id: WatcherId) -> Option<&Watcher> {
        self.all.get(id.index()).filter(|watcher| !watcher.life().is_retired())
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, id: WatcherId) -> Option<&mut Watcher> {
        self.all.get_mut(id.index()).filter(|watcher| !watcher.life().is_retired())
    }

    /// The watcher of an id that the registry gave out: it is live, so nobody asks. For each event and watcher this is the hot path.
    #[inline]
    pub(super) fn filed(&mut self, id: WatcherId) -> Option<&mut Watcher> {
        self.all.get_mut(id.index())
    }

    /// All, with their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (WatcherId, &Watcher)> {
        self.all.iter().map(|(place, watcher)| (WatcherId::of(place), watcher))
    }

    /// All, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Watcher> {
        self.all.iter_mut().map(|(_, watcher)| watcher)
    }

    /// The ids of all.
    pub(super) fn ids(&self) -> Vec<WatcherId> {
        self.iter().map(|(id, _)| id).collect()
    }

    /// Starts a watcher: it is filed, and shares its filter with those who ask for the same. Returns it, unless it does not wait for its start.
    pub(super) fn start(&mut self, id: WatcherId, beginning: Beginning) -> Option<&Watcher> {
        let watcher = self.all.get_mut(id.index()).filter(|watcher| watcher.life().is_waiting())?;
        let route = self.registry.insert(watcher.filter(), watcher.interest(), id);
        let others = self.registry.neighbours(&route).iter().filter(|other| **other != id);
        let filter = watcher.filter().clone();
        watcher.start(beginning, route.clone());
        let filters = others.filter_map(|other| self.all.get(other.index())).map(Watcher::filter);
        let shared = filters.rev().find(|other| **other == filter).cloned();
        let watcher = &mut self.all[id.index()];
        if let Some(shared) = shared {
            watcher.share_filter(shared);
        }
        Some(watcher)
    }

    /// Ends a watcher, and takes it out of the registry. Returns what it had while it was live.
    pub(super) fn end(&mut self, id: WatcherId, reason: EndReason, reached: &Version) -> Option<Live> {
        let live = self.get_mut(id)?.end(reason, reached)?;
        self.registry.remove(&live.route, id);
        Some(live)
    }

    /// Its subscriber is gone; after the next flush its id may stand for another.
    pub(super) fn retire(&mut self, id: WatcherId) {
        if let Some(watcher) = self.get_mut(id) {
            watcher.retire();
            self.retired.push(id);
        }
    }

    /// The flush is over: the ids of those who are gone may be used again.
    pub(super) fn remove_retired(&mut self) {
        for id in std::mem::take(&mut self.retired) {
            self.all.remove(id.index());
        }
    }

    // ------------------------------------------------------------------------------------------------- by what they are filed under

    /// Has watchers that demand a value of this field filed under it.
    pub(super) fn set_trigger(&mut self, slot: usize) {
        self.registry.set_trigger(slot);
    }

    /// Whether a field routes events, and whether it would route them to a watcher of this filter.
    pub(super) fn triggers(&self, filter: &Filter) -> (bool, bool) {
        (self.registry.has_trigger(), self.registry.triggers(filter))
    }

    /// The watchers of everything.
    #[inline]
    pub(super) fn everything(&mut self) -> &[WatcherId] {
        self.registry.everything()
    }

    /// Adds the other watchers that a change may concern. One that is filed in several buckets may come more than once.
    pub(super) fn candidates(&self, change: &Change, fields: &FieldSet, found: &mut Vec<WatcherId>) {
        self.registry.candidates(&change.object, change.previous.as_deref(), fields, found);
    }

    /// Adds the watchers of everything that have an interest for which `wants` answers yes.
    pub(super) fn interested(&self, wants: impl Fn(&Interest) -> bool, found: &mut Vec<WatcherId>) {
        self.registry.interested(wants, found);
    }

    /// All registered watchers that a difference may concern.
    pub(super) fn concerned(&mut self, difference: &Difference, fields: &FieldSet, found: &mut Vec<WatcherId>) {
        let Difference { before, after } = difference;
        let Some(object) = after.as_ref().or(before.as_ref()) else { return };
        found.extend_from_slice(self.registry.everything());
        self.registry.interested(|_| true, found);
        self.registry.candidates(object, before.as_deref(), fields, found);
    }

    /// Empties the registry at once: all are about to end, or to be filed anew.
    pub(super) fn unfile_all(&mut self) {
        self.registry.clear();
    }

    /// Files a live watcher anew.
    pub(super) fn refile(&mut self, id: WatcherId) {
        if let Some(watcher) = self.all.get_mut(id.index()).filter(|watcher| watcher.life().live().is_some()) {
            let route = self.registry.insert(watcher.filter(), watcher.interest(), id);
            watcher.refile(route);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::change::ChangeKind;
    use crate::json::fields::FieldSet;
    use crate::selector::Filter;
    use crate::selector::FilterText;
    use crate::store::StoreObserver;
    use crate::testing::labelled;
    use crate::time::Instant;
    use crate::watch::demand::Demand;
    use crate::watch::dispatcher::Dispatcher;
    use std::rc::Rc;

    fn start(dispatcher: &mut Dispatcher, namespace: Option<&str>, labels: &str, fields: &mut FieldSet) -> WatcherId {
        let filter = Filter::new(FilterText { namespace, labels: Some(labels), ..FilterText::default() }, fields).unwrap();
        let id = dispatcher.add(filter, None);
        dispatcher.demand(id, Demand::All);
        dispatcher.start(id, Beginning::default(), Instant::START);
        id
    }

    fn same(dispatcher: &Dispatcher, one: WatcherId, other: WatcherId) -> bool {
        Rc::ptr_eq(dispatcher.get(one).unwrap().filter(), dispatcher.get(other).unwrap().filter())
    }

    #[test]
    fn who_asks_for_the_same_shares_it_and_hears_the_same() {
        let (mut dispatcher, mut fields) = (Dispatcher::default(), FieldSet::new(Vec::new()));
        let mut start = |namespace, labels| start(&mut dispatcher, namespace, labels, &mut fields);
        // All of them stand in the bucket of `app=web`, in turns: what was asked of one is no answer for the next.
        let web = [start(None, "app=web"), start(None, "app=web")];
        let not_old = [start(None, "app=web,age!=old"), start(None, "app=web"), start(None, "app=web,age!=old")];
        let scoped = start(Some("a"), "app=web");
        assert!(same(&dispatcher, web[0], web[1]) && same(&dispatcher, web[0], not_old[1]));
        assert!(same(&dispatcher, not_old[0], not_old[2]));
        assert!(!same(&dispatcher, web[0], not_old[0]) && !same(&dispatcher, web[0], scoped));

        let mut heard = |namespace: &str, age: &str, version: u64| {
            let object = labelled(&format!("{namespace}/x"), version, &[("app", "web"), ("age", age)]);
            dispatcher.changed(&Change::new(ChangeKind::Added, object, None, Instant::START), &fields);
            let mut ids: Vec<u32> = dispatcher.take_outbox().0.pairs().chunks_exact(2).map(|pair| pair[0]).collect();
            ids.sort_unstable();
            ids
        };
        assert_eq!(heard("a", "new", 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(heard("b", "new", 2), [0, 1, 2, 3, 4]);
        assert_eq!(heard("a", "old", 3), [0, 1, 3, 5]);
    }

    #[test]
    fn who_comes_after_all_others_have_gone_shares_with_nobody() {
        let (mut dispatcher, mut fields) = (Dispatcher::default(), FieldSet::new(Vec::new()));
        let gone = start(&mut dispatcher, None, "app=web", &mut fields);
        let filter = Rc::downgrade(dispatcher.get(gone).unwrap().filter());
        dispatcher.forget(gone);
        dispatcher.take_outbox();
        assert_eq!(filter.strong_count(), 0);
        let new = start(&mut dispatcher, None, "app=web", &mut fields);
        assert_eq!(Rc::strong_count(dispatcher.get(new).unwrap().filter()), 1);
    }
}
