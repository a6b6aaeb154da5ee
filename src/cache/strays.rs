//! Objects that neither the store nor the window holds any more, and somebody still does: the rows of a view that nobody has looked at since,
//! the queue of a watcher or a handler, a reader.

use std::rc::{Rc, Weak};

use crate::object::Object;

/// So many are noted before those that are gone are looked for.
const FEW: usize = 16;

/// What is held so, and its bytes.
#[derive(Debug, Default)]
pub(super) struct Strays {
    noted: Vec<(Weak<Object>, usize)>,
    bytes: usize,
    // So many were alive when those that are gone were last looked for.
    alive: usize,
}

impl Strays {
    /// Whoever counted this object lets go of it.
    pub(super) fn let_go(&mut self, object: &Rc<Object>) {
        if Rc::strong_count(object) == 1 {
            return; // as it is with nearly all of them: that was the last
        }
        self.bytes += object.size();
        self.noted.push((Rc::downgrade(object), object.size()));
        if self.noted.len() > self.alive + self.alive / 4 + FEW {
            self.settle();
        }
    }

    /// Forgets those that are gone.
    pub(super) fn settle(&mut self) {
        self.noted.retain(|(object, _)| object.strong_count() > 0);
        self.noted.shrink_to(self.noted.len() + self.noted.len() / 4 + FEW);
        self.alive = self.noted.len();
        self.bytes = self.noted.iter().map(|(_, bytes)| bytes).sum();
    }

    /// Bytes of them: at least, and until the next [`settle`](Strays::settle) those of some that are gone.
    pub(super) fn bytes(&self) -> usize {
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
    fn those_that_are_gone_are_looked_for_as_seldom_as_others_come() {
        let mut strays = Strays::default();
        for version in 0..10_000 {
            let object = named("a", version);
            let reader = object.clone();
            strays.let_go(&object);
            drop((object, reader));
            assert!(strays.noted.len() <= FEW + 1);
        }
    }
}
