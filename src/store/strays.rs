//! Objects that neither the store nor the window holds any more, and somebody still does: the rows of a view that nobody has looked at since,
//! the queue of a watcher or a handler, a reader.
//!
//! What JavaScript alone holds is mostly garbage that was not collected yet, and nothing that anybody could let go of. It counts when it has
//! outlived collections: then somebody does hold it.

use std::rc::{Rc, Weak};

use rustc_hash::FxHashSet;

use crate::object::{Object, ObjectId};

/// So many are noted before those that are gone are looked for: it costs a look at each.
const MIN_NOTED: usize = 16;

/// So many collections tell that something is held: the first may have begun before it was let go of.
const MIN_COLLECTIONS: u32 = 2;

#[derive(Debug)]
struct Stray {
    object: Weak<Object>,
    bytes: usize,
    /// Collections of JavaScript until it was alone in holding this.
    since: u32,
}

/// What is held so, and its bytes.
#[derive(Debug, Default)]
pub struct Strays {
    noted: Vec<Stray>,
    bytes: usize,
    // So many were alive when those that are gone were last looked for.
    alive: usize,
    collections: u32,
}

impl Strays {
    /// Whoever counted this object lets go of it.
    pub fn let_go(&mut self, object: &Rc<Object>) {
        if Rc::strong_count(object) == 1 {
            return; // as it is with nearly all of them: that was the last
        }
        let bytes = object.size();
        if Rc::strong_count(object) - 1 > usize::from(object.is_pinned()) {
            self.bytes += bytes;
        }
        self.noted.push(Stray { object: Rc::downgrade(object), bytes, since: self.collections });
        if self.noted.len() > self.alive + self.alive / 4 + MIN_NOTED {
            self.settle();
        }
    }

    /// JavaScript has collected what it did not hold.
    pub fn collected(&mut self) {
        self.collections += 1;
        self.settle();
    }

    /// Forgets those that are gone, and finds out who holds the others.
    pub fn settle(&mut self) {
        self.bytes = 0;
        // Told by such a text, a version is held by JavaScript alone as well. It was let go of after that.
        let mut tellers: FxHashSet<ObjectId> = FxHashSet::default();
        let (now, bytes) = (self.collections, &mut self.bytes);
        self.noted.retain_mut(|stray| {
            let Some(object) = stray.object.upgrade() else { return false };
            let others = Rc::strong_count(&object) - 1 - usize::from(object.is_pinned()) - usize::from(tellers.contains(&object.id()));
            if others > 0 {
                stray.since = now;
            } else if now - stray.since < MIN_COLLECTIONS {
                tellers.extend(object.delta_base());
                return true;
            }
            *bytes += stray.bytes;
            true
        });
        self.noted.shrink_to(self.noted.len() + self.noted.len() / 4 + MIN_NOTED);
        self.alive = self.noted.len();
    }

    /// Bytes of them: at least, and until the next [`settle`](Strays::settle) those of some that are gone.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn what_somebody_holds_counts_until_it_is_let_go_of() {
        let mut strays = Strays::default();
        let (held, gone) = (named("a", 1), named("b", 1));
        let reader = held.clone();
        strays.let_go(&held);
        strays.let_go(&gone);
        drop((held, gone));
        assert_eq!((strays.bytes(), strays.noted.len()), (reader.size(), 1));
        strays.settle();
        assert_eq!(strays.bytes(), reader.size());
        drop(reader);
        strays.settle();
        assert_eq!(strays.bytes(), 0);
    }

    #[test]
    fn what_javascript_alone_holds_counts_when_it_has_outlived_collections() {
        let mut strays = Strays::default();
        let (pin, row) = (named("a", 1), named("b", 1));
        pin.pinned(true);
        row.pinned(true);
        let view = row.clone();
        strays.let_go(&pin.clone());
        strays.let_go(&row.clone());
        assert_eq!(strays.bytes(), row.size(), "the view holds that one");
        strays.collected();
        assert_eq!(strays.bytes(), row.size(), "that collection may have begun before");
        strays.collected();
        assert_eq!(strays.bytes(), row.size() + pin.size());
        drop(view);
        strays.settle();
        assert_eq!(strays.bytes(), pin.size(), "JavaScript is alone with the other only since now");
        strays.collected();
        assert_eq!(strays.bytes(), pin.size());
        strays.collected();
        assert_eq!(strays.bytes(), row.size() + pin.size());
    }

    #[test]
    fn those_that_are_gone_are_looked_for_as_seldom_as_others_come() {
        let mut strays = Strays::default();
        for version in 0..10_000 {
            let object = named("a", version);
            let reader = object.clone();
            strays.let_go(&object);
            drop((object, reader));
            assert!(strays.noted.len() <= MIN_NOTED + 1);
        }
    }
}
