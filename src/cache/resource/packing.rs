//! Packing: what rests is held as few bytes, and is packed while the host has nothing else to do.

use std::cell::RefCell;
use std::rc::Rc;

use super::share::Share;
use crate::cache::cacher::Cacher;
use crate::runtime::{SharedRuntime, TaskSlot};
use crate::time::Millis;

/// How long an object is left alone before it is packed, and how often that is looked after.
const REST_MS: Millis = 500;
/// How long packing takes before the host has its turn.
const SLICE_MS: Millis = 3;
/// Objects that are packed between two looks at the clock.
const BATCH: usize = 32;
/// Batches of one slice. In virtual time the clock stands still meanwhile, so the number of objects bounds a slice as well.
const MAX_BATCHES: usize = 8;

/// Packs what rests in a cacher.
pub(super) struct Packing {
    cacher: Rc<RefCell<Cacher>>,
    share: Rc<Share>,
    runtime: SharedRuntime,
    task: TaskSlot,
}

impl Packing {
    /// Of this cacher, which has this share of the memory.
    pub(super) fn new(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) -> Self {
        Self { cacher, share, runtime, task: TaskSlot::default() }
    }

    /// Packs what rests, in slices that leave the host its turn, as long as there is something.
    pub(super) fn keep(&self) {
        if self.cacher.borrow().held().is_settled() {
            return;
        }
        self.task.keep(&*self.runtime, || run(self.cacher.clone(), self.share.clone(), self.runtime.clone()));
    }

    /// Packs nothing more.
    pub(super) fn end(&self) {
        self.task.end();
    }
}

async fn run(cacher: Rc<RefCell<Cacher>>, share: Rc<Share>, runtime: SharedRuntime) {
    loop {
        runtime.sleep(REST_MS).await;
        cacher.borrow_mut().held_mut().begin_rest();
        while pack_slice(&cacher, &share, &runtime) {
            runtime.yield_now().await;
        }
        if cacher.borrow().held().is_settled() {
            return;
        }
    }
}

fn pack_slice(cacher: &RefCell<Cacher>, share: &Share, runtime: &SharedRuntime) -> bool {
    let began = runtime.now();
    let mut more = true;
    {
        let mut cacher = cacher.borrow_mut();
        for _ in 0..MAX_BATCHES {
            more = (0..BATCH).all(|_| cacher.held_mut().rest());
            if !more || runtime.now().since(began) >= SLICE_MS {
                break;
            }
        }
    }
    share.settle();
    more
}
