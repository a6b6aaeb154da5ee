//! What views need of their cacher: its store, its list, its paths.

use crate::cache::cacher::Cacher;
use crate::status::Error;
use crate::view::{ViewId, ViewOptions};

impl Cacher {
    /// So much room is there: views that there was no memory for come back as far as it goes.
    pub(super) fn revive_views(&mut self, room: usize) {
        let fields = self.fields().clone();
        self.views.revive(room, &self.store, &fields.borrow());
    }

    /// Opens a live view. Over more than a few objects it begins without rows, see [`Cacher::build_views`].
    pub fn open_view(&mut self, options: &ViewOptions) -> Result<ViewId, Error> {
        let listed = self.has_listed();
        let fields = self.fields().clone();
        self.views.open(options, &self.store, listed, &mut fields.borrow_mut())
    }

    /// Has a view take in what waits for it, and says whether it may show something else now.
    pub fn sync_view(&mut self, id: ViewId) -> bool {
        let fields = self.fields().clone();
        self.views.sync(id, self.has_listed(), &fields.borrow())
    }

    /// Has views find some more of their rows and places; whether there are still more.
    pub fn build_views(&mut self, most: usize) -> bool {
        if self.views.is_unfinished() {
            let fields = self.fields().clone();
            self.views.go_on(&self.store, most, &fields.borrow());
        }
        self.views.is_unfinished()
    }
}
