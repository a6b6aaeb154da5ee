//! Watchers that ask for the same: an event asks for them once, and what they ask for takes room once.

use crate::watch::dispatcher::Dispatcher;
use crate::watch::id::WatcherId;

impl Dispatcher {
    /// Gives a watcher the filter of one that stands where it does and asks for the same.
    pub(super) fn share_filter(&mut self, id: WatcherId) {
        let watcher = &self.watchers[id.place()];
        let others = self.registry.neighbours(&watcher.route).iter().filter(|other| **other != id);
        let filters = others.filter_map(|other| self.watchers.get(other.place())).map(|other| &other.filter);
        if let Some(filter) = filters.rev().find(|filter| **filter == watcher.filter).cloned() {
            self.watchers[id.place()].filter = filter;
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
    use crate::store::StoreListener;
    use crate::testing::labelled;
    use crate::watch::watcher::{Demand, Watcher};
    use std::rc::Rc;

    fn start(dispatcher: &mut Dispatcher, namespace: Option<&str>, labels: &str, fields: &mut FieldSet) -> WatcherId {
        let filter = Filter::new(namespace, None, Some(labels), None, fields).unwrap();
        let id = dispatcher.add(Watcher::new(filter));
        dispatcher.demand(id, Demand::All);
        dispatcher.start(id, 0);
        id
    }

    fn same(dispatcher: &Dispatcher, one: WatcherId, other: WatcherId) -> bool {
        Rc::ptr_eq(&dispatcher.get(one).unwrap().filter, &dispatcher.get(other).unwrap().filter)
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
            dispatcher.changed(&Change { kind: ChangeKind::Added, object, previous: None, at: 0 }, &fields);
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
        let filter = Rc::downgrade(&dispatcher.get(gone).unwrap().filter);
        dispatcher.forget(gone);
        dispatcher.take_outbox();
        assert_eq!(filter.strong_count(), 0);
        let new = start(&mut dispatcher, None, "app=web", &mut fields);
        assert_eq!(Rc::strong_count(&dispatcher.get(new).unwrap().filter), 1);
    }
}
