//! From a change upstream to the event that one watcher sees.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::change::{Change, ChangeKind};
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::selector::Interest;
use crate::watch::event::{EventKind, WatchEvent};

/// One change in the forms that watchers may see it. Each form is made once, when the first watcher needs it.
#[derive(Debug)]
pub struct Conversion<'a> {
    change: &'a Change,
    deleted: OnceCell<Option<Rc<Object>>>,
}

impl<'a> Conversion<'a> {
    /// Of one change.
    pub fn new(change: &'a Change) -> Self {
        Self { change, deleted: OnceCell::new() }
    }

    /// Which kind of event a watcher with this filter sees, if any. `passes` may ask for name, uid, labels and registered fields.
    ///
    /// An object that enters the selection is ADDED, one that leaves it is DELETED. An ADDED upstream for a key that is held is MODIFIED.
    pub fn kind(&self, passes: impl Fn(&Object) -> bool) -> Option<EventKind> {
        let Change { kind, object, previous, .. } = self.change;
        let now = *kind != ChangeKind::Deleted && passes(object);
        let before = match previous {
            // Asked after `passes`, because a field that it had to read is no longer shared.
            Some(previous) if *kind != ChangeKind::Deleted && object.shares_facts(previous) => now,
            Some(previous) => passes(previous),
            None => false,
        };
        match (now, before) {
            (true, false) => Some(EventKind::Added),
            (true, true) => Some(EventKind::Modified),
            (false, true) => Some(EventKind::Deleted),
            (false, false) => None,
        }
    }

    /// The kind for a watcher that everything passes.
    pub fn plain_kind(&self) -> Option<EventKind> {
        self.kind(|_| true)
    }

    /// Whether somebody with this interest hears of it as an event of this kind. Only updates are ever held back.
    pub fn is_wanted(&self, kind: EventKind, interest: Option<&Interest>, fields: &FieldSet) -> bool {
        let Change { object, previous, .. } = self.change;
        match (interest, previous) {
            (Some(interest), Some(previous)) if kind == EventKind::Modified => interest.wants(previous, object, fields),
            _ => true,
        }
    }

    /// The event of that kind. A DELETED carries the previous content at the version of the change.
    pub fn event(&self, kind: EventKind) -> WatchEvent {
        let object = if kind == EventKind::Deleted { self.deleted() } else { self.change.object.clone() };
        WatchEvent { kind, object, version: self.change.version().clone(), before: None }
    }

    fn deleted(&self) -> Rc<Object> {
        let made = self
            .deleted
            .get_or_init(|| self.change.previous.as_ref().and_then(|previous| previous.restamped(self.change.object.version()).ok()));
        made.clone().unwrap_or_else(|| self.change.object.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Instant;
    use std::cell::Cell;

    use crate::selector::{Filter, FilterText};
    use crate::store::Store;
    use crate::testing::{labelled, with_spec};

    /// A change of `a/x` between two states that share what is the same in both.
    fn shared(before: Rc<Object>, mut after: Rc<Object>) -> Change {
        let mut store = Store::new();
        store.upsert(before);
        let previous = store.put(&mut after);
        Change::new(ChangeKind::Modified, after, previous, Instant::START)
    }

    fn convert(kind: ChangeKind, now: Option<&str>, before: Option<&str>) -> Option<(EventKind, String)> {
        let make = |version: u64, app: &str| labelled("a/x", version, &[("app", app)]);
        let change = Change::new(kind, make(9, now.unwrap_or("gone")), before.map(|app| make(5, app)), Instant::START);
        let conversion = Conversion::new(&change);
        let kind = conversion.kind(|object| object.labels().iter().any(|(_, value)| &**value == "web"))?;
        let event = conversion.event(kind);
        Some((event.kind, String::from_utf8(event.object.text().to_vec()).unwrap()))
    }

    #[test]
    fn the_selectors_edges_are_added_and_deleted() {
        use ChangeKind::{Added, Deleted, Modified};
        assert_eq!(convert(Added, Some("web"), None).unwrap().0, EventKind::Added);
        assert_eq!(convert(Modified, Some("web"), Some("web")).unwrap().0, EventKind::Modified);
        assert_eq!(convert(Modified, Some("web"), Some("db")).unwrap().0, EventKind::Added);
        assert_eq!(convert(Modified, Some("db"), Some("web")).unwrap().0, EventKind::Deleted);
        assert_eq!(convert(Modified, Some("db"), Some("db")), None);
        assert_eq!(convert(Deleted, Some("web"), Some("web")).unwrap().0, EventKind::Deleted);
        assert_eq!(convert(Deleted, Some("web"), Some("db")), None);
    }

    #[test]
    fn the_store_decides_between_added_and_modified_and_an_unknown_delete_is_invisible() {
        use ChangeKind::{Added, Deleted, Modified};
        assert_eq!(convert(Added, Some("web"), Some("web")).unwrap().0, EventKind::Modified);
        assert_eq!(convert(Modified, Some("web"), None).unwrap().0, EventKind::Added);
        assert_eq!(convert(Deleted, Some("web"), None), None);
    }

    #[test]
    fn what_two_versions_share_is_asked_of_one_of_them() {
        let asked = |before: &str, after: &str| {
            let change = shared(labelled("a/x", 5, &[("app", before)]), labelled("a/x", 9, &[("app", after)]));
            let count = Cell::new(0);
            let kind = Conversion::new(&change).kind(|object| {
                count.set(count.get() + 1);
                &*object.labels()[0].1 == "web"
            });
            (kind, count.get())
        };
        assert_eq!(asked("web", "web"), (Some(EventKind::Modified), 1));
        assert_eq!(asked("db", "db"), (None, 1));
        assert_eq!(asked("web", "db"), (Some(EventKind::Deleted), 2));
        assert_eq!(asked("db", "web"), (Some(EventKind::Added), 2));
    }

    #[test]
    fn a_field_that_nobody_has_read_yet_is_asked_of_both() {
        let on = |version, node| with_spec("a/x", version, &[], &serde_json::json!({"nodeName": node}));
        for (before, after, expected) in
            [("n1", "n2", EventKind::Deleted), ("n2", "n1", EventKind::Added), ("n1", "n1", EventKind::Modified)]
        {
            let change = shared(on(5, before), on(9, after));
            assert!(change.object.shares_facts(change.previous.as_ref().unwrap()), "neither was asked for a field");
            let mut fields = FieldSet::new(Vec::new());
            let filter = Filter::new(FilterText { fields: Some("spec.nodeName=n1"), ..FilterText::default() }, &mut fields).unwrap();
            assert_eq!(Conversion::new(&change).kind(|object| filter.passes(object, &fields)), Some(expected));
        }
    }

    #[test]
    fn leaving_the_selector_carries_the_previous_content_at_the_new_version() {
        let (_, text) = convert(ChangeKind::Modified, Some("db"), Some("web")).unwrap();
        assert!(text.contains(r#""app":"web""#) && text.contains(r#""resourceVersion":"9""#), "{text}");
    }
}
