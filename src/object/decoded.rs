//! Which versions JavaScript has decoded. Of the last one of a key the next one is made, without parsing all of it.
//!
//! Somebody may hold that version: a row that is shown, an event that was kept. If nobody does, JavaScript holds it for this purpose alone, as
//! long as it is among the last few hundred. [`Pins`](super::Pins) counts those.

use rustc_hash::FxHashMap;

use super::object::{Object, ObjectId};
use crate::allocation::shrink;
use crate::key::Key;

/// Keys that are remembered after JavaScript let go of their last decoded version. Who decodes another version of such a key sees the object
/// repeatedly, so that version is worth holding. Who reads ten thousand objects in turn is told of none.
const MAX_REMEMBERED: usize = 512;

/// The last decoded version of each key.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    latest: FxHashMap<Key, Latest>,
    /// When JavaScript let go of latest versions. The oldest is at `oldest`, once there is no more room. It may have one of them again.
    gone: Vec<(Key, Turn)>,
    oldest: usize,
    turn: Turn,
}

/// Counts what JavaScript let go of.
type Turn = u64;

#[derive(Debug)]
struct Latest {
    id: ObjectId,
    /// When JavaScript let go of it; `None` while it has it.
    gone: Option<Turn>,
}

impl Decoded {
    /// JavaScript decodes this object now. Returns the newest version of it that was decoded before, unless that was long ago. It may be this one.
    pub(super) fn decode(&mut self, object: &Object) -> Option<ObjectId> {
        if object.key().is_empty() {
            return None;
        }
        let id = object.id();
        let Some(latest) = self.latest.get_mut(object.key()) else {
            self.latest.insert(object.key().clone(), Latest { id, gone: None });
            return None;
        };
        let before = latest.id;
        if id >= before {
            *latest = Latest { id, gone: None };
        }
        Some(before)
    }

    /// JavaScript let go of this object.
    pub(super) fn gone(&mut self, object: &Object) {
        let key = object.key();
        // Where it was handed out once more and not decoded, JavaScript let go of it before.
        let Some(latest) = self.latest.get_mut(key).filter(|latest| latest.id == object.id() && latest.gone.is_none()) else { return };
        self.turn += 1;
        latest.gone = Some(self.turn);
        if self.gone.len() < MAX_REMEMBERED {
            self.gone.push((key.clone(), self.turn));
            return;
        }
        let (key, turn) = std::mem::replace(&mut self.gone[self.oldest], (key.clone(), self.turn));
        self.oldest = (self.oldest + 1) % MAX_REMEMBERED;
        if self.latest.get(&key).is_some_and(|latest| latest.gone == Some(turn)) {
            self.latest.remove(&key);
            shrink(&mut self.latest);
        }
    }
}

#[cfg(test)]
impl Decoded {
    /// Keys that there is room for.
    pub(super) fn places(&self) -> usize {
        self.latest.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn the_newest_version_that_was_decoded_is_known_by_its_key() {
        let mut decoded = Decoded::default();
        let [first, second, third] = [1, 2, 3].map(|version| named("a", version));
        assert_eq!(decoded.decode(&second), None);
        assert_eq!(decoded.decode(&first), Some(second.id()), "an older one can be made of it as well");
        assert_eq!(decoded.decode(&third), Some(second.id()), "which does not take its place");
        assert_eq!(decoded.decode(&third), Some(third.id()));
        assert_eq!(decoded.decode(&named("b", 4)), None, "another object");
    }

    #[test]
    fn a_bookmark_is_a_version_of_nothing() {
        let mut decoded = Decoded::default();
        for version in 1..3 {
            assert_eq!(decoded.decode(&Object::bookmark(&version.into(), false)), None);
        }
    }

    #[test]
    fn shr_07_reading_many_objects_in_turn_finds_no_earlier_versions() {
        let mut decoded = Decoded::default();
        for version in 0..3 {
            for name in 0..2 * MAX_REMEMBERED {
                let object = named(&name.to_string(), version);
                assert_eq!(decoded.decode(&object), None);
                decoded.gone(&object);
            }
        }
        assert_eq!((decoded.latest.len(), decoded.gone.len()), (MAX_REMEMBERED, MAX_REMEMBERED));
    }

    #[test]
    fn shr_04_a_key_is_remembered_for_a_while_after_its_last_version_is_gone() {
        let mut decoded = Decoded::default();
        let hot = named("hot", 1);
        decoded.decode(&hot);
        decoded.gone(&hot);
        for name in 0..MAX_REMEMBERED - 1 {
            let object = named(&name.to_string(), 1);
            decoded.decode(&object);
            decoded.gone(&object);
        }
        let next = named("hot", 2);
        assert_eq!(decoded.decode(&next), Some(hot.id()));
        let other = named("other", 1);
        decoded.decode(&other);
        decoded.gone(&other);
        assert_eq!(decoded.decode(&next), Some(next.id()), "that the earlier one is forgotten does not concern it");
    }

    #[test]
    fn shr_04_a_version_that_is_decoded_again_is_not_forgotten_for_having_been_gone() {
        let mut decoded = Decoded::default();
        let shown = named("shown", 1);
        decoded.decode(&shown);
        decoded.gone(&shown);
        decoded.decode(&shown);
        for name in 0..2 * MAX_REMEMBERED {
            let object = named(&name.to_string(), 1);
            decoded.decode(&object);
            decoded.gone(&object);
        }
        assert_eq!(decoded.decode(&named("shown", 2)), Some(shown.id()), "somebody has it");
    }

    #[test]
    fn shr_04_what_is_given_back_several_times_takes_one_place() {
        let mut decoded = Decoded::default();
        let [first, other] = ["first", "other"].map(|name| named(name, 1));
        for object in [&first, &other] {
            decoded.decode(object);
            decoded.gone(object);
        }
        for _ in 0..2 * MAX_REMEMBERED {
            // Handed out once more, and not decoded.
            decoded.gone(&other);
        }
        assert_eq!(decoded.decode(&named("first", 2)), Some(first.id()));
        assert_eq!(decoded.gone.len(), 2);
    }
}
