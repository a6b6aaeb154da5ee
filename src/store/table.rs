//! The objects of a store by key: found at once, and walked in key order.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::ops::Bound;
use std::rc::Rc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use slab::Slab;

use crate::allocation::is_sparse;
use crate::key::Key;
use crate::object::Object;

/// Objects with a number each, by which the two tables of keys name them.
///
/// A hash finds the one that an event is about. The order alone would do, but a walk down to one of many keys meets twenty others, all over memory.
/// Where 10,000 objects change in turn, that was a tenth of the time of an event. A new version takes the number of the one before it, so neither
/// table hears of an update.
#[derive(Debug, Default)]
pub(super) struct Table {
    objects: Slab<Rc<Object>>,
    found: HashTable<u32>,
    order: BTreeMap<Key, u32>,
}

impl Table {
    /// Bytes of one object's places. Nodes of the order are about half full; so are the others after they have doubled.
    pub(super) const PLACE_BYTES: usize = 2 * size_of::<(Key, u32)>() + 2 * size_of::<(u32, u8)>() + size_of::<(usize, Rc<Object>)>();

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn get(&self, key: &str) -> Option<&Rc<Object>> {
        self.number(key).map(|number| &self.objects[number])
    }

    /// The place of the object under this key, for a version of the same key.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Rc<Object>> {
        self.number(key).map(|number| &mut self.objects[number])
    }

    fn number(&self, key: &str) -> Option<usize> {
        self.found.find(hash(key), |&number| **self.objects[number as usize].key() == *key).map(|&number| number as usize)
    }

    /// Puts an object under its key. Returns what it replaces.
    pub(super) fn insert(&mut self, object: Rc<Object>) -> Option<Rc<Object>> {
        if let Some(place) = self.get_mut(object.key()) {
            return Some(std::mem::replace(place, object));
        }
        let key = object.key().clone();
        let number = self.push(object);
        self.order.insert(key, number);
        None
    }

    /// Fills an empty table with objects in key order, none of which has another's key. That builds the order at once.
    pub(super) fn fill(&mut self, objects: impl Iterator<Item = Rc<Object>>) {
        debug_assert!(self.order.is_empty());
        self.order = objects.map(|object| (object.key().clone(), self.push(object))).collect();
    }

    // Gives an object a number, by which its hash finds it.
    fn push(&mut self, object: Rc<Object>) -> u32 {
        let Self { objects, found, .. } = self;
        let hashed = hash(object.key());
        // Memory ends long before numbers do.
        #[allow(clippy::cast_possible_truncation)]
        let number = objects.insert(object) as u32;
        found.insert_unique(hashed, number, |&other| hash(objects[other as usize].key()));
        number
    }

    /// Removes and returns the object under this key, if there is one.
    pub(super) fn remove(&mut self, key: &str) -> Option<Rc<Object>> {
        let Self { objects, found, order } = self;
        let place = found.find_entry(hash(key), |&number| **objects[number as usize].key() == *key).ok()?;
        let (number, _) = place.remove();
        order.remove(key);
        let gone = objects.remove(number as usize);
        if is_sparse(objects.len(), objects.capacity()) {
            self.make_anew();
        }
        Some(gone)
    }

    /// Gives back the places of those that have gone. The order does so by itself.
    fn make_anew(&mut self) {
        let objects: Vec<_> = self.iter().cloned().collect();
        self.clear();
        self.fill(objects.into_iter());
    }

    /// Removes everything, and gives its memory back.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// All objects in key order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Rc<Object>> {
        self.order.values().map(|&number| &self.objects[number as usize])
    }

    /// The objects from a key on, in key order.
    pub(super) fn from<'t>(&'t self, start: Bound<&str>) -> impl Iterator<Item = &'t Rc<Object>> + use<'t> {
        self.order.range::<str, _>((start, Bound::Unbounded)).map(|(_, &number)| &self.objects[number as usize])
    }
}

fn hash(key: &str) -> u64 {
    FxBuildHasher.hash_one(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::object;

    /// What a table has, by each of its ways; it is checked that they agree.
    fn held(table: &Table) -> Vec<String> {
        let held: Vec<_> = table.iter().map(|object| format!("{object:?}")).collect();
        assert_eq!((table.len(), table.order.len(), table.found.len()), (held.len(), held.len(), held.len()));
        for (key, object) in table.order.keys().zip(table.iter()) {
            assert_eq!(key, object.key());
            assert!(Rc::ptr_eq(table.get(key).unwrap(), object), "{key}");
        }
        held
    }

    #[test]
    fn objects_are_found_by_key_and_stand_in_its_order_whatever_comes_and_goes() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut table, mut model) = (Table::default(), BTreeMap::new());
        table.fill((0..50).map(|number| object(&format!("a/{number:03}"), 1)));
        model.extend((0..50).map(|number| (format!("a/{number:03}"), 1)));
        for version in 2..3_000 {
            let key = format!("a/{:03}", random.u32(..100));
            let (found, expected) = match random.bool() {
                true => (table.insert(object(&key, version)), model.insert(key.clone(), version)),
                false => (table.remove(&key), model.remove(&key)),
            };
            assert_eq!(found.map(|object| format!("{object:?}")), expected.map(|version| format!("{key}@{version}")));
            if version % 100 == 0 {
                let all: Vec<_> = model.iter().map(|(key, version)| format!("{key}@{version}")).collect();
                assert_eq!(held(&table), all);
            }
        }
        table.clear();
        assert!(held(&table).is_empty() && table.get("a/001").is_none());
        assert_eq!((table.objects.capacity(), table.found.capacity()), (0, 0));
    }

    #[test]
    fn law_08_bounded_what_many_objects_took_is_given_back_when_they_go() {
        let mut table = Table::default();
        (0..20_000).for_each(|number| _ = table.insert(object(&format!("a/{number:05}"), 1)));
        (0..20_000).filter(|number| number % 400 > 0).for_each(|number| _ = table.remove(&format!("a/{number:05}")));
        assert_eq!(held(&table).len(), 50);
        let places = table.objects.capacity().max(table.found.capacity());
        assert!(places <= 1_024, "{places} places");
    }

    #[test]
    fn a_new_version_takes_the_number_of_the_one_before_it() {
        let mut table = Table::default();
        table.insert(object("a/foo", 1));
        let number = table.number("a/foo");
        assert_eq!(format!("{:?}", table.insert(object("a/foo", 2)).unwrap()), "a/foo@1");
        assert_eq!(table.number("a/foo"), number);
        assert_eq!(held(&table), ["a/foo@2"]);
    }
}
