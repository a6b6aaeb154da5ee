//! Short texts that occur in many objects, held once: label keys and values, namespaces.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use rustc_hash::FxBuildHasher;

/// Bytes of a text. Longer texts rarely repeat.
const MAX_TEXT_BYTES: usize = 64;
/// Remembered texts, under 2 MiB with their allocations. At this number those that no object uses are forgotten.
const MAX_TEXTS: usize = 16_384;

thread_local! {
    static KNOWN: RefCell<HashSet<Rc<str>, FxBuildHasher>> = const { RefCell::new(HashSet::with_hasher(FxBuildHasher)) };
}

/// The shared copy of this text.
pub(super) fn intern(text: &str) -> Rc<str> {
    if text.len() > MAX_TEXT_BYTES {
        return text.into();
    }
    KNOWN.with_borrow_mut(|known| {
        if let Some(shared) = known.get(text) {
            return shared.clone();
        }
        if known.len() >= MAX_TEXTS {
            known.retain(|shared| Rc::strong_count(shared) > 1);
            if known.len() > MAX_TEXTS / 2 {
                // Most are in use. Sweeping again for every new text would cost more than it saves.
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
        let long = "x".repeat(MAX_TEXT_BYTES + 1);
        assert!(!Rc::ptr_eq(&intern(&long), &intern(&long)));
    }

    #[test]
    fn what_is_remembered_is_bounded_whether_it_is_in_use_or_not() {
        let held: Vec<_> = (0..3 * MAX_TEXTS).map(|number| intern(&format!("held-{number}"))).collect();
        for number in 0..3 * MAX_TEXTS {
            assert_eq!(&*intern(&format!("passing-{number}")), format!("passing-{number}"));
        }
        assert!(KNOWN.with_borrow(HashSet::len) <= MAX_TEXTS);
        assert_eq!(&*held[7], "held-7");
    }
}
