//! How a view over many objects gets its first rows: some objects at a time, in the order of their keys.
//!
//! Changes of objects that were passed are heard as always; those of objects further on are not, because they are still to be found.
//! What is seen stands still between two looks, here as where many changes are taken in.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::key::Key;
use crate::object::Object;

use super::view::View;

/// How far a view has come, and what may be seen of it meanwhile.
#[derive(Default)]
pub(super) enum Build {
    /// Everything is there to be seen.
    Whole,
    /// Rows are in, and something orders them: they will be seen when the list is whole and every object was asked.
    #[default]
    Hidden,
    /// The objects up to this key were passed; all, where there is no more to find.
    Under { passed: Option<Key>, more: bool, before: Before },
    /// More has changed place than one look takes in.
    Behind { before: Before },
}

/// What was seen at the last look, while rows are found or take their places.
#[derive(Default)]
pub(super) struct Before {
    pub(super) visible: usize,
    pub(super) total: usize,
    pub(super) counts: Vec<(Rc<str>, usize)>,
}

impl Build {
    pub(super) fn before(&self) -> Option<&Before> {
        match self {
            Build::Under { before, .. } | Build::Behind { before } => Some(before),
            _ => None,
        }
    }

    pub(super) fn visible(&self) -> usize {
        match self {
            Build::Whole => usize::MAX,
            Build::Hidden => 0,
            Build::Under { before, .. } | Build::Behind { before } => before.visible,
        }
    }

    /// Whether changes of this key are heard.
    pub(super) fn has_passed(&self, key: &str) -> bool {
        match self {
            Build::Under { passed, more: true, .. } => passed.as_deref().is_some_and(|passed| key <= passed),
            _ => true,
        }
    }

    pub(super) fn is_under_way(&self) -> bool {
        matches!(self, Build::Under { more: true, .. })
    }
}

impl View {
    /// Begins with the objects before the first.
    pub fn begin(&mut self) {
        self.build = Build::Under { passed: None, more: true, before: Before::default() };
    }

    /// The key behind which [`find`](View::find) goes on; none: nothing is to be found.
    pub fn finds_behind(&self) -> Option<&str> {
        match &self.build {
            Build::Under { passed, more: true, .. } => Some(passed.as_deref().unwrap_or("")),
            _ => None,
        }
    }

    /// Takes in the next of all objects in the order of their keys; none: there are no more.
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
        // Whoever looks at all the rows each time looks at no more than twice as many as there are.
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
