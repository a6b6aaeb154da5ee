//! Buffers that frames are read into, used again and again; and the look ahead whether there is memory to read with.
//!
//! A frame lives from its arrival to its scan. Allocated anew each time, it would lie between the objects that stay, and leave a hole of an
//! odd size behind. A few buffers that never go away cost less time and no holes.

use std::cell::{Cell, RefCell};

use crate::status::Error;

/// The longest frame that is taken; beyond it the stream is given up, because memory is bounded. 64 MiB.
///
/// etcd refuses objects beyond 1.5 MB by default, so that only a stream that is no watch reaches this.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// How many buffers rest; more are in use only while frames wait.
const MAX_RESTING: usize = 4;
/// A larger buffer goes back to the allocator: one large frame must not hold its memory for ever.
const MAX_RESTING_BYTES: usize = 256 << 10;

/// Reading a usual frame takes at most so many times its length: for the object, what is known of it, and its change.
const MAX_READING_FACTOR: usize = 4;
/// A longer frame takes its length once more: it is one large object, or a page, whose pieces are each looked ahead for.
const MAX_USUAL_BYTES: usize = MAX_RESTING_BYTES;
/// So much memory must be there beside it, for what the frame causes.
const MIN_SPARE_BYTES: usize = 512 << 10;
/// What one look finds for the frames that follow. It is not more, because WebAssembly memory never shrinks.
const LOOK_AHEAD_BYTES: usize = 128 << 10;

thread_local! {
    // Of the memory that was there at the last look, what frames have not used up.
    static SEEN: Cell<usize> = const { Cell::new(0) };
    static RESTING: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// An empty buffer with room for so many bytes.
///
/// Fails with code `out-of-memory` when there is no memory for it, or not enough to read a frame of this length. So nothing runs out of
/// memory midway.
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
    let wanted = bytes.saturating_add(bytes.min(MAX_USUAL_BYTES) * (MAX_READING_FACTOR - 1));
    if let Some(left) = SEEN.get().checked_sub(wanted) {
        SEEN.set(left);
        return Ok(());
    }
    // Taken and given back: it stays with the allocator.
    reserve(std::hint::black_box(&mut Vec::new()), wanted.saturating_add(LOOK_AHEAD_BYTES + MIN_SPARE_BYTES))?;
    SEEN.set(LOOK_AHEAD_BYTES);
    Ok(())
}

/// Gives back a buffer whose frame was read.
pub fn give_back(mut buffer: Vec<u8>) {
    if buffer.capacity() == 0 || buffer.capacity() > MAX_RESTING_BYTES {
        return;
    }
    buffer.clear();
    RESTING.with_borrow_mut(|resting| {
        if resting.len() < MAX_RESTING {
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
        give_back(Vec::with_capacity(MAX_RESTING_BYTES + 1));
        RESTING.with_borrow(|resting| {
            assert_eq!(resting.len(), MAX_RESTING);
            assert!(resting.iter().all(|buffer| buffer.capacity() <= MAX_RESTING_BYTES));
        });
    }
}
