//! Watchers by what they can match at all, so that an event visits only those it may concern.
//!
//! A watcher of everything hears of every event. So does one whose selectors demand nothing that could be looked up, such as `app!=web`.
//! Any other is filed in buckets, by the name it is limited to. Without one it is filed under the values of one label or field that it
//! demands, else by its namespace. Where it has a namespace, its buckets are of that namespace.
//!
//! A watcher of everything that has an interest is filed with those of the same interest. Of an update each interest is asked once.
//!
//! An event looks up the values that its object has, and those that it had before: watchers whose selection it leaves must hear of that.
//!
//! A bucket is known by a hash alone. Where two share one, some visits are needless. They do no harm, because a visit asks the watcher's filter.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::{Filter, Interest};

use super::id::WatcherId;
use super::roster::Roster;
use super::route::{Bucket, Filing, Kind, Route, Way, bucket};

/// So many watchers of a bucket are compared with a new one that may ask for the same. The last ones most likely do.
const MAX_NEIGHBOURS: usize = 8;

/// How many watchers are filed under one kind of value: in any namespace, and in one.
#[derive(Clone, Copy, Debug, Default)]
struct Users([usize; 2]);

impl Users {
    fn any(self) -> bool {
        self.0 != [0, 0]
    }
}

/// Most buckets hold one watcher.
#[derive(Debug)]
enum Ids {
    One(u64, WatcherId),
    Many(Roster),
}

impl Ids {
    fn len(&self) -> usize {
        match self {
            Self::One(..) => 1,
            Self::Many(ids) => ids.len(),
        }
    }
}

/// All watchers that hear of changes.
#[derive(Debug, Default)]
pub(super) struct Registry {
    // The slot of the field that routes events.
    trigger: Option<u32>,
    // Those that hear of every event.
    everything: Roster,
    // Those that hear of every event in which they have an interest.
    interested: Vec<(Rc<Interest>, Roster)>,
    // Those that are asked about every event.
    everywhere: Roster,
    // Counts watchers: the number in a route tells it from all that ever were.
    joined: u64,
    buckets: FxHashMap<Bucket, Ids>,
    namespaces: Users,
    names: Users,
    labels: Users,
    // By slot. Most resources are watched by few fields.
    fields: Vec<(u32, Users)>,
}

impl Registry {
    /// Makes this the field that routes events: watchers that demand a value of it are filed under that, whatever else they demand.
    pub(super) fn set_trigger(&mut self, slot: usize) {
        self.trigger = u32::try_from(slot).ok();
    }

    /// Whether the watcher of this filter would be filed under the trigger; none of them without one.
    pub(super) fn triggers(&self, filter: &Filter) -> bool {
        self.trigger.is_some_and(|trigger| filter.demands().any(|(slot, _)| slot == trigger))
    }

    /// Whether there is a field that routes events.
    pub(super) fn has_trigger(&self) -> bool {
        self.trigger.is_some()
    }

    /// Files a watcher, and says where.
    pub(super) fn insert(&mut self, filter: &Filter, interest: Option<&Rc<Interest>>, watcher: WatcherId) -> Route {
        self.joined += 1;
        let way = match (Way::of(filter, self.trigger, |bucket| self.population(bucket)), interest) {
            (Way::Everything, Some(interest)) => Way::Interested(interest.clone()),
            (way, _) => way,
        };
        let route = Route { way, joined: self.joined };
        match &route.way {
            Way::None => {}
            Way::Everything => self.everything.push(route.joined, watcher),
            Way::Interested(interest) => self.group(interest).push(route.joined, watcher),
            Way::Everywhere => self.everywhere.push(route.joined, watcher),
            Way::One(filing) => self.put(*filing, route.joined, watcher),
            Way::Several(filings) => filings.iter().for_each(|filing| self.put(*filing, route.joined, watcher)),
        }
        route
    }

