//! The life of a view: how far it has come with its rows, and what is seen of it meanwhile.
//!
//! A *look* is [`View::look`](super::View::look). What is seen stands still between two looks.
//!
//! | stage | what is there | what is seen | what leads on |
//! |---|---|---|---|
//! | `Hidden` | rows, in order | nothing | a look when all is loaded: `Whole`; `begin`: `Finding` |
//! | `Finding` | the rows of the objects that were passed | what was there at the last look | `find`, at the last object: `Ready`, or `Behind` if changes wait |
//! | `Behind` | all rows, some not in their new place | the same | `catch_up`, at the last change: `Ready` |
//! | `Ready` | all rows in their places | the same | a look: `Whole`, or `Hidden` if it is ordered and not loaded |
//! | `Whole` | all rows in their places | all of them | a look that leaves something: `Behind` |
//!
//! A look takes in a bounded number of changes. What is left after it makes a view of any stage but `Finding` one that is `Behind`. A view that
//! loses its memory is `Hidden` again, without rows.
//!
//! An unordered view shows its rows at once, so its `Whole` need not be loaded. The rows of an ordered one would jump, so it becomes `Whole`
//! only when it is loaded.

use std::rc::Rc;

use crate::key::Key;

/// How far a view has come, and what is seen of it.
pub(super) enum Stage {
    /// Rows may be there, and none is seen.
    Hidden,
    /// The objects up to this key were passed; those behind it are still to be found.
    Finding { passed: Option<Key>, seen: Seen },
    /// More rows have changed place than one look takes in.
    Behind { seen: Seen },
    /// Every row has its place. The next look shows them.
    Ready { seen: Seen },
    /// Every row is seen.
    Whole {
        /// At the last look the list was whole, and every object of it was asked.
        loaded: bool,
    },
}

/// What was there at the last look.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) visible: usize,
    pub(super) total: usize,
    pub(super) counts: Vec<(Rc<str>, usize)>,
}

impl Stage {
    /// Before the first object.
    pub(super) fn begin() -> Self {
        Self::Finding { passed: None, seen: Seen::default() }
    }

    /// What is seen, where that is not what is there.
    pub(super) fn seen(&self) -> Option<&Seen> {
        match self {
            Self::Finding { seen, .. } | Self::Behind { seen } | Self::Ready { seen } => Some(seen),
            Self::Hidden | Self::Whole { .. } => None,
        }
    }

    /// So many rows, from the first on, are seen at most.
    pub(super) fn visible(&self) -> usize {
        match self {
            Self::Hidden => 0,
            Self::Finding { seen, .. } | Self::Behind { seen } | Self::Ready { seen } => seen.visible,
            Self::Whole { .. } => usize::MAX,
        }
    }

    /// Whether changes of this key are heard.
    pub(super) fn has_passed(&self, key: &str) -> bool {
        match self {
            Self::Finding { passed, .. } => passed.as_deref().is_some_and(|passed| key <= passed),
            _ => true,
        }
    }

    pub(super) fn is_finding(&self) -> bool {
        matches!(self, Self::Finding { .. })
    }

    pub(super) fn is_behind(&self) -> bool {
        matches!(self, Self::Behind { .. })
    }

    pub(super) fn is_loaded(&self) -> bool {
        matches!(self, Self::Whole { loaded: true })
    }

    /// All objects were passed. Whether changes wait for their rows.
    pub(super) fn found(&mut self, waiting: bool) {
        if let Self::Finding { seen, .. } = self {
            let seen = std::mem::take(seen);
            *self = if waiting { Self::Behind { seen } } else { Self::Ready { seen } };
        }
    }

    /// The next look goes on with what the last one has left.
    pub(super) fn caught_up(&mut self) {
        if let Self::Behind { seen } = self {
            *self = Self::Ready { seen: std::mem::take(seen) };
        }
    }

    /// A look has left changes that wait, or rows are still being found: this is seen until the next look.
    pub(super) fn stand(&mut self, now: Seen) {
        match self {
            Self::Finding { seen, .. } => *seen = now,
            _ => *self = Self::Behind { seen: now },
        }
    }

    /// A look has found everything in its place. An ordered view that is not loaded hides that, unless all of it is seen already.
    pub(super) fn show(&mut self, loaded: bool, ordered: bool) {
        let hides = ordered && !loaded && !matches!(self, Self::Whole { .. });
        *self = if hides { Self::Hidden } else { Self::Whole { loaded } };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(visible: usize) -> Seen {
        Seen { visible, ..Seen::default() }
    }

    #[test]
    fn what_is_seen_stands_still_until_the_look_that_finds_all_in_place() {
        let mut stage = Stage::begin();
        assert_eq!((stage.visible(), stage.has_passed("a")), (0, false));
        stage.stand(seen(3));
        assert!(stage.is_finding() && stage.visible() == 3);
        stage.found(true);
        assert!(stage.is_behind() && stage.visible() == 3 && stage.has_passed("a"));
        stage.caught_up();
        assert!(matches!(stage, Stage::Ready { .. }) && stage.visible() == 3);
        stage.show(true, true);
        assert!(stage.is_loaded() && stage.visible() == usize::MAX && stage.seen().is_none());
        stage.stand(seen(9));
        assert!(stage.is_behind() && !stage.is_loaded() && stage.visible() == 9);
    }

    #[test]
    fn an_ordered_view_is_hidden_until_it_is_loaded() {
        for (ordered, visible) in [(true, 0), (false, usize::MAX)] {
            let mut stage = Stage::Hidden;
            stage.show(false, ordered);
            assert_eq!((stage.visible(), stage.is_loaded()), (visible, false));
            stage.show(true, ordered);
            stage.show(false, ordered);
            assert_eq!((stage.visible(), stage.is_loaded()), (usize::MAX, false), "what was shown stays");
        }
    }

    #[test]
    fn without_changes_that_wait_the_last_object_makes_it_ready() {
        let mut stage = Stage::begin();
        stage.found(false);
        assert!(matches!(stage, Stage::Ready { .. }));
        stage.found(true);
        assert!(matches!(stage, Stage::Ready { .. }), "it has found all already");
    }
}
