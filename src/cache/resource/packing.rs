//! Packing: what rests is held as few bytes, and is packed while the host has nothing else to do.

use std::cell::RefCell;
use std::rc::Rc;

use super::share::Share;
use crate::cache::cacher::Cacher;
use crate::runtime::{SharedRuntime, SingleTask};
use crate::time::Millis;

/// The time between two passes of packing. What was not touched for so long is packed.
const PASS_INTERVAL_MS: Millis = 500;
/// How long packing may take before the host has its turn. It is less than a slice of work that somebody waits for.
const MAX_SLICE_MS: Millis = 3;
/// Objects that are packed between two readings of the clock, which costs a call into the host.
const MAX_UNTIMED_OBJECTS: usize = 32;
/// Batches of one slice. In virtual time the clock stands still meanwhile, so the number of objects bounds a slice as well.
const MAX_BATCHES: usize = 8;

/// Packs what rests in a cacher.
pub(super) struct Packing {
    cacher: Rc<RefCell<Cacher>>,
    share: Rc<Share>,
    runtime: SharedRuntime,
    task: SingleTask,
}

impl Packing {
    /// Of this cacher, which has this share of the memory.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) -> Self {
        Self { cacher, share, runtime, task: SingleTask::default() }
    }

    /// Packs what rests, in slices that leave the host its turn, as long as there is something.
    pub(super) fn start(&self) {
        if !self.cacher.borrow().held().needs_packing() {
            return;
        }
        self.task.start(&*self.runtime, || run(self.cacher.clone(), self.share.clone(), self.runtime.clone()));
    }

    /// Packs nothing more.
    pub(super) fn end(&self) {
        self.task.end();
    }
}

async fn run(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) {
    loop {
        runtime.sleep(PASS_INTERVAL_MS).await;
        cacher.borrow_mut().held_mut().begin_packing();
        while pack_slice(&cacher, &share, &runtime) {
            runtime.yield_now().await;
        }
        if !cacher.borrow().held().needs_packing() {
            return;
        }
    }
}

fn pack_slice(cacher: &RefCell<Cacher>, share: &Share, runtime: &SharedRuntime) -> bool {
    let began = runtime.now();
    let mut more = true;
    for _ in 0..MAX_BATCHES {
        more = pack_batch(&mut cacher.borrow_mut());
        if !more || runtime.now().since(began) >= MAX_SLICE_MS {
            break;
        }
    }
    share.keep_bound();
    more
}

/// Whether there may be more to pack.
fn pack_batch(cacher: &mut Cacher) -> bool {
    (0..MAX_UNTIMED_OBJECTS).all(|_| cacher.held_mut().pack_resting())
}
