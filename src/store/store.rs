//! The current objects, ordered by key.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

use super::index::Indexes;
use super::table::Table;
use crate::change::Difference;
use crate::key::Key;
use crate::object::{Holder, Object};
use crate::selector::NAMESPACE;
use crate::sort::sort_by;
use crate::status::{Error, ErrorCode};

/// The objects of one resource at the cacher's version. Keys order byte by byte, so the objects of a namespace are one range.
///
/// ```
/// use watchcache::json::{FieldSet, scan_object};
/// use watchcache::object::Object;
/// use watchcache::store::Store;
///
/// let fields = FieldSet::new(Vec::new());
/// let pod = |text: &str| Object::new(scan_object(text.as_bytes(), &fields).expect("a JSON document"));
/// let mut store = Store::new();
/// store.upsert(pod(r#"{"metadata":{"namespace":"web","name":"a","resourceVersion":"1"}}"#)?);
/// store.upsert(pod(r#"{"metadata":{"namespace":"web","name":"b","resourceVersion":"2"}}"#)?);
/// store.upsert(pod(r#"{"metadata":{"namespace":"db","name":"c","resourceVersion":"3"}}"#)?);
/// let keys: Vec<_> = store.namespace("web").map(|pod| pod.key().to_string()).collect();
/// assert_eq!(keys, ["web/a", "web/b"]);
/// assert_eq!(store.by_index("namespace", "db")?.count(), 1);
/// # Ok::<_, watchcache::status::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Store {
    objects: Table,
    indexes: Indexes,
    bytes: usize,
}

impl Store {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store with indexes beside the one by namespace.
    pub fn indexed(indexes: Indexes) -> Self {
        Self { indexes, ..Self::default() }
    }

    /// Puts an object under its key, where [`get`](Self::get) finds it until it is removed. Returns what it replaces.
    pub fn upsert(&mut self, mut object: Rc<Object>) -> Option<Rc<Object>> {
        self.put(&mut object)
    }

    /// As [`upsert`](Self::upsert). If nobody else holds the object yet, it also shares with its predecessor what is equal in both.
    pub fn put(&mut self, object: &mut Rc<Object>) -> Option<Rc<Object>> {
        let previous = match self.objects.get_mut(object.key()) {
            Some(place) => {
                if let Some(object) = Rc::get_mut(object) {
                    object.share_with(place);
                }
                Some(std::mem::replace(place, object.clone()))
            }
            None => self.objects.insert(object.clone()),
        };
        self.release(previous.as_ref());
        object.set_holder(Holder::Store);
        self.bytes += object.size();
        self.indexes.change(previous.as_ref(), Some(object));
        previous
    }

    /// Removes and returns the object under this key, if there is one.
    pub fn remove(&mut self, key: &str) -> Option<Rc<Object>> {
        let removed = self.objects.remove(key);
        self.release(removed.as_ref());
        self.indexes.change(removed.as_ref(), None);
        removed
    }

    /// Subtracts the bytes of an object that left.
    fn release(&mut self, gone: Option<&Rc<Object>>) {
        if let Some(gone) = gone {
            self.bytes -= gone.size();
            gone.set_holder(Holder::Nobody);
        }
    }

    /// An object of the store was packed or unpacked. It held `before` bytes, and now holds `after`.
    pub(crate) fn reformed(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes - before + after;
    }

    /// Removes everything; the indexes stay, empty.
    pub fn clear(&mut self) {
        self.objects.iter().for_each(|object| object.set_holder(Holder::Nobody));
        self.objects.clear();
        self.indexes.clear();
        self.bytes = 0;
    }

    /// The object under this key.
    pub fn get(&self, key: &str) -> Option<&Rc<Object>> {
        self.objects.get(key)
    }

