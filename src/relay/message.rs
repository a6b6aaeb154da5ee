//! What crosses between a relay and who shares it: calls one way, answers the other.
//!
//! A channel carries messages whole and in order, and says nothing of its other end's death.

use std::rc::Rc;

use crate::source::{Collection, ListRequest, ObjectName, Standing, WatchRequest, WriteRequest};
use crate::status::Error;
use crate::time::Millis;

/// The number of a call. The caller chooses it, and uses none twice.
pub type CallId = u32;

/// What is asked of a source: see [`crate::source::Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Pages, whose body is answered in chunks.
    List(ListRequest),
    /// What is held: see [`crate::source::Source::held`]. The first item says of which version, the others are its parcels.
    Held,
    /// A watch, answered frame by frame.
    Watch(WatchRequest),
    /// One object, or a part of it. Its document is the one item of the answer.
    Get(ObjectName, Option<String>),
    /// A write. What it left is the one item of the answer.
    Write(WriteRequest),
}

/// From who shares to the relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A call begins.
    Begin(CallId, Call),
    /// So many bytes of items were taken: as many more may come.
    Took(CallId, usize),
    /// Nobody waits for the rest.
    Drop(CallId),
}

/// From the relay to who shares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What becomes of the relay's own stream. It belongs to no call.
    Stands(Standing),
    /// The answer has begun.
    Open(CallId, Described),
    /// Its next items: chunks of a body, or frames.
    Items(CallId, Vec<Vec<u8>>),
    /// It is over; with an error it was refused, or broke off.
    End(CallId, Option<Error>),
}

/// What a source says of itself once it has answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// [`crate::source::Source::columns`].
    pub columns: Option<Rc<str>>,
    /// [`crate::source::Source::collection`]. Who shares a source that only the relay knows hears of it here.
    pub collection: Option<Collection>,
}

/// Bytes of one call that may be on their way, or wait to be taken. Who takes nothing for long holds no more than that.
pub(super) const CREDIT_BYTES: usize = 1 << 20;

/// Bytes of items that cross together, where so many are there.
pub(super) const BATCH_BYTES: usize = 64 << 10;

/// The time between two messages of one watch, at least: half of what a screen shows a frame for. What comes after a pause crosses at once.
pub const WATCH_PACE_MS: Millis = 8;
