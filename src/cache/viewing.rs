//! The views of a cacher, together with the state that they show.

use std::cell::RefCell;

use crate::json::fields::FieldSet;
use crate::status::Error;
use crate::store::Store;
use crate::view::{ViewId, ViewOptions, Views};

/// Does what takes both: a view owns its rows, and the objects are the store's.
pub struct Viewing<'a> {
    pub(super) views: &'a mut Views,
    pub(super) store: &'a Store,
    pub(super) fields: &'a RefCell<FieldSet>,
    /// As [`Availability::holds_list`](crate::cache::availability::Availability::holds_list).
    pub(super) holds_list: bool,
}

impl Viewing<'_> {
    /// Opens a live view. Over more than a few objects it begins without rows, see [`Viewing::build`].
    pub fn open(self, options: &ViewOptions) -> Result<ViewId, Error> {
        self.views.open(options, self.store, self.holds_list, &mut self.fields.borrow_mut())
    }

    /// Has a view take in what waits for it. Returns whether it may show something else now.
    pub fn look(self, id: ViewId) -> bool {
        self.views.look(id, self.holds_list, &self.fields.borrow())
    }

    /// Has unfinished views take in so many objects more. Returns whether some are still unfinished.
    pub fn build(self, objects: usize) -> bool {
        if self.views.is_unfinished() {
            self.views.go_on(self.store, objects, &self.fields.borrow());
        }
        self.views.is_unfinished()
    }

    /// Brings back views that ended for want of memory, as far as there is room for them.
    pub(super) fn revive(self, room: usize) {
        self.views.revive(room, self.store, &self.fields.borrow());
    }
}
