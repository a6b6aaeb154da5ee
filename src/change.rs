//! What happens to objects: the change that the upstream reports, and the difference that a list makes. All layers use these types.
//!
//! Imports: object, time, version.

use std::rc::Rc;

use crate::object::Object;
use crate::time::Instant;
use crate::version::Version;

/// The kind of a change, as the upstream reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// ADDED.
    Added,
    /// MODIFIED.
    Modified,
    /// DELETED.
    Deleted,
}

/// A change and what it replaced.
#[derive(Clone, Debug)]
pub struct Change {
    /// What happened upstream.
    pub kind: ChangeKind,
    /// The object after the change. For DELETED it is the last state, as the upstream sent it.
    pub object: Rc<Object>,
    /// The object that the store held before.
    pub previous: Option<Rc<Object>>,
    /// Its place in the order of changes: the object's own version, unless these are told by several upstreams, each in its own order.
    pub version: Version,
    /// When the change arrived, on the monotonic clock.
    pub at: Instant,
}

impl Change {
    /// Of an upstream whose versions are the order of its changes.
    pub fn new(kind: ChangeKind, object: Rc<Object>, previous: Option<Rc<Object>>, at: Instant) -> Self {
        Self { kind, version: object.version().clone(), object, previous, at }
    }

    /// The version of the change.
    pub fn version(&self) -> &Version {
        &self.version
    }
}

/// One object that a list changed.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The object held before; `None` if it is new.
    pub before: Option<Rc<Object>>,
    /// The object held now; `None` if it is gone.
    pub after: Option<Rc<Object>>,
}