    /// Takes a watcher out. Nothing happens when it is not there.
    pub(super) fn remove(&mut self, route: &Route, watcher: WatcherId) {
        match &route.way {
            Way::None => {}
            Way::Everything => _ = self.everything.remove(route.joined, watcher),
            Way::Interested(interest) => {
                self.group(interest).remove(route.joined, watcher);
                self.interested.retain(|(_, watchers)| watchers.len() > 0);
            }
            Way::Everywhere => _ = self.everywhere.remove(route.joined, watcher),
            Way::One(filing) => self.take(*filing, route.joined, watcher),
            Way::Several(filings) => filings.iter().for_each(|filing| self.take(*filing, route.joined, watcher)),
        }
    }

    /// Some of the watchers that stand where this one does, itself included. Some ids may stand for nobody.
    pub(super) fn neighbours(&self, route: &Route) -> &[WatcherId] {
        let filing = match &route.way {
            Way::None => return &[],
            Way::Everything => return self.everything.last(MAX_NEIGHBOURS),
            Way::Interested(interest) => {
                let group = self.interested.iter().find(|(known, _)| Rc::ptr_eq(known, interest));
                return group.map_or(&[], |(_, watchers)| watchers.last(MAX_NEIGHBOURS));
            }
            Way::Everywhere => return self.everywhere.last(MAX_NEIGHBOURS),
            Way::One(filing) => filing,
            Way::Several(filings) => &filings[0],
        };
        match self.buckets.get(&filing.bucket) {
            Some(Ids::One(_, id)) => std::slice::from_ref(id),
            Some(Ids::Many(ids)) => ids.last(MAX_NEIGHBOURS),
            None => &[],
        }
    }

    /// Forgets all watchers.
    pub(super) fn clear(&mut self) {
        *self = Self { trigger: self.trigger, joined: self.joined, ..Self::default() };
    }

    /// The watchers of everything.
    pub(super) fn everything(&mut self) -> &[WatcherId] {
        self.everything.all()
    }

    /// Adds the watchers of everything that have an interest for which `wants` answers yes. It is asked once for each interest.
    pub(super) fn interested(&self, wants: impl Fn(&Interest) -> bool, found: &mut Vec<WatcherId>) {
        self.interested.iter().filter(|(interest, _)| wants(interest)).for_each(|(_, watchers)| watchers.add_to(found));
    }

    /// Those of one interest.
    fn group(&mut self, interest: &Rc<Interest>) -> &mut Roster {
        let known = self.interested.iter().position(|(known, _)| Rc::ptr_eq(known, interest));
        let place = known.unwrap_or_else(|| {
            self.interested.push((interest.clone(), Roster::default()));
            self.interested.len() - 1
        });
        &mut self.interested[place].1
    }

    /// Adds the other watchers that a change may concern. One that is filed in several buckets may come more than once.
    pub(super) fn candidates(&self, object: &Object, previous: Option<&Object>, fields: &FieldSet, found: &mut Vec<WatcherId>) {
        self.everywhere.add_to(found);
        if self.buckets.is_empty() {
            return;
        }
        let namespace = object.namespace();
        if self.namespaces.any() && !namespace.is_empty() {
            self.find(Kind::Namespace, namespace, "", "", found);
        }
        self.look_up(self.names, Kind::Name, namespace, "", object.name(), found);
        if self.labels.any() {
            for (key, value) in object.labels() {
                self.look_up(self.labels, Kind::Label, namespace, key, value, found);
            }
            let before = previous.map_or(&[][..], Object::labels);
            // Both are sorted by key, and each has a key once.
            for (key, value) in before.iter().filter(|label| object.labels().binary_search(label).is_err()) {
                self.look_up(self.labels, Kind::Label, namespace, key, value, found);
            }
        }
        for (slot, users) in &self.fields {
            let value = object.field(*slot as usize, fields);
            self.look_up(*users, Kind::Field(*slot), namespace, "", value.text(), found);
            let Some(before) = previous.map(|previous| previous.field(*slot as usize, fields)) else { continue };
            if before.text() != value.text() {
                self.look_up(*users, Kind::Field(*slot), namespace, "", before.text(), found);
            }
        }
    }

    /// Finds who is filed under a value, in any namespace and in this one.
    fn look_up(&self, users: Users, kind: Kind, namespace: &str, key: &str, value: &str, found: &mut Vec<WatcherId>) {
        if users.0[0] > 0 {
            self.find(kind, "", key, value, found);
        }
        if users.0[1] > 0 && !namespace.is_empty() {
            self.find(kind, namespace, key, value, found);
        }
    }

