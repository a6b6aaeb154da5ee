//! What a watcher receives.

use std::rc::Rc;

use crate::object::{Object, ObjectId};
use crate::version::Version;

/// The type of an event. The numbers are those that cross to JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EventKind {
    /// The object appeared for this watcher.
    Added = 0,
    /// The object changed.
    Modified = 1,
    /// The object is gone for this watcher: deleted, or it left the selector.
    Deleted = 2,
    /// Nothing changed up to this version.
    Bookmark = 3,
    /// The stream ends with this Status.
    Error = 4,
    /// The bookmark after the initial events.
    InitialEventsEnd = 5,
    /// A bookmark before a difference: everything up to its version was delivered, and changes after it were skipped.
    Resync = 6,
}

/// The number of an event of several changes is larger than its kind: so many times the number of the object before them is added.
pub const KINDS_OF_EVENTS: u32 = 8;

/// One event, shared by all watchers that receive it in this form.
#[derive(Clone, Debug)]
pub struct WatchEvent {
    /// Its type.
    pub kind: EventKind,
    /// The object, or the document of a bookmark or Status.
    pub object: Rc<Object>,
    /// The version of the event: the state's for initial events, otherwise the object's.
    pub version: Version,
    /// Of several changes that are told as one: the object before them. An event holds no version but its own, so this is a number.
    pub before: Option<ObjectId>,
}

impl WatchEvent {
    /// The bookmark before a difference.
    pub fn resync(version: Version) -> Self {
        Self { kind: EventKind::Resync, object: Object::bookmark(&version, false), version, before: None }
    }

    /// A bookmark.
    pub fn bookmark(version: Version, initial_events_end: bool) -> Self {
        let kind = if initial_events_end { EventKind::InitialEventsEnd } else { EventKind::Bookmark };
        Self { kind, object: Object::bookmark(&version, initial_events_end), version, before: None }
    }
}

/// Why a stream ended. The numbers are those that cross to JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum EndReason {
    /// The watcher was stopped by its user.
    Stopped = 0,
    /// An ERROR event was the last one, or the watch was refused.
    Error = 1,
    /// A relist replaced the state: watch again.
    Relist = 2,
    /// The watcher did not keep up.
    Overflow = 3,
    /// `timeoutSeconds` have passed.
    Timeout = 4,
    /// The cache was closed.
    Closed = 5,
}
