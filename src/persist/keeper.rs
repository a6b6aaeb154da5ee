//! Who moves the bytes of a state: the storage of the host.

use futures::future::LocalBoxFuture;
use futures::stream::LocalBoxStream;

use crate::status::Error;

/// What was kept of one resource.
pub struct Kept {
    /// The head.
    pub head: Vec<u8>,
    /// The blocks in the order that was written with them. It ends early where one cannot be read.
    pub blocks: LocalBoxStream<'static, Vec<u8>>,
}

/// What a write changes of it, at once or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The new head.
    pub head: Vec<u8>,
    /// Blocks that are new, or take the place of those of their numbers.
    pub blocks: Vec<(u32, Vec<u8>)>,
    /// The numbers of all blocks of the state, in the order in which they are to be read: that of their keys.
    pub order: Vec<u32>,
    /// Blocks that are no part of it any more.
    pub removed: Vec<u32>,
    /// Whether all other blocks are none either.
    pub is_whole: bool,
}

/// The storage of one resource. Whatever fails there costs a list, and nothing else.
pub trait Keeper {
    /// What was kept; `None`: nothing.
    fn read(&self) -> LocalBoxFuture<'static, Option<Kept>>;

    /// Completes when this one may write: one writer at a time. Whether nobody else could since it read.
    fn turn(&self) -> LocalBoxFuture<'static, bool>;

    /// Writes. An error leaves what was kept before, or nothing sound.
    fn write(&self, written: Written) -> LocalBoxFuture<'static, Result<(), Error>>;
}
