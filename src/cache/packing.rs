//! Packing: what rests is held as few bytes, and is packed while the host has nothing else to do.

use std::rc::Rc;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{Either, select};

use crate::cache::cacher::Cacher;
use crate::cache::resource::Resource;
use crate::object::Holder;
use crate::object::rest::{Packer, Reformed};
use crate::runtime::Millis;

/// How long an object is left alone before it is packed, and how often that is looked after.
const REST_MS: Millis = 500;
/// How long packing takes before the host has its turn.
const REST_SLICE_MS: Millis = 3;
/// Objects that are packed between two looks at the clock.
const REST_BATCH: usize = 32;
/// So many times at most in one slice.
const REST_BATCHES: usize = 8;
impl Cacher {
    /// A round of packing begins: what has not been touched since the last one is packed by [`Cacher::rest`].
    pub fn begin_rest(&mut self) {
        self.settle_strays();
        self.packer.begin_round();
    }

    /// Packs one object of the round, or closes some holes. Returns whether there was anything to do.
    pub fn rest(&mut self) -> bool {
        let more = self.packs(Packer::step);
        self.window.keep_bound();
        more
    }

    /// Packs all that waits.
    pub fn pack_all(&mut self) {
        while self.pack_next() {}
        self.close_holes();
    }

    /// Gives back what packed texts left behind, all of it at once.
    pub(super) fn close_holes(&mut self) {
        self.packer.close_holes();
    }

    /// Whether too little waits to be packed for a round of it.
    pub fn is_settled(&self) -> bool {
        self.packer.is_settled()
    }

    pub(super) fn pack_next(&mut self) -> bool {
        let more = self.packs(Packer::pack_next);
        self.window.keep_bound();
        more
    }

    /// Has the packer do one thing, and counts what that changes.
    pub(super) fn packs(&mut self, step: fn(&mut Packer, Reformed<'_>) -> bool) -> bool {
        let Self { packer, store, window, .. } = self;
        step(packer, &mut |holder, before, after| match holder {
            Holder::Store => store.reformed(before, after),
            Holder::Window => window.reformed(before, after),
            Holder::Nobody => {}
        })
    }
}

impl Resource {
    /// Packs what rests, in slices that leave the host its turn, as long as there is something.
    pub(super) fn keep_packing(self: &Rc<Self>) {
        if self.packing.borrow().is_some() || self.cacher.borrow().is_settled() {
            return;
        }
        let (open, mut closed) = oneshot::channel();
        *self.packing.borrow_mut() = Some(open);
        let this = Rc::downgrade(self);
        let runtime = self.runtime.clone();
        self.runtime.spawn(
            async move {
                loop {
                    if let Either::Right(_) = select(runtime.sleep(REST_MS), &mut closed).await {
                        return;
                    }
                    if let Some(this) = this.upgrade() {
                        this.cacher.borrow_mut().begin_rest();
                    }
                    while this.upgrade().is_some_and(|this| this.pack_slice()) {
                        runtime.yield_now().await;
                    }
                    let Some(this) = this.upgrade() else { return };
                    if this.cacher.borrow().is_settled() {
                        this.packing.borrow_mut().take();
                        return;
                    }
                }
            }
            .boxed_local(),
        );
    }

    fn pack_slice(&self) -> bool {
        let began = self.runtime.now();
        let mut cacher = self.cacher.borrow_mut();
        // In virtual time the clock stands still meanwhile: the number of objects bounds a slice as well.
        let mut more = true;
        for _ in 0..REST_BATCHES {
            more = (0..REST_BATCH).all(|_| cacher.rest());
            if !more || self.runtime.now().saturating_sub(began) >= REST_SLICE_MS {
                break;
            }
        }
        drop(cacher);
        self.settle_memory();
        more
    }
}
