//! The indexes of one informer. Those by a path read the stored bytes. For those by a function the caller gives the values when one is read.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::json::path::Path;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::selector::check_index_name;
use crate::status::{Error, ErrorCode};
use crate::store::{Fields, IndexBy, IndexSpec, Indexes, Store};

/// An index to add.
#[derive(Clone, Debug)]
pub struct Indexer {
    /// Its name.
    pub name: String,
    /// The path that it goes by; `None`: a function of the caller.
    pub path: Option<Path>,
}

/// The indexes of an informer.
#[derive(Debug, Default)]
pub(super) struct Indexers {
    by_path: Vec<(String, Indexes)>,
    by_function: Vec<ByFunction>,
}

/// An index whose values come from a function of the caller. The function is called when somebody reads the index, for objects that have
/// changed: what nobody reads is never decoded.
#[derive(Debug)]
struct ByFunction {
    name: String,
    rows: BTreeSet<(Rc<str>, Key)>,
    values: FxHashMap<Key, Box<[Rc<str>]>>,
    undecided: FxHashSet<Key>,
}

impl Indexers {
    /// Bytes that they take.
    pub(super) fn bytes(&self) -> usize {
        let by_path: usize = self.by_path.iter().map(|(_, index)| index.bytes()).sum();
        let by_function = self.by_function.iter().map(|index| {
            2 * index.rows.len() * size_of::<(Rc<str>, Key)>()
                + 2 * index.values.len() * size_of::<(Key, Box<[Rc<str>]>)>()
                + 2 * index.undecided.len() * size_of::<Key>()
        });
        by_path + by_function.sum::<usize>()
    }

    /// Adds indexes to a filled store. Fails, and adds none, when a name is taken.
    pub(super) fn add(&mut self, indexers: Vec<Indexer>, store: &Store, fields: &Fields) -> Result<(), Error> {
        for (at, Indexer { name, .. }) in indexers.iter().enumerate() {
            let twice = indexers[..at].iter().any(|other| other.name == *name);
            check_index_name("indexers", name)?;
            if twice || self.has(name) || store.has_index(name) {
                return Err(Error::new(ErrorCode::Invalid, format!("indexer conflict: {name}")));
            }
        }
        for Indexer { name, path } in indexers {
            match path {
                Some(path) => {
                    let mut index = Indexes::new(&[IndexSpec { name: name.clone(), by: IndexBy::Path(path) }], fields)?;
                    for object in store.iter() {
                        index.change(None, Some(object));
                    }
                    self.by_path.push((name, index));
                }
                None => self.by_function.push(ByFunction {
                    name,
                    rows: BTreeSet::new(),
                    values: FxHashMap::default(),
                    undecided: store.iter().map(|object| object.key().clone()).collect(),
                }),
            }
        }
        Ok(())
    }

