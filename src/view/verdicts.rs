//! The objects that wait for the functions of a user: one that judges, and those that derive what places an object.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::allocation::shrink;
use crate::key::Key;
use crate::object::{Object, ObjectId};

struct Waiting {
    object: Rc<Object>,
    wait: Wait,
}

/// What an object waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// A verdict.
    Verdict,
    /// The values of derived columns.
    Values,
    /// The next look.
    Look,
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

    /// This object waits from now on, for a verdict or for values.
    pub(super) fn wait(&mut self, object: &Rc<Object>, wait: Wait) {
        self.by_key.insert(object.key().clone(), object.id());
        self.waiting.insert(object.id(), Waiting { object: object.clone(), wait });
    }

    /// The object of this key has changed or gone: no verdict on it counts.
    pub(super) fn void(&mut self, key: &str) {
        if !self.by_key.is_empty()
            && let Some(id) = self.by_key.remove(key)
        {
            self.waiting.remove(&id);
            shrink(&mut self.by_key);
        }
    }

    /// The objects without a verdict, oldest first.
    pub(super) fn undecided(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.that_wait_for(Wait::Verdict)
    }

    /// The objects that wait for this, oldest first.
    pub(super) fn that_wait_for(&self, wait: Wait) -> impl Iterator<Item = &Rc<Object>> {
        self.waiting.values().filter(move |waiting| waiting.wait == wait).map(|waiting| &waiting.object)
    }

    /// The object of this key, if it waits for values.
    pub(super) fn for_values(&self, key: &str) -> Option<&Rc<Object>> {
        let waiting = self.waiting.get(self.by_key.get(key)?)?;
        (waiting.wait == Wait::Values).then_some(&waiting.object)
    }

    /// The object of this id, if it waits for a verdict.
    pub(super) fn for_verdict(&self, object: ObjectId) -> Option<&Rc<Object>> {
        self.waiting.get(&object).filter(|waiting| waiting.wait == Wait::Verdict).map(|waiting| &waiting.object)
    }

    /// The verdict on an object that waits for that or for values.
    pub(super) fn give(&mut self, object: ObjectId, passes: bool) {
        if let Some(waiting) = self.waiting.get_mut(&object) {
            waiting.wait = Wait::Look;
            self.given.push((object, passes));
        }
    }

    /// An object passes, and waits for values now.
    pub(super) fn wait_for_values(&mut self, object: ObjectId) {
        if let Some(waiting) = self.waiting.get_mut(&object) {
            waiting.wait = Wait::Values;
        }
    }

    /// Takes the verdicts that count, in the order in which they were given.
    pub(super) fn take(&mut self) -> Vec<(Rc<Object>, bool)> {
        let Self { waiting, by_key, given } = self;
        // With its room: a view begins with many, and then one comes now and then.
        let taken = std::mem::take(given).into_iter().filter_map(|(id, passes)| {
            let object = waiting.remove(&id)?.object;
            by_key.remove(object.key());
            Some((object, passes))
        });
        let taken = taken.collect();
        shrink(by_key);
        taken
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
        (0..2048).for_each(|number| verdicts.wait(&named(&format!("{number}"), 1), Wait::Verdict));
        // A tree that is filled in order has six entries in each node of eleven. A table of so many is half full.
        let taken = 2048 * size_of::<(ObjectId, Waiting)>() * 11 / 6 + table(&verdicts.by_key);
        assert!(verdicts.bytes().abs_diff(taken) * 20 < taken, "{} bytes are counted, {taken} are taken", verdicts.bytes());
    }

    #[test]
    fn law_08_bounded_what_the_many_took_that_a_view_begins_with_is_given_back() {
        let mut verdicts = Verdicts::default();
        let pods: Vec<_> = (0..20_000).map(|number| named(&format!("{number}"), 1)).collect();
        for half in pods.chunks(10_000) {
            half.iter().for_each(|pod| verdicts.wait(pod, Wait::Values));
            half[..5_000].iter().for_each(|pod| verdicts.void(pod.key()));
            half.iter().for_each(|pod| verdicts.give(pod.id(), true));
            assert_eq!(verdicts.take().len(), 5_000);
            let places = verdicts.by_key.capacity().max(verdicts.given.capacity());
            assert!(places <= 1_024, "{places} places");
        }
    }

    #[test]
    fn a_verdict_counts_once_and_only_while_its_object_waits() {
        let mut verdicts = Verdicts::default();
        let [kept, gone] = ["kept", "gone"].map(|name| named(name, 1));
        verdicts.wait(&kept, Wait::Verdict);
        verdicts.wait(&gone, Wait::Verdict);
        verdicts.wait_for_values(gone.id());
        assert!(
            verdicts.for_verdict(gone.id()).is_none() && verdicts.for_values("gone").is_some() && verdicts.for_values("kept").is_none()
        );
        verdicts.give(gone.id(), true);
        verdicts.give(kept.id(), false);
        assert!(verdicts.for_verdict(kept.id()).is_none() && verdicts.for_values("gone").is_none(), "they have one");
        verdicts.void("gone");
        assert_eq!((verdicts.awaits("kept"), verdicts.awaits("gone"), verdicts.undecided().count()), (true, false, 0));
        let taken: Vec<_> = verdicts.take().into_iter().map(|(object, passes)| (object.id(), passes)).collect();
        assert_eq!(taken, [(kept.id(), false)]);
        assert!(verdicts.is_empty() && !verdicts.has_given() && verdicts.bytes() == 0);
    }
}
