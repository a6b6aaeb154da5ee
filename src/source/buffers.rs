//! Buffers that frames are read into, used again and again.
//!
//! A frame lives from its arrival to its scan. Allocated anew each time, it would sit between the objects that stay, and leave a hole of
//! an odd size behind; a few buffers that never go away cost less time and no holes.

use std::cell::{Cell, RefCell};

use crate::status::Error;

/// How many buffers rest at most; more are in use only while frames wait.
const KEPT: usize = 4;
/// A buffer beyond this goes back to the allocator: one large frame must not hold its memory for ever.
const LARGEST: usize = 256 * 1024;

/// Reading a usual frame takes at most so many times its length, for the object, what is known of it, and its change.
const READING: usize = 4;
/// A longer one takes its length once more: it is one large object, or a page, whose pieces are each looked ahead for.
const USUAL: usize = LARGEST;
/// So much memory must be there beside it, for what the frame causes.
const SPARE: usize = 512 << 10;
/// What one look finds for the frames that follow: what a page of the browser took once it never gives back.
const AHEAD: usize = 128 << 10;

thread_local! {
    // Of the memory that was there at the last look, what frames have not used up.
    static SEEN: Cell<usize> = const { Cell::new(0) };
    static RESTING: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer with room for so many bytes. Fails with code `out-of-memory` when there is no memory for it, or none for what reading a
/// frame of this length takes: so nothing that comes after runs out of it midway.
pub fn take(capacity: usize) -> Result<Vec<u8>, Error> {
    look_ahead(capacity)?;
    let mut buffer = RESTING.with_borrow_mut(Vec::pop).unwrap_or_default();
    reserve(&mut buffer, capacity)?;
    Ok(buffer)
}

/// Makes room for so many bytes more. Fails with code `out-of-memory`.
pub fn reserve(buffer: &mut Vec<u8>, bytes: usize) -> Result<(), Error> {
    buffer.try_reserve(bytes).map_err(|_| Error::out_of_memory(bytes))
}

/// Makes sure that there is memory to read so many bytes. Fails with code `out-of-memory`.
pub fn look_ahead(bytes: usize) -> Result<(), Error> {
    let wanted = bytes.saturating_add(bytes.min(USUAL) * (READING - 1));
    if let Some(left) = SEEN.get().checked_sub(wanted) {
        SEEN.set(left);
        return Ok(());
    }
    // Taken and given back: it stays with the allocator.
    reserve(std::hint::black_box(&mut Vec::new()), wanted.saturating_add(AHEAD + SPARE))?;
    SEEN.set(AHEAD);
    Ok(())
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
    use crate::status::ErrorCode;

    #[test]
    fn a_buffer_that_was_given_back_is_empty_and_used_again() {
        let mut buffer = take(1000).unwrap();
        buffer.extend_from_slice(b"a frame");
        let place = buffer.as_ptr();
        give_back(buffer);
        let again = take(500).unwrap();
        assert_eq!((again.as_ptr(), again.len()), (place, 0));
        assert!(again.capacity() >= 1000);
    }

    #[test]
    fn what_there_is_no_memory_for_is_an_error() {
        assert_eq!(take(usize::MAX / 8).unwrap_err().code, ErrorCode::OutOfMemory);
        assert_eq!(reserve(&mut Vec::new(), usize::MAX / 2 + 1).unwrap_err().code, ErrorCode::OutOfMemory);
        assert!(take(100).is_ok(), "and what there is memory for is taken still");
    }

    #[test]
    fn few_buffers_rest_and_none_that_is_large() {
        let many: Vec<_> = (0..10).map(|_| take(10).unwrap()).collect();
        many.into_iter().for_each(give_back);
        give_back(Vec::with_capacity(LARGEST + 1));
        RESTING.with_borrow(|resting| {
            assert_eq!(resting.len(), KEPT);
            assert!(resting.iter().all(|buffer| buffer.capacity() <= LARGEST));
        });
    }
}
