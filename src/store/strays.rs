//! Strays: objects that store and window dropped, and that somebody still holds. Holders are rows of a view, the queue of a watcher or a
//! handler, and JavaScript.
//!
//! An object that only JavaScript holds is mostly garbage that was not collected yet. Nobody could free it earlier, so it does not count at
//! first. If it outlives collections, JavaScript does hold it, and it counts.

use std::rc::{Rc, Weak};

use rustc_hash::FxHashSet;

use crate::object::{Object, ObjectId};

/// The least number of new strays before the list is settled, because settling looks at each of them.
const MIN_NOTED: usize = 16;

/// Collections that a stray outlives before it counts as held by JavaScript. The first may have begun before it became a stray.
const MIN_COLLECTIONS: u32 = 2;

#[derive(Debug)]
struct Stray {
    object: Weak<Object>,
    bytes: usize,
    /// The number of collections when JavaScript became its only holder.
    since: u32,
}

/// The strays and their bytes.
#[derive(Debug, Default)]
pub struct Strays {
    noted: Vec<Stray>,
    bytes: usize,
    // The number that was left when the list was last settled.
    alive: usize,
    collections: u32,
}

impl Strays {
    /// Notes an object that the store or the window is about to drop. Dropped objects that nobody else holds are no strays.
    pub fn note(&mut self, object: &Rc<Object>) {
        if Rc::strong_count(object) == 1 {
            return; // The usual case: the caller has the last reference.
        }
        let bytes = object.size();
        if Rc::strong_count(object) - 1 > usize::from(object.is_pinned()) {
            self.bytes += bytes;
        }
        self.noted.push(Stray { object: Rc::downgrade(object), bytes, since: self.collections });
        if self.noted.len() > self.alive + self.alive / 4 + MIN_NOTED {
            self.sift();
        }
    }

    /// JavaScript ran a garbage collection.
    pub fn collected(&mut self) {
        self.collections += 1;
        self.sift();
    }

    /// Removes strays that were freed, and counts the others by who holds them.
    pub fn sift(&mut self) {
        self.bytes = 0;
        // A delta keeps its base alive. If only JavaScript holds the delta, the same is true of the base. The base was noted later.
        let mut bases: FxHashSet<ObjectId> = FxHashSet::default();
        let (now, bytes) = (self.collections, &mut self.bytes);
        self.noted.retain_mut(|stray| {
            let Some(object) = stray.object.upgrade() else { return false };
            let others = Rc::strong_count(&object) - 1 - usize::from(object.is_pinned()) - usize::from(bases.contains(&object.id()));
            if others > 0 {
                stray.since = now;
            } else if now - stray.since < MIN_COLLECTIONS {
                bases.extend(object.delta_base());
                return true;
            }
            *bytes += stray.bytes;
            true
        });
        self.noted.shrink_to(self.noted.len() + self.noted.len() / 4 + MIN_NOTED);
        self.alive = self.noted.len();
    }

    /// Bytes of the strays that count. Until the next [`sift`](Strays::sift) some of them may have been freed.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn a_stray_counts_while_somebody_holds_it() {
        let mut strays = Strays::default();
        let (held, gone) = (named("a", 1), named("b", 1));
        let reader = held.clone();
        strays.note(&held);
        strays.note(&gone);
        drop((held, gone));
        assert_eq!((strays.bytes(), strays.noted.len()), (reader.size(), 1));
        strays.sift();
        assert_eq!(strays.bytes(), reader.size());
        drop(reader);
        strays.sift();
        assert_eq!(strays.bytes(), 0);
    }

    #[test]
    fn what_javascript_alone_holds_counts_after_two_collections() {
        let mut strays = Strays::default();
        let (pin, row) = (named("a", 1), named("b", 1));
        pin.pinned(true);
        row.pinned(true);
        let view = row.clone();
        strays.note(&pin.clone());
        strays.note(&row.clone());
        assert_eq!(strays.bytes(), row.size(), "the view holds that one");
        strays.collected();
        assert_eq!(strays.bytes(), row.size(), "that collection may have begun before");
        strays.collected();
        assert_eq!(strays.bytes(), row.size() + pin.size());
        drop(view);
        strays.sift();
        assert_eq!(strays.bytes(), pin.size(), "JavaScript became the only holder of the other just now");
        strays.collected();
        assert_eq!(strays.bytes(), pin.size());
        strays.collected();
        assert_eq!(strays.bytes(), row.size() + pin.size());
    }

    #[test]
    fn the_list_is_sifted_as_it_grows() {
        let mut strays = Strays::default();
        for version in 0..10_000 {
            let object = named("a", version);
            let reader = object.clone();
            strays.note(&object);
            drop((object, reader));
            assert!(strays.noted.len() <= MIN_NOTED + 1);
        }
    }
}
