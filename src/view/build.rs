//! How far a view has come with its rows, and what is seen of it meanwhile. What is seen stands still between two looks.

use std::rc::Rc;

use crate::key::Key;

/// How far a view has come, and what may be seen of it meanwhile.
#[derive(Default)]
pub(super) enum Build {
    /// Everything is there to be seen.
    Whole,
    /// Rows are there, and the view is ordered: they are seen when the list is whole and every object was asked.
    #[default]
    Hidden,
    /// The objects up to this key were passed, or all where there are no more to find.
    Under { passed: Option<Key>, more: bool, before: Before },
    /// More rows have changed place than one look takes in.
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
