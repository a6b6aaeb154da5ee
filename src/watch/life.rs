//! The life of a watcher: it waits for its start, is live, has ended, and is retired.

use crate::runtime::Task;
use crate::status::Error;
use crate::time::Instant;
use crate::version::Version;

use super::bookmark::Bookmarks;
use super::event::EndReason;
use super::route::Route;

/// Where a watcher stands. It goes one way, from each to one of those below.
#[derive(Debug)]
pub(super) enum Life {
    /// It waits until its interval can be captured, and hears of nothing. The task that waits for them ends with it.
    Waiting { _start: Option<Task> },
    /// It hears of changes.
    Live(Live),
    /// Its stream is over. What waits is still delivered, and then the end is told.
    Ended(End),
    /// The subscriber is gone: nothing is delivered under this id any more.
    Retired,
}

/// What a watcher has while it hears of changes.
#[derive(Debug)]
pub(super) struct Live {
    /// Where it is filed.
    pub(super) route: Route,
    /// Which bookmarks it gets.
    pub(super) bookmarks: Bookmarks,
    /// When the stream ends by itself.
    pub(super) deadline: Option<Instant>,
}

/// How a stream has ended.
#[derive(Debug)]
pub(super) struct End {
    reason: EndReason,
    told: bool,
    /// All that matched up to here was delivered; none where the stream never began, or its interval was cut short.
    pub(super) resume_from: Option<Version>,
    /// Why it was refused, or cut short for want of memory.
    pub(super) error: Option<Box<Error>>,
}

impl Default for Life {
    fn default() -> Self {
        Self::Waiting { _start: None }
    }
}

impl Life {
    /// Whether it still waits for its start.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting { .. })
    }

    /// Whether it may still hear of anything.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Waiting { .. } | Self::Live(_))
    }

    /// Whether its subscriber is gone.
    pub(super) fn is_retired(&self) -> bool {
        matches!(self, Self::Retired)
    }

    /// What it has while it hears of changes.
    pub(super) fn live(&self) -> Option<&Live> {
        if let Self::Live(live) = self { Some(live) } else { None }
    }

    /// The same, to change it.
    pub(super) fn live_mut(&mut self) -> Option<&mut Live> {
        if let Self::Live(live) = self { Some(live) } else { None }
    }

    /// How it has ended.
    pub(super) fn ended(&self) -> Option<&End> {
        if let Self::Ended(end) = self { Some(end) } else { None }
    }

    /// The same, to say more of it.
    pub(super) fn ended_mut(&mut self) -> Option<&mut End> {
        if let Self::Ended(end) = self { Some(end) } else { None }
    }

    /// Ends it, unless it has ended: the first reason counts. Returns what it had while it was live. `close` says up to where a live one has heard
    /// of everything.
    pub(super) fn end(&mut self, reason: EndReason, close: impl FnOnce() -> Version) -> Option<Live> {
        let (live, resume_from) = match std::mem::replace(self, Self::Retired) {
            Self::Waiting { .. } => (None, None),
            Self::Live(live) => (Some(live), Some(close())),
            over => {
                *self = over;
                return None;
            }
        };
        *self = Self::Ended(End { reason, told: false, resume_from, error: None });
        live
    }

    /// The reason of its end, which is told once.
    pub(super) fn take_end(&mut self) -> Option<EndReason> {
        let end = self.ended_mut()?;
        (!std::mem::replace(&mut end.told, true)).then_some(end.reason)
    }
}