    fn find(&self, kind: Kind, namespace: &str, key: &str, value: &str, found: &mut Vec<WatcherId>) {
        match self.buckets.get(&bucket(kind, namespace, key, value)) {
            Some(Ids::One(_, id)) => found.push(*id),
            Some(Ids::Many(ids)) => ids.add_to(found),
            None => {}
        }
    }

    fn population(&self, bucket: Bucket) -> usize {
        self.buckets.get(&bucket).map_or(0, Ids::len)
    }

    fn put(&mut self, filing: Filing, joined: u64, watcher: WatcherId) {
        self.count_in(filing);
        self.buckets
            .entry(filing.bucket)
            .and_modify(|ids| match ids {
                Ids::One(first, other) => {
                    let mut both = Roster::default();
                    both.push(*first, *other);
                    both.push(joined, watcher);
                    *ids = Ids::Many(both);
                }
                Ids::Many(ids) => ids.push(joined, watcher),
            })
            .or_insert(Ids::One(joined, watcher));
    }

    fn take(&mut self, filing: Filing, joined: u64, watcher: WatcherId) {
        let Some(ids) = self.buckets.get_mut(&filing.bucket) else { return };
        let gone = match ids {
            Ids::One(first, id) => (*first, *id) == (joined, watcher),
            Ids::Many(ids) => ids.remove(joined, watcher),
        };
        if !gone {
            return;
        }
        if matches!(ids, Ids::One(..)) || ids.len() == 0 {
            self.buckets.remove(&filing.bucket);
        }
        self.count_out(filing);
    }

    /// One more watcher is filed under this kind of value.
    fn count_in(&mut self, filing: Filing) {
        if let Kind::Field(slot) = filing.kind
            && !self.fields.iter().any(|(known, _)| *known == slot)
        {
            self.fields.push((slot, Users::default()));
        }
        if let Some(users) = self.users(filing.kind) {
            users.0[usize::from(filing.scoped)] += 1;
        }
    }

    /// One watcher less. A field that nobody demands any more is not looked up in events.
    fn count_out(&mut self, filing: Filing) {
        if let Some(users) = self.users(filing.kind) {
            users.0[usize::from(filing.scoped)] -= 1;
        }
        if matches!(filing.kind, Kind::Field(_)) {
            self.fields.retain(|(_, users)| users.any());
        }
    }

