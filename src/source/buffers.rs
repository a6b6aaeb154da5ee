//! Buffers that frames are read into, used again and again.
//!
//! A frame lives from its arrival to its scan. Allocated anew each time, it would sit between the objects that stay, and leave a hole of
//! an odd size behind; a few buffers that never go away cost less time and no holes.

use std::cell::RefCell;

/// How many buffers rest at most; more are in use only while frames wait.
const KEPT: usize = 4;
/// A buffer beyond this goes back to the allocator: one large frame must not hold its memory for ever.
const LARGEST: usize = 256 * 1024;

thread_local! {
    static RESTING: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer with room for so many bytes.
pub fn take(capacity: usize) -> Vec<u8> {
    let mut buffer = RESTING.with_borrow_mut(Vec::pop).unwrap_or_default();
    buffer.reserve(capacity);
    buffer
}

/// Gives back a buffer whose frame was read.
pub fn give_back(mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 || buffer.capacity() > LARGEST {
        return;
    }
    buffer.clear();
    RESTING.with_borrow_mut(|resting| {
        if resting.len() < KEPT {
            resting.push(buffer);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_was_given_back_is_empty_and_used_again() {
        let mut buffer = take(1000);
        buffer.extend_from_slice(b"a frame");
        let place = buffer.as_ptr();
        give_back(buffer);
        let again = take(500);
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        assert!(again.capacity() >= 1000);
    }

    #[test]
    fn few_buffers_rest_and_none_that_is_large() {
        let many: Vec<_> = (0..10).map(|_| take(10)).collect();
        many.into_iter().for_each(give_back);
        give_back(Vec::with_capacity(LARGEST + 1));
        RESTING.with_borrow(|resting| {
            assert_eq!(resting.len(), KEPT);
            assert!(resting.iter().all(|buffer| buffer.capacity() <= LARGEST));
        });
    }
}
