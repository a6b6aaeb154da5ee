//! How a view gets its first rows: all at once, or some objects at a time in the order of their keys.
//!
//! A view that is being built hears of changes to objects that it has passed. Those further on are still to be found.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::object::Object;

use super::stage::{Seen, Stage};
use super::view::View;

impl View {
    /// Gives a view that has no rows yet those of these objects, sorted once.
    pub fn fill<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        let mut rows = Vec::new();
        for object in objects {
            if !self.criteria.passes(object, fields) {
                continue;
            }
            if let Some(wait) = self.wait_of(object) {
                self.verdicts.wait(object, wait);
            } else {
                rows.push(self.rows.add_at(object, self.criteria.place(object, fields, self.derived.as_deref())));
            }
        }
        self.rows.enter_all(rows);
    }

    /// Begins before the first object.
    pub fn begin(&mut self) {
        self.stage = Stage::begin();
    }

    /// The key after which [`find`](View::find) goes on; `None` where nothing is to be found.
    pub fn finds_after(&self) -> Option<&str> {
        match &self.stage {
            Stage::Finding { passed, .. } => Some(passed.as_deref().unwrap_or("")),
            _ => None,
        }
    }

    /// Takes in the next objects in the order of their keys. To be given none says that there are no more.
    pub fn find<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        let mut last = None;
        for object in objects {
            last = Some(object.key());
            if !self.criteria.passes(object, fields) {
                continue;
            }
            if let Some(wait) = self.wait_of(object) {
                self.verdicts.wait(object, wait);
                self.stirred = true;
            } else {
                let row = self.rows.add(object);
                self.rows.enter(row, self.criteria.place(object, fields, self.derived.as_deref()));
            }
        }
        let Stage::Finding { passed, seen } = &mut self.stage else { return };
        match last {
            Some(last) => {
                *passed = Some(last.clone());
                // Named each time the rows have doubled: a reader that reads all of them each time reads at most twice as many as there are.
                self.stirred |= self.rows.len() > 2 * seen.total;
            }
            None => {
                self.stage.found(!self.pending.is_empty());
                self.stirred = true;
            }
        }
    }

    /// Shows what a look has found: everything, or where it has `left` changes that wait, what is in place. Whether something else is seen.
    pub(super) fn reveal(&mut self, left: bool, loaded: bool) -> bool {
        let before = (self.visible_rows(), self.stage.seen().is_some());
        let ordered = self.criteria.is_ordered();
        if left || self.stage.is_finding() {
            self.stage.stand(Seen {
                visible: if ordered { 0 } else { self.rows.len() },
                total: self.rows.len(),
                counts: self.rows.counts(),
            });
        } else {
            self.stage.show(loaded, ordered);
        }
        before != (self.visible_rows(), self.stage.seen().is_some())
    }

    fn visible_rows(&self) -> usize {
        self.stage.visible().min(self.rows.len())
    }
}