    /// Whether there is an index of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_path.iter().any(|(held, _)| held == name) || self.by_function.iter().any(|index| index.name == name)
    }

    /// Follows a change of the store.
    pub(super) fn change(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>) {
        for (_, index) in &mut self.by_path {
            index.change(before, after);
        }
        for index in &mut self.by_function {
            match (before, after) {
                (_, Some(object)) => {
                    index.undecided.insert(object.key().clone());
                }
                (Some(object), None) => {
                    index.undecided.remove(object.key());
                    index.set(object.key(), Box::default());
                }
                (None, None) => {}
            }
        }
    }

    /// The objects whose values in this index the function has yet to give, in key order.
    pub(super) fn undecided(&self, name: &str, store: &Store) -> Vec<Rc<Object>> {
        let Some(index) = self.by_function.iter().find(|index| index.name == name).filter(|index| !index.undecided.is_empty()) else {
            return Vec::new();
        };
        store.iter().filter(|object| index.undecided.contains(object.key())).cloned().collect()
    }

    /// The values of an object. They count while the store holds that very object.
    pub(super) fn decide(&mut self, name: &str, key: &str, id: ObjectId, values: Vec<Rc<str>>, store: &Store) {
        let Some(object) = store.get(key).filter(|object| object.id() == id) else { return };
        let Some(index) = self.by_function.iter_mut().find(|index| index.name == name) else { return };
        index.undecided.remove(key);
        index.set(object.key(), values.into());
    }

    /// The keys of a value, in their order; `None` when there is no such index here.
    pub(super) fn keys(&self, name: &str, value: &str) -> Option<Vec<Key>> {
        if let Some((_, index)) = self.by_path.iter().find(|(held, _)| held == name) {
            return index.keys(name, value).map(|keys| keys.cloned().collect());
        }
        let index = self.by_function.iter().find(|index| index.name == name)?;
        let value: Rc<str> = value.into();
        let rows = index.rows.range((value.clone(), "".into())..);
        Some(rows.take_while(|(held, _)| *held == value).map(|(_, key)| key.clone()).collect())
    }

    /// The values that some object has, in their order; `None` when there is no such index here.
    pub(super) fn values(&self, name: &str) -> Option<Vec<Rc<str>>> {
        if let Some((_, index)) = self.by_path.iter().find(|(held, _)| held == name) {
            return index.values(name);
        }
        let index = self.by_function.iter().find(|index| index.name == name)?;
        let mut values: Vec<Rc<str>> = index.rows.iter().map(|(value, _)| value.clone()).collect();
        values.dedup();
        Some(values)
    }

    /// Whether the index goes by a path.
    pub(super) fn is_by_path(&self, name: &str) -> bool {
        self.by_path.iter().any(|(held, _)| held == name)
    }

    /// Whether the index goes by a function.
    pub(super) fn is_by_function(&self, name: &str) -> bool {
        self.by_function.iter().any(|index| index.name == name)
    }

    /// Whether the object, which the store need not hold, has the value in an index by a path.
    pub(super) fn has_value(&self, name: &str, object: &Object, value: &str) -> bool {
        let index = self.by_path.iter().find(|(held, _)| held == name);
        index.is_some_and(|(_, index)| index.values_of(name, object).iter().any(|held| **held == *value))
    }

    /// Forgets what stands in the indexes, and keeps their names.
    pub(super) fn clear(&mut self) {
        for (_, index) in &mut self.by_path {
            index.clear();
        }
        for index in &mut self.by_function {
            index.rows.clear();
            index.values.clear();
            index.undecided.clear();
        }
    }
}

impl ByFunction {
    fn set(&mut self, key: &Key, values: Box<[Rc<str>]>) {
        let old = if values.is_empty() { self.values.remove(key) } else { self.values.insert(key.clone(), values.clone()) };
        if old.as_deref() == Some(&*values) {
            return;
        }
        for value in old.into_iter().flatten() {
            self.rows.remove(&(value, key.clone()));
        }
        for value in values {
            self.rows.insert((value, key.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    use crate::json::fields::FieldSet;
    use crate::testing::named;

    fn by_function(store: &Store) -> Indexers {
        let mut indexers = Indexers::default();
        let fields = Rc::new(RefCell::new(FieldSet::new(Vec::new())));
        let index = Indexer { name: "team".into(), path: None };
        indexers.add(vec![index], store, &fields).unwrap();
        indexers
    }

    #[test]
    fn values_of_a_function_count_for_the_very_object_that_it_was_asked_about() {
        let (mut store, mut pod) = (Store::default(), named("x", 1));
        store.put(&mut pod);
        let mut indexers = by_function(&store);
        assert_eq!(indexers.undecided("team", &store).len(), 1);
        indexers.decide("team", "x", named("x", 1).id(), vec!["other".into()], &store);
        assert!(indexers.keys("team", "other").unwrap().is_empty(), "another object was asked about");
        indexers.decide("team", "x", pod.id(), vec!["blue".into()], &store);
        assert_eq!(indexers.keys("team", "blue").unwrap(), [pod.key().clone()]);
        assert!(indexers.undecided("team", &store).is_empty());
        indexers.change(Some(&pod), Some(&named("x", 2)));
        assert_eq!(indexers.undecided("team", &store).len(), 1, "it is asked again once the object has changed");
    }

    #[test]
    fn law_08_bounded_what_a_function_has_to_say_and_what_it_said_counts_and_a_deletion_gives_it_back() {
        let (mut store, mut pod) = (Store::default(), named("x", 1));
        let mut indexers = by_function(&store);
        assert_eq!(indexers.bytes(), 0);
        store.put(&mut pod);
        indexers.change(None, Some(&pod));
        assert_eq!(indexers.bytes(), 2 * size_of::<Key>(), "it waits to be decided");
        indexers.decide("team", "x", pod.id(), vec!["blue".into(), "red".into()], &store);
        let row = size_of::<(Rc<str>, Key)>();
        assert_eq!(indexers.bytes(), 2 * 2 * row + 2 * size_of::<(Key, Box<[Rc<str>]>)>(), "a row a value, and the values");
        indexers.change(Some(&pod), None);
        assert_eq!(indexers.bytes(), 0);
    }
}
