//! The state of a connection to an upstream: what the reflector says of it, and the phase that people see.
//!
//! Imports: status, time.
use std::rc::Rc;

use crate::status::Error;
use crate::time::WallTime;

/// What the reflector is doing, for `status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Asking for the list.
    Listing {
        /// Whether a list was complete before this one.
        again: bool,
    },
    /// The watch is open.
    Live,
    /// Waiting before the next try.
    Waiting {
        /// Tries since the last success.
        attempt: u32,
        /// When the next try begins.
        retry_at: WallTime,
        /// What failed.
        error: Error,
    },
    /// In a queue for one of the connections that the host has for the server.
    Queued {
        /// Why there is a queue.
        why: Error,
        /// When it may be its turn.
        retry_at: WallTime,
    },
    /// Connecting now, after the last watch ended.
    Reconnecting {
        /// What broke it; `None` where the server ended it in good order, or a user did.
        lost: Option<Error>,
    },
    /// The credentials are refused; each try asks for new ones.
    NeedsAuth {
        /// What the server said.
        error: Error,
        /// When the next try begins.
        retry_at: WallTime,
    },
    /// The server refuses in a way that waiting does not cure (400, 403, 404, 405), though it is tried again. Or nobody was asked, because
    /// of a mistake on this side.
    Failed {
        /// What is wrong.
        error: Error,
        /// When the next try begins; `None`: when somebody asks for it.
        retry_at: Option<WallTime>,
    },
    /// Held by the user.
    Paused,
}

/// How one branch of a joined resource stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchStatus {
    /// Which one.
    pub namespace: Rc<str>,
    /// What it is doing.
    pub phase: Phase,
    /// What failed last, until it is live again.
    pub error: Option<Error>,
    /// When its next try begins.
    pub retry_at: Option<WallTime>,
    /// Whether a list of it was told: then objects of it may be held.
    pub holds: bool,
}

/// The phase, in words of the public contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was asked for yet.
    Idle,
    /// The first list was asked for; nothing has come.
    Loading,
    /// Pages of the first list arrive, or it is whole and its watch is being opened.
    Listing,
    /// The watch is open.
    Live,
    /// The connection is lost, or could not be made; it is tried again.
    Reconnecting,
    /// A new list replaces the state; what is held stays until it is whole.
    Relisting,
    /// Held by the user.
    Paused,
    /// The credentials were refused.
    NeedsAuth,
    /// The server says no.
    Failed,
    /// Closed by the user.
    Closed,
}

impl Phase {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Loading => "loading",
            Self::Listing => "listing",
            Self::Live => "live",
            Self::Reconnecting => "reconnecting",
            Self::Relisting => "relisting",
            Self::Paused => "paused",
            Self::NeedsAuth => "needs-auth",
            Self::Failed => "failed",
            Self::Closed => "closed",
        }
    }
}
