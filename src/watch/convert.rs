//! From a change upstream to the event that one watcher sees.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::cache::incoming::ChangeKind;
use crate::cache::window::Entry;
use crate::object::Object;
use crate::watch::event::{EventKind, WatchEvent};

/// One change in the forms that watchers may see it. Each form is made once, when the first watcher needs it.
#[derive(Debug)]
pub struct Conversion<'a> {
    entry: &'a Entry,
    deleted: OnceCell<Option<Rc<Object>>>,
}

impl<'a> Conversion<'a> {
    /// Of one change.
    pub fn new(entry: &'a Entry) -> Self {
        Self { entry, deleted: OnceCell::new() }
    }

    /// Which kind of event a watcher with this filter sees, if any. An object that enters the selector is ADDED, one that leaves it
    /// is DELETED; an ADDED upstream for a key that is held is MODIFIED.
    pub fn kind(&self, passes: impl Fn(&Object) -> bool) -> Option<EventKind> {
        let now = self.entry.kind != ChangeKind::Deleted && passes(&self.entry.object);
        let before = self.entry.previous.as_deref().is_some_and(&passes);
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

    /// The event of that kind. A DELETED carries the previous content at the version of the change.
    pub fn event(&self, kind: EventKind) -> WatchEvent {
        let object = if kind == EventKind::Deleted { self.deleted() } else { self.entry.object.clone() };
        WatchEvent { kind, object, version: self.entry.version().clone() }
    }

    fn deleted(&self) -> Rc<Object> {
        let made =
            self.deleted.get_or_init(|| self.entry.previous.as_ref().and_then(|previous| previous.restamped(self.entry.version()).ok()));
        made.clone().unwrap_or_else(|| self.entry.object.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::labelled;

    fn convert(kind: ChangeKind, now: Option<&str>, before: Option<&str>) -> Option<(EventKind, String)> {
        let make = |version: u64, app: &str| labelled("a/x", version, &[("app", app)]);
        let entry = Entry { kind, object: make(9, now.unwrap_or("gone")), previous: before.map(|app| make(5, app)), at: 0 };
        let conversion = Conversion::new(&entry);
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
    fn leaving_the_selector_carries_the_previous_content_at_the_new_version() {
        let (_, text) = convert(ChangeKind::Modified, Some("db"), Some("web")).unwrap();
        assert!(text.contains(r#""app":"web""#) && text.contains(r#""resourceVersion":"9""#), "{text}");
    }
}
