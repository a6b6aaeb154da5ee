//! The id of a watcher.

use crate::id::id;

id!(
    /// A watcher. Its id may stand for another one when it is forgotten and a flush has passed.
    pub WatcherId
);
