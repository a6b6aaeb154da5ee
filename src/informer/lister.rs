//! What readers of an informer see at one moment. An informer that was forgotten shows nothing.

use std::rc::Rc;

use crate::informer::informer::Informer;
use crate::key::Key;
use crate::object::Object;
use crate::selector::parse_selectors;
use crate::status::Error;
use crate::store::Store;
use crate::time::Instant;

/// An informer over its store, as of now.
#[derive(Clone, Copy)]
pub struct Lister<'a> {
    informer: Option<&'a Informer>,
    store: &'a Store,
    now: Instant,
}

impl<'a> Lister<'a> {
    /// The reader of an informer; `None`: it was forgotten.
    pub fn of(informer: Option<&'a Informer>, store: &'a Store, now: Instant) -> Self {
        Self { informer, store, now }
    }

    /// Whether its first state is there.
    pub fn has_synced(self) -> bool {
        self.informer.is_some_and(Informer::has_synced)
    }

    /// The object under a key.
    pub fn get(self, key: &str) -> Option<&'a Rc<Object>> {
        self.informer?.get(key, self.store, self.now)
    }

    /// The objects of a namespace, or of all for the empty one, that a label selector lets through; in key order. Fails on a selector with a
    /// mistake.
    pub fn list(self, label_selector: Option<&str>, namespace: &str) -> Result<Vec<Rc<Object>>, Error> {
        let labels = parse_selectors(label_selector, None)?.label;
        let mut objects = self.informer.map(|informer| informer.list(namespace, self.store, self.now)).unwrap_or_default();
        objects.retain(|object| labels.matches(object.labels()));
        Ok(objects)
    }

    /// The objects that have a value in an index, in key order. Fails when there is no such index.
    pub fn by_index(self, index: &str, value: &str) -> Result<Vec<Rc<Object>>, Error> {
        self.informer.map_or(Ok(Vec::new()), |informer| informer.by_index(index, value, self.store, self.now))
    }

    /// The keys of the objects that have a value in an index, in their order. Fails when there is no such index.
    pub fn index_keys(self, index: &str, value: &str) -> Result<Vec<Key>, Error> {
        self.informer.map_or(Ok(Vec::new()), |informer| informer.index_keys(index, value, self.store, self.now))
    }

    /// The values that some object has in an index, in their order; none when there is no such index.
    pub fn index_values(self, index: &str) -> Vec<Rc<str>> {
        self.informer.map(|informer| informer.index_values(index, self.store)).unwrap_or_default()
    }

    /// The objects whose values in an index by a function are missing.
    pub fn undecided(self, index: &str) -> Vec<Rc<Object>> {
        self.informer.map(|informer| informer.undecided(index, self.store, self.now)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::informer::informer::InformerOptions;
    use crate::informer::set::Informers;
    use crate::json::fields::FieldSet;
    use crate::status::ErrorCode;
    use crate::testing::labelled;

    fn keys(objects: &[Rc<Object>]) -> Vec<&str> {
        objects.iter().map(|object| object.key().as_ref()).collect()
    }

    #[test]
    fn a_list_is_narrowed_by_namespace_and_labels() {
        let mut store = Store::new();
        for (key, version, app) in [("a/x", 1, "web"), ("a/y", 2, "db"), ("b/z", 3, "web")] {
            store.upsert(labelled(key, version, &[("app", app)]));
        }
        let mut informers = Informers::default();
        let id = informers.open(InformerOptions::default());
        informers.start(id, Some(&store), &FieldSet::new(Vec::new()));
        let lister = Lister::of(informers.get(id), &store, Instant::START);
        assert_eq!(keys(&lister.list(None, "").unwrap()), ["a/x", "a/y", "b/z"]);
        assert_eq!(keys(&lister.list(Some("app=web"), "").unwrap()), ["a/x", "b/z"]);
        assert_eq!(keys(&lister.list(Some("app=web"), "a").unwrap()), ["a/x"]);
        assert_eq!(lister.list(Some("!!"), "").unwrap_err().code, ErrorCode::Invalid);
        assert_eq!(keys(&lister.by_index("namespace", "b").unwrap()), ["b/z"]);
        assert_eq!(lister.by_index("other", "b").unwrap_err().code, ErrorCode::Invalid);
    }

    #[test]
    fn a_forgotten_informer_shows_nothing() {
        let store = Store::new();
        let lister = Lister::of(None, &store, Instant::START);
        assert!(!lister.has_synced() && lister.get("a/x").is_none() && lister.list(None, "").unwrap().is_empty());
        assert!(lister.by_index("other", "v").unwrap().is_empty() && lister.index_keys("other", "v").unwrap().is_empty());
        assert!(lister.index_values("other").is_empty() && lister.undecided("other").is_empty());
        assert_eq!(lister.list(Some("!!"), "").unwrap_err().code, ErrorCode::Invalid, "a mistake is told all the same");
    }
}
