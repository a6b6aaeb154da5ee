//! What a reflector tells, in order, over one bounded channel.
//!
//! Imports: change, connection, object, status, time, version.

use std::rc::Rc;

use crate::change::{ChangeKind, Difference};
use crate::connection::{BranchStatus, Connection};
use crate::object::Object;
use crate::status::Error;
use crate::time::{Instant, WallTime};
use crate::version::Version;

/// How many messages may wait for their reader; the reflector waits beyond that. As many as the apiserver's cacher lets wait.
pub const MAX_WAITING_MESSAGES: usize = 100;

/// One message.
#[derive(Clone, Debug)]
pub enum Message {
    /// A round of list and watch begins: watchers of an earlier round end here.
    RoundStarted,
    /// A page of the list under way. Of the first list ever the objects may be shown at once; those of a later one wait until it is whole.
    Page {
        /// The page's objects.
        objects: Vec<Rc<Object>>,
        /// Objects of this list so far, this page included.
        loaded: usize,
        /// `remainingItemCount`, where the server says it.
        remaining: Option<u64>,
    },
    /// Of a joined resource, whose first list is not whole yet: what is shown of it has changed.
    Shown {
        /// As they are now.
        objects: Vec<Rc<Object>>,
        /// Shown before, and not any more.
        gone: Vec<Rc<Object>>,
        /// Objects of all lists so far, and how many follow, where this is a part of a list.
        listed: Option<(usize, Option<u64>)>,
    },
    /// What was kept at this time follows, in pages that are shown at once, and then as a whole.
    Restoring(WallTime),
    /// The state that was kept at an earlier time. Whether it still holds is known when a watch goes on from its version, or a list replaces it.
    Restored(Restored),
    /// The list is whole: it replaces what is held.
    Replace {
        /// All objects of the list.
        objects: Vec<Rc<Object>>,
        /// The list's version.
        version: Version,
    },
    /// A whole list, told by what it changes of what is held at this moment.
    Differences {
        /// By key order.
        differences: Vec<Difference>,
        /// The list's version.
        version: Version,
    },
    /// One change.
    Change {
        /// What happened.
        kind: ChangeKind,
        /// The object after it (for DELETED: its last state, with the version of the deletion).
        object: Rc<Object>,
        /// Its place in the order of changes.
        version: Version,
        /// When its frame was read, on the monotonic clock.
        at: Instant,
    },
    /// The upstream has reached this version without a change.
    Bookmark(Version),
    /// All objects that cannot be taken at the moment. What is held of them stays as it is, until a sound version of them comes.
    Quarantine(Vec<Quarantined>),
    /// All objects that whoever passes the stream on has in quarantine at the moment. What is held of them is what it lists of them.
    SetApart(Vec<Quarantined>),
    /// Whoever passes the stream on knows that the upstream serves no state before this version any more.
    Compacted(Version),
    /// The round is over; until the next list what is held may be out of date.
    RoundEnded(Option<Error>),
    /// What people see of the connection.
    Connection(Connection),
    /// How the branches of a joined resource stand: all of them.
    Branches(Vec<BranchStatus>),
    /// How far a branch of a joined resource is by its own versions, with all that was told before this. `None`: what is held of it is no state of its own
    /// until this comes again. Each change brings it further.
    Reached {
        /// Which one.
        namespace: Rc<str>,
        /// The version of its list, or of its bookmark.
        version: Option<Version>,
    },
    /// All branches have listed anew, as somebody asked.
    Refreshed,
}

/// A state that was kept.
#[derive(Clone, Debug)]
pub struct Restored {
    /// All its objects.
    pub objects: Vec<Rc<Object>>,
    /// Its version.
    pub version: Version,
    /// When it was kept.
    pub at: WallTime,
}

impl Message {
    /// A change of an upstream whose versions are the order of its changes.
    pub fn change(kind: ChangeKind, object: Rc<Object>, at: Instant) -> Self {
        Self::Change { kind, version: object.version().clone(), object, at }
    }
}

/// An object that cannot be taken, and that no list has cured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// `namespace/name` as the object says it; neither may be legal. Where it has no name, its uid stands for it, as `(uid …)`.
    pub key: Rc<str>,
    /// Its uid, where it has one.
    pub uid: Option<Rc<str>>,
    /// What is wrong with it.
    pub error: Error,
}

impl Quarantined {
    /// Whether it is this object, at another version.
    pub fn is(&self, object: &Object) -> bool {
        self.key == *object.key() || self.uid.as_deref().is_some_and(|uid| object.uid() == Some(uid))
    }
}
