//! What a whole list changes of what is held. It is found out some objects at a time, so that the step which applies it has only the
//! differences to do.

use std::rc::Rc;
use std::vec::IntoIter;

use crate::change::Difference;
use crate::key::Key;
use crate::message::Message;
use crate::object::Object;
use crate::sort::sort_by;
use crate::store::Store;
use crate::version::Version;

/// A list in the order of its keys, as servers send them, walked side by side with a store that stands still meanwhile.
pub(super) struct Comparison {
    objects: IntoIter<Rc<Object>>,
    /// The key of the last object that was compared.
    last: Option<Key>,
    differences: Vec<Difference>,
    version: Version,
    /// What the keys begin with of which it is a list; empty for a list of all.
    prefix: Box<str>,
}

impl Comparison {
    /// Of a list whose keys grow from each to the next. Every other message is given back.
    pub(super) fn of(message: Message) -> Result<Self, Message> {
        match message {
            Message::Replace { objects, version } if is_ordered(&objects) => Ok(Self::new(objects, version, "")),
            other => Err(other),
        }
    }

    /// Of a list of one namespace, in any order; what is held of others is left out.
    pub(super) fn within(namespace: &str, mut objects: Vec<Rc<Object>>, version: Version) -> Self {
        sort_by(&mut objects, |a, b| a.key().cmp(b.key()));
        // Of a key that stands twice the last counts, as where a list replaces all.
        objects.dedup_by(|later, first| {
            let same = later.key() == first.key();
            if same {
                std::mem::swap(later, first);
            }
            same
        });
        Self::new(objects, version, &format!("{namespace}/"))
    }

    fn new(objects: Vec<Rc<Object>>, version: Version, prefix: &str) -> Self {
        Self { objects: objects.into_iter(), last: None, differences: Vec::new(), version, prefix: prefix.into() }
    }

    /// Compares so many objects more; whether some are left. One that is held at the same version goes, and what is held stays.
    pub(super) fn go_on(&mut self, store: &Store, max: usize) -> bool {
        let held = store.after(self.last.as_deref().unwrap_or(&self.prefix));
        let mut held = held.take_while(|held| held.key().starts_with(&*self.prefix)).peekable();
        let mut last = None;
        for object in self.objects.by_ref().take(max) {
            while let Some(gone) = held.next_if(|held| held.key() < object.key()) {
                self.differences.push(Difference { before: Some(gone.clone()), after: None });
            }
            last = Some(object.key().clone());
            let before = held.next_if(|held| held.key() == object.key()).cloned();
            if before.as_ref().is_none_or(|before| before.version() != object.version()) {
                self.differences.push(Difference { before, after: Some(object) });
            }
        }
        if last.is_some() {
            self.last = last;
            return true;
        }
        self.differences.extend(held.map(|gone| Difference { before: Some(gone.clone()), after: None }));
        false
    }

    /// What came of it, to be applied before anything else is.
    pub(super) fn end(self) -> Message {
        Message::Differences { differences: self.differences, version: self.version }
    }
}

/// Whether the keys of these objects grow from each to the next.
fn is_ordered(objects: &[Rc<Object>]) -> bool {
    objects.windows(2).all(|pair| pair[0].key() < pair[1].key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::object;

    fn list(random: &mut fastrand::Rng) -> Vec<Rc<Object>> {
        let all: Vec<_> = (0..60).map(|i| object(&format!("a/{i:02}"), random.u64(1..3))).collect();
        all.into_iter().filter(|_| random.u8(0..3) > 0).collect()
    }

    fn told(differences: &[Difference]) -> Vec<String> {
        differences.iter().map(|one| format!("{:?} {:?}", one.before, one.after)).collect()
    }

    fn all(store: &Store) -> Vec<String> {
        store.iter().map(|object| format!("{object:?}")).collect()
    }

    #[test]
    fn st_05_it_finds_and_leaves_what_a_replacement_at_once_does() {
        let mut random = fastrand::Rng::with_seed(11);
        for round in 0..300 {
            let (held, next) = (list(&mut random), list(&mut random));
            let (mut at_once, mut by_steps) = (Store::new(), Store::new());
            held.iter().for_each(|object| _ = (at_once.upsert(object.clone()), by_steps.upsert(object.clone())));
            let mut comparison = Comparison::new(next.clone(), Version::from(9), "");
            while comparison.go_on(&by_steps, random.usize(1..20)) {}
            let Message::Differences { differences, .. } = comparison.end() else { unreachable!() };
            by_steps.apply(&differences);
            assert_eq!(told(&at_once.replace(next)), told(&differences), "round {round}");
            assert_eq!(all(&at_once), all(&by_steps));
            assert_eq!(by_steps.bytes(), by_steps.iter().map(|object| object.size()).sum::<usize>());
        }
    }

    #[test]
    fn a_list_of_one_namespace_says_nothing_of_others_whatever_its_order() {
        let mut store = Store::new();
        for key in ["a/x", "b-c/x", "b/gone", "b/kept", "b/old", "c/x"] {
            store.upsert(object(key, 1));
        }
        let list = vec![object("b/old", 1), object("b/new", 2), object("b/kept", 1), object("b/old", 3)];
        let mut comparison = Comparison::within("b", list, Version::from(9));
        while comparison.go_on(&store, 2) {}
        let Message::Differences { differences, .. } = comparison.end() else { unreachable!() };
        let keys =
            |one: &Difference| one.after.as_ref().or(one.before.as_ref()).map(|object| format!("{}@{}", object.key(), object.version()));
        let told: Vec<_> = differences.iter().filter_map(keys).collect();
        assert_eq!(told, ["b/gone@1", "b/new@2", "b/old@3"]);
    }

    #[test]
    fn keys_that_stand_twice_or_come_late_are_no_order() {
        let of = |keys: &[&str]| keys.iter().map(|key| object(key, 1)).collect::<Vec<_>>();
        assert!(is_ordered(&of(&["a/x", "a/y", "b/a"])) && is_ordered(&[]));
        assert!(!is_ordered(&of(&["a/x", "a/x"])) && !is_ordered(&of(&["a/y", "a/x"])));
    }
}
