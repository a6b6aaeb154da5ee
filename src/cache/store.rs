//! The current objects, ordered by key.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

use crate::key::Key;
use crate::object::Object;

/// The objects of one resource at the cacher's version. Keys order byte by byte, so the objects of a namespace are one range.
#[derive(Debug, Default)]
pub struct Store {
    objects: BTreeMap<Key, Rc<Object>>,
    bytes: usize,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an object under its key and returns what it replaces.
    pub fn upsert(&mut self, object: Rc<Object>) -> Option<Rc<Object>> {
        self.bytes += object.size();
        let previous = self.objects.insert(object.key().clone(), object);
        self.bytes -= previous.as_ref().map_or(0, |previous| previous.size());
        previous
    }

    /// Removes and returns the object under this key.
    pub fn remove(&mut self, key: &str) -> Option<Rc<Object>> {
        let removed = self.objects.remove(key);
        self.bytes -= removed.as_ref().map_or(0, |removed| removed.size());
        removed
    }

    /// The object under this key.
    pub fn get(&self, key: &str) -> Option<&Rc<Object>> {
        self.objects.get(key)
    }

    /// All objects in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.objects.values()
    }

    /// The objects of a namespace in key order; all for the empty namespace.
    pub fn namespace(&self, namespace: &str) -> Box<dyn Iterator<Item = &Rc<Object>> + '_> {
        if namespace.is_empty() {
            return Box::new(self.iter());
        }
        // '0' follows '/': the range holds exactly the keys that begin with "namespace/".
        let (from, to) = (format!("{namespace}/"), format!("{namespace}0"));
        let range = self.objects.range::<str, _>((Bound::Included(from.as_str()), Bound::Excluded(to.as_str())));
        Box::new(range.map(|(_, object)| object))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Bytes held by the objects (see [`Object::size`]).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces everything at once, and returns what differs: `(before, after)` by key order. Objects at the version that is held
    /// stay as they are, so that whoever holds one sees no change. A key that stands twice counts once, the last one wins.
    pub fn replace(&mut self, objects: Vec<Rc<Object>>) -> Vec<Difference> {
        // Lists come in key order, so the map is built in one go, and walked side by side with what is held.
        let mut next: BTreeMap<Key, Rc<Object>> = objects.into_iter().map(|object| (object.key().clone(), object)).collect();
        let mut held = std::mem::take(&mut self.objects).into_iter().peekable();
        let mut differences = Vec::new();
        for (key, object) in &mut next {
            while let Some((_, gone)) = held.next_if(|(held, _)| held < key) {
                differences.push(Difference { before: Some(gone), after: None });
            }
            match held.next_if(|(held, _)| held == key) {
                Some((_, same)) if same.version() == object.version() => *object = same,
                before => {
                    differences.push(Difference { before: before.map(|(_, object)| object), after: Some(object.clone()) });
                }
            }
        }
        differences.extend(held.map(|(_, gone)| Difference { before: Some(gone), after: None }));
        self.bytes = next.values().map(|object| object.size()).sum();
        self.objects = next;
        differences
    }
}

/// One object that a replacement changed.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What was held; `None` = it is new.
    pub before: Option<Rc<Object>>,
    /// What is held now; `None` = it is gone.
    pub after: Option<Rc<Object>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{named, object};

    fn keys<'a>(objects: impl Iterator<Item = &'a Rc<Object>>) -> Vec<String> {
        objects.map(|object| format!("{object:?}")).collect()
    }

    #[test]
    fn st_04_upsert_get_and_remove_agree_at_each_step() {
        let mut store = Store::new();
        assert!(store.upsert(object("a/foo", 1)).is_none());
        assert_eq!(format!("{:?}", store.get("a/foo").unwrap()), "a/foo@1");
        assert_eq!(format!("{:?}", store.upsert(object("a/foo", 2)).unwrap()), "a/foo@1");
        assert_eq!(format!("{:?}", store.remove("a/foo").unwrap()), "a/foo@2");
        assert!(store.remove("a/foo").is_none());
        assert!(store.is_empty());
        assert_eq!(store.bytes(), 0);
    }

    #[test]
    fn a_namespace_is_exactly_its_range() {
        let mut store = Store::new();
        for key in ["a/x", "a-b/x", "a0/x", "a/y", "b/x", "aa/x"] {
            store.upsert(object(key, 1));
        }
        assert_eq!(keys(store.namespace("a")), ["a/x@1", "a/y@1"]);
        assert_eq!(keys(store.namespace("zz")), Vec::<String>::new());
        assert_eq!(keys(store.namespace("")), ["a-b/x@1", "a/x@1", "a/y@1", "a0/x@1", "aa/x@1", "b/x@1"]);
    }

    #[test]
    fn st_05_replace_leaves_exactly_the_list_and_tells_only_differences() {
        let mut store = Store::new();
        for name in ["a", "c", "e"] {
            store.upsert(named(name, 1));
        }
        let kept = store.get("c").unwrap().clone();
        let differences = store.replace(vec![named("c", 1), named("d", 2), named("e", 3)]);
        assert_eq!(keys(store.iter()), ["c@1", "d@2", "e@3"]);
        assert!(Rc::ptr_eq(&kept, store.get("c").unwrap()), "an unchanged object keeps its identity");
        let told: Vec<String> = differences.iter().map(|d| format!("{:?}->{:?}", d.before, d.after)).collect();
        assert_eq!(told, ["Some(a@1)->None", "None->Some(d@2)", "Some(e@1)->Some(e@3)"]);
        assert_eq!(store.bytes(), store.iter().map(|object| object.size()).sum::<usize>());
    }

    #[test]
    fn st_18_a_key_that_stands_twice_in_a_list_counts_once_and_the_last_wins() {
        let mut store = Store::new();
        let differences = store.replace(vec![named("a", 1), named("a", 2)]);
        assert_eq!(keys(store.iter()), ["a@2"]);
        assert_eq!(differences.len(), 1);
    }
}
