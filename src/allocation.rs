//! The memory that values take, with the allocator's overhead, and when tables give it back.
//!
//! Imports nothing of this crate.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;

const WORD: usize = size_of::<usize>();

/// Bytes that an allocation of `bytes` takes. The allocator adds a word in front, rounds up to two words, and takes at least four. This is
/// true for dlmalloc, the allocator of Rust's WebAssembly target, and for glibc.
pub(crate) const fn allocation(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let taken = (bytes + WORD).next_multiple_of(2 * WORD);
    if taken < 4 * WORD { 4 * WORD } else { taken }
}

/// Bytes that a value of `bytes` takes behind an [`Rc`], which adds two counts.
pub(crate) const fn shared(bytes: usize) -> usize {
    allocation(2 * WORD + bytes)
}

/// Bytes of a text that no other object shares; 0 for a shared one.
pub(crate) fn own_text(text: &Rc<str>) -> usize {
    // One count is the caller's. Another may be that of the table of shared texts.
    if Rc::strong_count(text) <= 2 { shared(text.len()) } else { 0 }
}

/// Places of a table that are not worth a thought, though most of them be free.
const MIN_SPARSE_PLACES: usize = 1_024;

/// Of a larger table this part is in use, an eighth. So to move what is left costs little beside all that has gone.
const USED_PART: usize = 8;

/// Whether a table that held much holds so little now that it should be made anew.
pub(crate) fn is_sparse(len: usize, capacity: usize) -> bool {
    capacity > MIN_SPARSE_PLACES && len < capacity / USED_PART
}

/// Gives back most of the places of a table that held much and holds little now.
pub(crate) fn shrink<K: Eq + Hash, V, S: BuildHasher>(table: &mut HashMap<K, V, S>) {
    if is_sparse(table.len(), table.capacity()) {
        table.shrink_to(2 * table.len());
    }
}

/// What a table has allocated: seven eighths of its places are its capacity, and each has a byte more than the entry.
#[cfg(test)]
pub(crate) fn table<K, V, S>(table: &HashMap<K, V, S>) -> usize {
    (table.capacity() * 8 / 7).next_power_of_two() * (size_of::<(K, V)>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_takes_a_word_more_in_pairs_of_words_and_at_least_four() {
        assert_eq!(allocation(0), 0);
        assert_eq!(allocation(1), 4 * WORD);
        assert_eq!(allocation(3 * WORD), 4 * WORD);
        assert_eq!(allocation(3 * WORD + 1), 6 * WORD);
        assert_eq!(shared(0), 4 * WORD, "two counts and a word");
        assert_eq!(shared(1), 4 * WORD);
        assert_eq!(shared(WORD + 1), 6 * WORD);
    }
}