    fn users(&mut self, kind: Kind) -> Option<&mut Users> {
        match kind {
            Kind::Namespace => Some(&mut self.namespaces),
            Kind::Name => Some(&mut self.names),
            Kind::Label => Some(&mut self.labels),
            Kind::Field(slot) => self.fields.iter_mut().find(|(known, _)| *known == slot).map(|(_, users)| users),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::FilterText;
    use crate::testing::with_spec;

    /// Files one watcher a line (namespace, name, labels, fields), with ids in this order.
    struct Filed {
        registry: Registry,
        fields: FieldSet,
        routes: Vec<Route>,
    }

    fn filed(lines: &[(&str, &str, &str, &str)]) -> Filed {
        let mut filed = Filed { registry: Registry::default(), fields: FieldSet::new(Vec::new()), routes: Vec::new() };
        lines.iter().for_each(|line| filed.add(line));
        filed
    }

    impl Filed {
        fn add(&mut self, (namespace, name, labels, fields): &(&str, &str, &str, &str)) {
            let filter = Filter::new(
                FilterText { namespace: Some(namespace), name: Some(name), labels: Some(labels), fields: Some(fields) },
                &mut self.fields,
            )
            .unwrap();
            let id = WatcherId::of(self.routes.len());
            self.routes.push(self.registry.insert(&filter, None, id));
        }

        fn visited(&mut self, object: &Rc<Object>, previous: Option<&Rc<Object>>) -> Vec<u32> {
            let mut found = self.registry.everything().to_vec();
            self.registry.candidates(object, previous.map(|previous| &**previous), &self.fields, &mut found);
            found.sort_unstable();
            found.into_iter().map(WatcherId::number).collect()
        }
    }

    fn pod(key: &str, labels: &[(&str, &str)], node: &str) -> Rc<Object> {
        with_spec(key, 1, labels, &serde_json::json!({"nodeName": node}))
    }

    #[test]
    fn an_event_visits_the_four_scopes_it_belongs_to() {
        let scopes = [("", ""), ("a", ""), ("", "x"), ("a", "x"), ("b", ""), ("a", "y")].map(|(namespace, name)| (namespace, name, "", ""));
        let mut filed = filed(&scopes);
        assert_eq!(filed.visited(&pod("a/x", &[], ""), None), [0, 1, 2, 3]);
        assert_eq!(filed.visited(&pod("b/x", &[], ""), None), [0, 2, 4]);
        assert_eq!(filed.visited(&pod("x", &[], ""), None), [0, 2]);
    }

    #[test]
    fn an_event_visits_those_who_demand_a_value_that_its_object_has_or_had() {
        let mut filed = filed(&[
            ("", "", "app=web", ""),
            ("", "", "app in (web, db)", ""),
            ("a", "", "app=web", ""),
            ("", "", "", "spec.nodeName=n1"),
            ("b", "", "", "spec.nodeName=n1"),
            ("", "", "app!=web", ""),
            ("", "", "app", ""),
            ("", "", "", "spec.nodeName="),
        ]);
        let (web, db) = (pod("a/x", &[("app", "web")], "n1"), pod("a/x", &[("app", "db")], "n2"));
        assert_eq!(filed.visited(&web, None), [0, 1, 2, 3, 5, 6]);
        assert_eq!(filed.visited(&db, None), [1, 5, 6]);
        assert_eq!(filed.visited(&db, Some(&web)), [0, 1, 1, 2, 3, 5, 6], "what it leaves hears of it too");
        assert_eq!(filed.visited(&web, Some(&web)), [0, 1, 2, 3, 5, 6], "what stays is looked up once");
        assert_eq!(filed.visited(&pod("b/x", &[], ""), None), [5, 6, 7]);
        assert_eq!(filed.visited(&pod("b/x", &[], ""), Some(&pod("b/x", &[], "n1"))), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn who_demands_several_things_is_filed_under_the_one_with_the_fewest_others() {
        let mut filed = filed(&[]);
        for number in 0..100 {
            filed.add(&("", "", &format!("app=web,hash=h{number}"), ""));
        }
        let visited = filed.visited(&pod("a/x", &[("app", "web"), ("hash", "h70")], ""), None);
        assert!(visited.contains(&70) && visited.len() <= 2, "{visited:?}");
    }

    #[test]
    fn a_name_tells_more_than_a_label_and_the_trigger_comes_before_all() {
        let mut filed = filed(&[("a", "x", "app=web", "spec.nodeName=n1")]);
        assert_eq!(filed.visited(&pod("a/x", &[], ""), None), [0]);
        let slot = filed.fields.slot(&crate::json::path::Path::parse("spec.nodeName").unwrap());
        filed.registry.set_trigger(slot);
        filed.add(&("a", "y", "app=web", "spec.nodeName=n1"));
        filed.add(&("a", "y", "", "spec.nodeName!=n1"));
        assert_eq!(filed.visited(&pod("a/y", &[], ""), None), [2]);
        assert_eq!(filed.visited(&pod("b/z", &[], "n1"), None), [1], "the trigger's values know no namespace");
    }

    #[test]
    fn fil_13_removing_twice_is_harmless_and_leaves_nothing_behind() {
        let lines = [("a", "x", "", ""), ("", "", "", ""), ("", "", "app!=web", ""), ("", "", "app in (a, b)", ""), ("b", "", "", "")];
        let mut filed = filed(&lines);
        filed.add(&("", "", "", "spec.nodeName=n1"));
        filed.add(&("", "", "", "spec.nodeName=n1"));
        for _ in 0..2 {
            for (id, route) in filed.routes.iter().enumerate() {
                filed.registry.remove(route, WatcherId::of(id));
            }
        }
        let Registry { everything, everywhere, buckets, namespaces, names, labels, fields, .. } = &filed.registry;
        assert!(everything.len() == 0 && everywhere.len() == 0 && buckets.is_empty() && fields.is_empty());
        assert!(![namespaces, names, labels].into_iter().any(|users| users.any()));
    }
}
