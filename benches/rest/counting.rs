//! The system's allocator, and how much of it is in use: what is counted elsewhere is held against this.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what an allocation takes, the allocator's own bytes with it.
pub(crate) struct Counting;

fn taken(layout: Layout) -> usize {
    (layout.size() + 8).next_multiple_of(16).max(32)
}

fn add(bytes: usize) {
    PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// There is no safe way to be an allocator. Everything is passed on as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(taken(layout));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(taken(layout), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes in use now.
pub(crate) fn held() -> usize {
    HELD.load(Relaxed)
}

/// The most bytes that were in use since the last call.
pub(crate) fn peak() -> usize {
    PEAK.swap(held(), Relaxed)
}
