//! What values take in memory, allocator and all.
//!
//! Imports nothing of this crate.

use std::rc::Rc;

const WORD: usize = size_of::<usize>();

/// Bytes that an allocation of so many takes: with one word in front, in steps of two words, at least four. So it is with the allocator of
/// Rust's WebAssembly target (dlmalloc) and with that of Linux.
pub(crate) const fn allocation(bytes: usize) -> usize {
    if bytes == 0 {
        return 0;
    }
    let taken = (bytes + WORD).next_multiple_of(2 * WORD);
    if taken < 4 * WORD { 4 * WORD } else { taken }
}

/// Bytes that a value of so many takes behind an [`Rc`], which counts twice.
pub(crate) const fn shared(bytes: usize) -> usize {
    allocation(2 * WORD + bytes)
}

/// Bytes that a text takes which no other object has; none for one that is held once for many.
pub(crate) fn own_text(text: &Rc<str>) -> usize {
    // One count is the holder's, one may be that of the table by which equal texts are found.
    if Rc::strong_count(text) <= 2 { shared(text.len()) } else { 0 }
}
