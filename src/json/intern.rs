//! Short texts that stand in many objects, held once: label keys and values, namespaces.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

/// Longer texts are mostly unlike each other.
const LONGEST: usize = 64;
/// So many texts are remembered; then those that nobody else holds are forgotten.
const KEPT: usize = 16_384;

thread_local! {
    static KNOWN: RefCell<HashSet<Rc<str>, FxBuildHasher>> = const { RefCell::new(HashSet::with_hasher(FxBuildHasher)) };
}

/// The text, shared with whoever asked for the same before.
pub(super) fn intern(text: &str) -> Rc<str> {
    if text.len() > LONGEST {
        return text.into();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(shared) = known.get(text) {
            return shared.clone();
        }
        if known.len() >= KEPT {
            known.retain(|shared| Rc::strong_count(shared) > 1);
            if known.len() > KEPT / 2 {
                // Most are in use, and sweeping for each new one would cost more than it saves: begin anew.
                known.clear();
            }
        }
        let shared: Rc<str> = text.into();
        known.insert(shared.clone());
        shared
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_and_long_ones_are_not_remembered() {
        assert!(Rc::ptr_eq(&intern("app"), &intern("app")));
        assert!(!Rc::ptr_eq(&intern("app"), &intern("tier")));
        let long = "x".repeat(LONGEST + 1);
        assert!(!Rc::ptr_eq(&intern(&long), &intern(&long)));
    }

    #[test]
    fn what_is_remembered_is_bounded_whether_it_is_in_use_or_not() {
        let held: Vec<_> = (0..3 * KEPT).map(|number| intern(&format!("held-{number}"))).collect();
        for number in 0..3 * KEPT {
            assert_eq!(&*intern(&format!("passing-{number}")), format!("passing-{number}"));
        }
        assert!(KNOWN.with_borrow(HashSet::len) <= KEPT);
        assert_eq!(&*held[7], "held-7");
    }
}
