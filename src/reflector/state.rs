//! The states of the loop, and what each of them holds.

use futures::future::LocalBoxFuture;

use super::listing::{List, Listing};
use super::tries::Wait;
use crate::source::FrameStream;
use crate::status::Error;
use crate::time::Instant;
use crate::version::Version;

/// Where the loop stands.
pub(super) enum State {
    /// Between two rounds.
    Idle,
    /// The state is asked for over a watch.
    Streaming(Streaming),
    /// A list is read, page after page.
    Listing(Box<Listing>),
    /// The state is whole. With the watch that goes on from it, where it came over one or one was opened meanwhile.
    Listed(List, Option<OngoingWatch>),
    /// A watch is to be opened at the last version.
    Opening(Opening),
    /// The watch is open.
    Watching(OpenWatch),
    /// A try has failed; after the wait the loop goes on in this state.
    Waiting(Wait, Box<State>),
    /// The round is over.
    Ended(RoundEnd),
}

/// How the state is asked for over a watch.
pub(super) struct Streaming {
    /// No version is named: the one that is held is none that the server can serve.
    pub(super) unset: bool,
    /// A stream was closed before the state was whole.
    pub(super) cut: bool,
}

/// What is known before a watch is opened.
pub(super) struct Opening {
    /// One that is being opened already.
    pub(super) ongoing: Option<OpeningWatch>,
    /// What is announced: nothing of the first watch of a round, else what broke the last one.
    pub(super) announced: Announced,
}

/// What people are told of a watch that is being opened.
pub(super) enum Announced {
    /// Nothing: it follows the list.
    Nothing,
    /// That the connection is made again, after this broke it, if anything did.
    Again(Option<Error>),
}

impl Opening {
    /// Another watch behind one that has ended.
    pub(super) fn again(lost: Option<Error>) -> Self {
        Self { ongoing: None, announced: Announced::Again(lost) }
    }
}

/// A watch that was asked for before its list was whole.
pub(super) enum OngoingWatch {
    Opening(OpeningWatch),
    Open(OpenWatch),
}

/// A watch that is being opened.
pub(super) struct OpeningWatch {
    pub(super) opening: LocalBoxFuture<'static, Result<FrameStream, Error>>,
    /// Up to this version it brings what is known, if to any.
    pub(super) behind: Option<Version>,
}

/// A watch that is open.
pub(super) struct OpenWatch {
    pub(super) stream: FrameStream,
    pub(super) opened: Instant,
    /// The version before anything came; a watch that brought the state has none.
    pub(super) from: Option<Version>,
    /// It has brought something.
    pub(super) heard: bool,
    /// It has not got so far yet: what it brings up to there is known.
    pub(super) behind: Option<Version>,
}

impl OpenWatch {
    pub(super) fn new(stream: FrameStream, opened: Instant, from: Option<Version>) -> Self {
        Self { stream, opened, from, heard: false, behind: None }
    }
}

/// How a round ended, and whether the next one begins after a wait.
pub(super) struct RoundEnd {
    pub(super) error: Option<Error>,
    pub(super) wait: bool,
}

impl RoundEnd {
    /// Somebody asked for it.
    pub(super) fn asked() -> Self {
        Self { error: None, wait: false }
    }

    pub(super) fn failed(error: Error) -> Self {
        Self { error: Some(error), wait: true }
    }
}
