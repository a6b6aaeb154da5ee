//! The objects that wait for the verdict of a user's function.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::key::Key;
use crate::object::{Object, ObjectId};

struct Waiting {
    object: Rc<Object>,
    decided: bool,
}

/// What waits for a verdict, or for its verdict to be taken in. Of one key there is at most one object.
#[derive(Default)]
pub(super) struct Verdicts {
    waiting: BTreeMap<ObjectId, Waiting>,
    by_key: FxHashMap<Key, ObjectId>,
    given: Vec<(ObjectId, bool)>,
}

impl Verdicts {
    /// Whether no object waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether an object of this key waits.
    pub(super) fn awaits(&self, key: &str) -> bool {
        self.by_key.contains_key(key)
    }

    /// Whether a verdict waits to be taken in.
    pub(super) fn has_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// This object waits from now on.
    pub(super) fn wait(&mut self, object: &Rc<Object>) {
        self.by_key.insert(object.key().clone(), object.id());
        self.waiting.insert(object.id(), Waiting { object: object.clone(), decided: false });
    }

    /// The object of this key has changed or gone: no verdict on it counts.
    pub(super) fn void(&mut self, key: &str) {
        if !self.by_key.is_empty()
            && let Some(id) = self.by_key.remove(key)
        {
            self.waiting.remove(&id);
        }
    }

    /// The objects without a verdict, oldest first.
    pub(super) fn undecided(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.waiting.values().filter(|waiting| !waiting.decided).map(|waiting| &waiting.object)
    }

    /// The verdict on an object. Returns whether it was still waiting for one.
    pub(super) fn give(&mut self, object: ObjectId, passes: bool) -> bool {
        let waiting = self.waiting.get_mut(&object).filter(|waiting| !waiting.decided);
        let Some(waiting) = waiting else { return false };
        waiting.decided = true;
        self.given.push((object, passes));
        true
    }

    /// Takes the verdicts that count, in the order in which they were given.
    pub(super) fn take(&mut self) -> Vec<(Rc<Object>, bool)> {
        let Self { waiting, by_key, given } = self;
        let taken = given.drain(..).filter_map(|(id, passes)| {
            let object = waiting.remove(&id)?.object;
            by_key.remove(object.key());
            Some((object, passes))
        });
        taken.collect()
    }

    /// Bytes that they take. The objects count elsewhere.
    pub(super) fn bytes(&self) -> usize {
        let waiting = 2 * size_of::<(ObjectId, Waiting)>() + 2 * size_of::<(Key, ObjectId)>();
        self.waiting.len() * waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::table;
    use crate::testing::named;

    #[test]
    fn law_08_bounded_what_waits_for_a_verdict_counts_as_its_tree_and_its_table_take() {
        let mut verdicts = Verdicts::default();
        (0..2048).for_each(|number| verdicts.wait(&named(&format!("{number}"), 1)));
        // A tree that is filled in order has six entries in each node of eleven. A table of so many is half full.
        let taken = 2048 * size_of::<(ObjectId, Waiting)>() * 11 / 6 + table(&verdicts.by_key);
        assert!(verdicts.bytes().abs_diff(taken) * 20 < taken, "{} bytes are counted, {taken} are taken", verdicts.bytes());
    }

    #[test]
    fn a_verdict_counts_once_and_only_while_its_object_waits() {
        let mut verdicts = Verdicts::default();
        let [kept, gone] = ["kept", "gone"].map(|name| named(name, 1));
        verdicts.wait(&kept);
        verdicts.wait(&gone);
        assert!(verdicts.give(gone.id(), true) && verdicts.give(kept.id(), false));
        assert!(!verdicts.give(kept.id(), true), "it has one");
        verdicts.void("gone");
        assert_eq!((verdicts.awaits("kept"), verdicts.awaits("gone"), verdicts.undecided().count()), (true, false, 0));
        let taken: Vec<_> = verdicts.take().into_iter().map(|(object, passes)| (object.id(), passes)).collect();
        assert_eq!(taken, [(kept.id(), false)]);
        assert!(verdicts.is_empty() && !verdicts.has_given() && verdicts.bytes() == 0);
    }
}
