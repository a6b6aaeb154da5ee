//! The text of an object in whatever form it is held.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use crate::allocation::{allocation, shared};

/// The stored document of an object: strict JSON in UTF-8. It is cheap to clone, and stays valid when the object is packed or dropped.
// The count points to the box, which costs an indirection. An `Rc<[u8]>` would copy the bytes of a box that exists already.
#[derive(Clone, PartialEq, Eq)]
pub struct Text(Rc<Box<[u8]>>);

impl Text {
    /// Takes over these bytes without a copy.
    pub fn new(bytes: Box<[u8]>) -> Self {
        Self(Rc::new(bytes))
    }

    /// Bytes that it holds.
    pub fn cost(&self) -> usize {
        shared(size_of::<Box<[u8]>>()) + allocation(self.len())
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of a kept buffer. A larger one is freed, so that one large object does not hold its memory for ever.
const MAX_BUFFER_BYTES: usize = 256 << 10;

/// A text that is read once. An unpacked one lies in a buffer that the next reader uses again. That saves the allocation and stays in the
/// processor's cache.
pub struct Lent(Place);

enum Place {
    Held(Text),
    // The buffer, and the bytes of it in use.
    Unpacked(Vec<u8>, usize),
}

impl Lent {
    /// A text that is held unpacked.
    pub(super) fn held(text: Text) -> Self {
        Self(Place::Held(text))
    }

    /// A text of `length` bytes that `unpack` writes; `None` if that fails.
    pub(super) fn unpacked(length: usize, unpack: impl FnOnce(&mut [u8]) -> Option<()>) -> Option<Self> {
        // The buffer is taken out, because another text may be read while this one is.
        let mut lent = Self(Place::Unpacked(BUFFER.take(), length));
        let Place::Unpacked(buffer, _) = &mut lent.0 else { return None };
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        unpack(&mut buffer[..length])?;
        Some(lent)
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Deref for Lent {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Place::Held(text) => text,
            Place::Unpacked(buffer, length) => &buffer[..*length],
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Place::Unpacked(buffer, _) = &mut self.0
            && buffer.capacity() <= MAX_BUFFER_BYTES
        {
            BUFFER.set(std::mem::take(buffer));
        }
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        String::from_utf8_lossy(self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(length: usize, byte: u8) -> Lent {
        let fill = |place: &mut [u8]| {
            place.fill(byte);
            Some(())
        };
        Lent::unpacked(length, fill).unwrap()
    }

    #[test]
    fn a_buffer_is_used_again_and_shows_nothing_of_what_was_in_it() {
        let place = filled(1000, b'a').as_ptr();
        let shorter = filled(10, b'b');
        assert_eq!((shorter.as_ptr(), &*shorter), (place, &[b'b'; 10][..]));
        drop(shorter);
        assert_eq!(&*filled(2000, b'c'), &[b'c'; 2000]);
    }

    #[test]
    fn who_reads_meanwhile_has_a_buffer_of_its_own() {
        let first = filled(100, b'a');
        let second = filled(50, b'b');
        assert_eq!((&*first, &*second), (&[b'a'; 100][..], &[b'b'; 50][..]));
    }

    #[test]
    fn what_cannot_be_unpacked_is_none_and_the_buffer_of_a_large_one_goes() {
        assert!(Lent::unpacked(10, |_| None).is_none());
        drop(filled(MAX_BUFFER_BYTES + 1, b'a'));
        assert!(BUFFER.with_borrow(Vec::capacity) <= MAX_BUFFER_BYTES);
    }

    #[test]
    fn a_text_costs_its_bytes_and_the_count_in_front() {
        let text = |length: usize| Text::new(vec![b'x'; length].into_boxed_slice());
        assert_eq!(text(1000).cost() - text(0).cost(), allocation(1000));
        assert_eq!(text(0).cost(), shared(size_of::<Box<[u8]>>()));
    }
}
