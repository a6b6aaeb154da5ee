//! What is told of a stream to who shares it.

use std::rc::Rc;

use crate::connection::Connection;
use crate::message::Quarantined;
use crate::time::WallTime;
use crate::version::Version;

/// What is told of a stream to who shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What it is doing.
    Connection(Connection),
    /// How far its list is, and how many objects follow where the server says it.
    Listed {
        /// Objects of this list so far.
        loaded: usize,
        /// Objects that follow.
        remaining: Option<u64>,
        /// Documents of its first objects, where they may be shown before it is whole.
        first: Rc<[Vec<u8>]>,
        /// When it was kept, where it is no list but what is being restored.
        kept_at: Option<WallTime>,
    },
    /// All objects that it has in quarantine. What it lists of them is what it held before.
    SetApart(Vec<Quarantined>),
    /// The upstream serves no state before this version any more.
    Compacted(Version),
}
