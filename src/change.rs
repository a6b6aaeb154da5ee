//! What happens to objects, in the words that all layers share: a change that the upstream tells, and a difference that a list makes.
//!
//! Imports: object, runtime, version.

use std::rc::Rc;

use crate::object::{Holder, Object};
use crate::runtime::Millis;
use crate::version::Version;

/// The kind of a change upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// ADDED.
    Added,
    /// MODIFIED.
    Modified,
    /// DELETED.
    Deleted,
}

/// One change with what it replaced.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happened upstream.
    pub kind: ChangeKind,
    /// The object after the change; for DELETED its last state as the upstream sent it.
    pub object: Rc<Object>,
    /// What the store held before.
    pub previous: Option<Rc<Object>>,
    /// When it arrived, on the monotonic clock.
    pub at: Millis,
}

impl Change {
    /// The version of the change.
    pub fn version(&self) -> &Version {
        self.object.version()
    }

    /// What is held for this change alone: what was replaced, and a deleted object's last state. The object itself is in the store, or counts
    /// as what a later change replaced.
    pub(crate) fn own(&self) -> impl Iterator<Item = &Rc<Object>> {
        self.previous.iter().chain((self.kind == ChangeKind::Deleted).then_some(&self.object))
    }

    /// Bytes that it holds, itself and these.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.own().map(|object| object.size()).sum::<usize>()
    }

    pub(crate) fn set_holder(&self, holder: Holder) {
        self.own().for_each(|object| object.set_holder(holder));
    }
}

/// One object that a replacement changed.
#[derive(Clone, Debug)]
pub struct Difference {
    /// What was held; `None` = it is new.
    pub before: Option<Rc<Object>>,
    /// What is held now; `None` = it is gone.
    pub after: Option<Rc<Object>>,
}
