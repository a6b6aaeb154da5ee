//! How a view gets its first rows: all at once, or some objects at a time in the order of their keys.
//!
//! A view that is being built hears of changes to objects that it has passed. Those further on are still to be found.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::sort::sort_by;

use super::build::{Before, Build};
use super::view::View;

impl View {
    /// Gives a view that has no rows yet those of these objects, sorted once.
    pub fn fill<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        let mut rows = Vec::new();
        for object in objects {
            if !self.passes(object, fields) {
                continue;
            }
            if self.predicate {
                self.wait(object);
            } else {
                let row = self.slot(object);
                self.settle_place(row, fields);
                rows.push(row);
            }
        }
        sort_by(&mut rows, |a, b| self.rows[*a as usize].sort_key.cmp(&self.rows[*b as usize].sort_key));
        self.ranks.fill(&rows);
    }

    /// Begins before the first object.
    pub fn begin(&mut self) {
        self.build = Build::Under { passed: None, more: true, before: Before::default() };
    }

    /// The key behind which [`find`](View::find) goes on; `None` where nothing is to be found.
    pub fn finds_behind(&self) -> Option<&str> {
        match &self.build {
            Build::Under { passed, more: true, .. } => Some(passed.as_deref().unwrap_or("")),
            _ => None,
        }
    }

    /// Takes in the next objects in the order of their keys. To be given none says that there are no more.
    pub fn find<'a>(&mut self, objects: impl IntoIterator<Item = &'a Rc<Object>>, fields: &FieldSet) {
        let mut last = None;
        for object in objects {
            last = Some(object.key());
            if !self.passes(object, fields) {
                continue;
            }
            if self.predicate {
                self.wait(object);
                self.stirred = true;
            } else {
                let row = self.slot(object);
                self.settle_place(row, fields);
                let sort_key = &*self.rows[row as usize].sort_key;
                self.ranks.insert(row, |other| *self.rows[other as usize].sort_key < *sort_key);
            }
        }
        let Build::Under { passed, more, before } = &mut self.build else { return };
        *more = last.is_some();
        *passed = last.cloned();
        // Named each time the rows have doubled: a reader that reads all of them each time reads at most twice as many as there are.
        self.stirred |= !*more || self.ranks.len() > 2 * before.total;
    }

    /// Shows what was found since the last look; whether that is anything.
    pub(super) fn reveal(&mut self) -> bool {
        let seen = (self.visible_rows(), self.build.before().is_some());
        let hides = !self.order.is_empty() && !self.loaded;
        if self.build.is_under_way() || self.behind {
            let now = Before {
                visible: if hides { 0 } else { self.ranks.len() },
                total: self.ranks.len(),
                counts: self.counts.iter().map(|(value, count)| (value.clone(), count)).collect(),
            };
            match &mut self.build {
                Build::Under { more: true, before, .. } => *before = now,
                build => *build = Build::Behind { before: now },
            }
        } else if !matches!(self.build, Build::Whole) {
            self.build = if hides { Build::Hidden } else { Build::Whole };
        }
        seen != (self.visible_rows(), self.build.before().is_some())
    }

    fn visible_rows(&self) -> usize {
        self.build.visible().min(self.ranks.len())
    }
}
