//! The cacher as the parts of a resource share it.

use std::cell::{Ref, RefMut};
use std::rc::Rc;

use super::building::Building;
use super::flusher::Flusher;
use crate::cache::cacher::Cacher;
use crate::cache::flush::Flush;
use crate::status::Error;
use crate::view::{ViewId, ViewOptions};

/// Each part reads or changes the state in steps of its own; what a step leaves to tell follows in a flush.
pub(super) struct SharedCacher {
    flusher: Rc<Flusher>,
    building: Building,
}

impl SharedCacher {
    /// Over the cacher that this flusher tells of.
    pub(super) fn new(flusher: Rc<Flusher>, building: Building) -> Rc<Self> {
        Rc::new(Self { flusher, building })
    }

    /// To read the state.
    pub(super) fn borrow(&self) -> Ref<'_, Cacher> {
        self.flusher.cacher().borrow()
    }

    /// To change what leaves nothing to tell.
    pub(super) fn borrow_mut(&self) -> RefMut<'_, Cacher> {
        self.flusher.cacher().borrow_mut()
    }

    /// Reads or changes the state, and has a flush follow when that left something to tell. No await, no JavaScript inside.
    pub(super) fn with<R>(&self, work: impl FnOnce(&mut Cacher) -> R) -> R {
        let result = work(&mut self.borrow_mut());
        self.tell_soon();
        result
    }

    /// Opens a live view and finds rows for it as long as a slice lasts (see [`Building::open_view`]).
    pub(super) fn open_view(&self, options: &ViewOptions) -> Result<ViewId, Error> {
        self.building.open_view(options)
    }

    // Compiled once, and not for each kind of work.
    #[inline(never)]
    fn tell_soon(&self) {
        self.flusher.tell_soon();
        self.building.start();
    }

    /// Sets who hears of changes. Called with nothing borrowed.
    pub(super) fn on_flush(&self, hook: impl Fn(Flush) + 'static) {
        self.flusher.tell(hook);
    }

    /// Tells what happened since the last flush; whether there was anything to tell.
    pub(super) fn flush(&self) -> bool {
        self.flusher.flush()
    }

    /// Has a flush follow soon, outside the call that caused it.
    pub(super) fn plan_flush(&self) {
        self.flusher.plan();
    }
}
