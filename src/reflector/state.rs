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
    Listed(List, Option<BegunWatch>),
    /// A watch is to be opened at the last version.
    Opening(WatchPlan),
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

/// How the next watch is to be opened.
pub(super) struct WatchPlan {
    /// One that was asked for already. It is waited for, and no other is asked for.
    pub(super) pending: Option<PendingWatch>,
    pub(super) notice: Notice,
}

/// What people are told when a watch is to be opened.
pub(super) enum Notice {
    /// Nothing: it follows the list.
    Nothing,
    /// That the connection is made again, after this broke it, if anything did.
    Again(Option<Error>),
}

impl WatchPlan {
    /// Another watch after one that has ended.
    pub(super) fn again(lost: Option<Error>) -> Self {
        Self { pending: None, notice: Notice::Again(lost) }
    }
}

/// A watch that was asked for before its list was whole.
pub(super) enum BegunWatch {
    Pending(PendingWatch),
    Open(OpenWatch),
}

/// A watch that was asked for and has no answer yet.
pub(super) struct PendingWatch {
    pub(super) answer: LocalBoxFuture<'static, Result<FrameStream, Error>>,
    /// Becomes that of the [`OpenWatch`].
    pub(super) known_to: Option<Version>,
}

/// A watch that is open.
pub(super) struct OpenWatch {
    pub(super) stream: FrameStream,
    pub(super) opened: Instant,
    /// The version before anything came; a watch that brought the state has none.
    pub(super) from: Option<Version>,
    /// It has brought something.
    pub(super) heard: bool,
    /// What it brings up to this version is known from its list. `None` once it has come further.
    pub(super) known_to: Option<Version>,
}

impl OpenWatch {
    pub(super) fn new(stream: FrameStream, opened: Instant, from: Option<Version>) -> Self {
        Self { stream, opened, from, heard: false, known_to: None }
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