    /// All objects in key order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.objects.iter()
    }

    /// The objects whose keys begin with `prefix` and are not before `from`, with their keys, in key order.
    pub fn range<'s>(&'s self, prefix: &str, from: &str) -> impl Iterator<Item = &'s Rc<Object>> + use<'s> {
        let start = if from > prefix { from } else { prefix };
        let prefix: Box<str> = prefix.into();
        self.objects.from(Bound::Included(start)).take_while(move |object| object.key().starts_with(&*prefix))
    }

    /// The objects after a key, in key order.
    pub fn after<'s>(&'s self, key: &str) -> impl Iterator<Item = &'s Rc<Object>> + use<'s> {
        self.objects.from(Bound::Excluded(key))
    }

    /// The objects of a namespace in key order; all for the empty namespace.
    pub fn namespace(&self, namespace: &str) -> impl Iterator<Item = &Rc<Object>> {
        let prefix = if namespace.is_empty() { String::new() } else { format!("{namespace}/") };
        self.range(&prefix, "")
    }

    /// Whether there is an index of this name. The index of a path has a second name: `f:` and the path. That of a label has `l:` and the
    /// label's key.
    pub fn has_index(&self, index: &str) -> bool {
        index == NAMESPACE || index == "f:metadata.namespace" || self.indexes.has(index)
    }

    /// The objects that have a value in an index, in key order. Fails when there is no such index (see [`Store::has_index`]).
    pub fn by_index<'s>(&'s self, index: &str, value: &str) -> Result<Box<dyn Iterator<Item = &'s Rc<Object>> + 's>, Error> {
        if !self.has_index(index) {
            return Err(unknown(index));
        }
        if let Some(keys) = self.indexes.keys(index, value) {
            return Ok(Box::new(keys.filter_map(|key| self.objects.get(key))));
        }
        if value.is_empty() {
            return Ok(Box::new(self.iter().filter(|object| object.namespace().is_empty())));
        }
        Ok(Box::new(self.range(&format!("{value}/"), "")))
    }

    /// Whether an object, which need not be held, has this value in an index.
    pub fn has_index_value(&self, index: &str, object: &Object, value: &str) -> bool {
        if self.indexes.has(index) {
            return self.indexes.values_of(index, object).iter().any(|held| **held == *value);
        }
        object.namespace() == value
    }

    /// The values that some object has in an index, ordered byte by byte. Fails when there is no such index.
    pub fn index_values(&self, index: &str) -> Result<Vec<Rc<str>>, Error> {
        if !self.has_index(index) {
            return Err(unknown(index));
        }
        Ok(self.indexes.values(index).unwrap_or_else(|| self.namespaces()))
    }

    // One step for each namespace, however many objects it has.
    fn namespaces(&self) -> Vec<Rc<str>> {
        let mut namespaces: Vec<Rc<str>> = Vec::new();
        let mut objects = self.objects.from(Bound::Unbounded);
        while let Some(object) = objects.next() {
            let namespace = object.namespace();
            if namespace.is_empty() {
                if namespaces.first().is_none_or(|first| !first.is_empty()) {
                    namespaces.insert(0, "".into());
                }
                continue;
            }
            namespaces.push(namespace.into());
            // '0' follows '/', so this is the first key after all that begin with "namespace/".
            let behind = format!("{namespace}0");
            objects = self.objects.from(Bound::Included(&behind));
        }
        // Keys sort "a-b/" before "a/", but "a" sorts before "a-b".
        sort_by(&mut namespaces, Ord::cmp);
        namespaces
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes held by the objects (see [`Object::size`]).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes held by the indexes.
    pub fn index_bytes(&self) -> usize {
        self.indexes.bytes()
    }

    /// Bytes of one object's places, by which it is found.
    pub const PLACE_BYTES: usize = Table::PLACE_BYTES;

    /// Bytes held for the places of the objects.
    pub fn overhead(&self) -> usize {
        self.len() * Self::PLACE_BYTES
    }

    /// Replaces everything, and returns the differences in key order. An object whose version is already held is not replaced, so its
    /// holders see no change. If a key stands twice in the list, the last one wins.
    pub fn replace(&mut self, objects: Vec<Rc<Object>>) -> Vec<Difference> {
        // The last of a key wins. Both are then walked side by side.
        let next: BTreeMap<Key, Rc<Object>> = objects.into_iter().map(|object| (object.key().clone(), object)).collect();
        let mut held = self.objects.iter().peekable();
        let mut differences = Vec::new();
        for (key, object) in &next {
            while let Some(gone) = held.next_if(|held| held.key() < key) {
                differences.push(Difference { before: Some(gone.clone()), after: None });
            }
            let before = held.next_if(|held| held.key() == key);
            if before.is_none_or(|before| before.version() != object.version()) {
                differences.push(Difference { before: before.cloned(), after: Some(object.clone()) });
            }
        }
        differences.extend(held.map(|gone| Difference { before: Some(gone.clone()), after: None }));
        drop(next);
        self.apply(&differences);
        differences
    }

    /// Applies the differences of a list, in key order.
    pub fn apply(&mut self, differences: &[Difference]) {
        if self.is_empty() {
            self.objects.fill(differences.iter().filter_map(|difference| difference.after.clone()));
        } else {
            for Difference { before, after } in differences {
                match (before, after) {
                    (_, Some(after)) => _ = self.objects.insert(after.clone()),
                    (Some(before), None) => _ = self.objects.remove(before.key()),
                    (None, None) => {}
                }
            }
        }
        self.account_for(differences);
    }

    /// Updates the account and the indexes.
    fn account_for(&mut self, differences: &[Difference]) {
        for difference in differences {
            self.release(difference.before.as_ref());
            if let Some(after) = &difference.after {
                after.set_holder(Holder::Store);
                self.bytes += after.size();
            }
            self.indexes.change(difference.before.as_ref(), difference.after.as_ref());
        }
    }
}

fn unknown(index: &str) -> Error {
    Error::new(ErrorCode::Invalid, format!("Index with name {index} does not exist"))
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
    fn versions_share_what_is_the_same_and_it_counts_with_the_newest() {
        let mut store = Store::new();
        store.upsert(object("a/foo", 1));
        let (alone, mut next) = (store.bytes(), object("a/foo", 2));
        let replaced = store.put(&mut next).unwrap();
        assert!(Rc::ptr_eq(replaced.key(), next.key()));
        assert_eq!(store.bytes(), alone);
        replaced.set_holder(Holder::Window);
        assert!(replaced.size() < alone);
        store.remove("a/foo");
        drop(next);
        replaced.set_holder(Holder::Window);
        assert_eq!(replaced.size(), alone, "it is the last one");
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
