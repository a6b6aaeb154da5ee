//! The watch: opened at the last version, and opened again there when it is lost.

use std::mem;

use futures::StreamExt;
use futures::future::LocalBoxFuture;

use super::breaker::Kind;
use super::control::{Listen, Stop};
use super::frame::{self, Event};
use super::order::Verdict;
use super::{Closed, LEAST_WATCH_SECONDS, Reflector, RoundEnd};
use crate::connection::Connection;
use crate::json::identify;
use crate::message::Message;
use crate::runtime::Millis;
use crate::source::{FrameStream, WatchRequest, buffers};
use crate::status::{Error, ErrorCode};
use crate::version::Version;

/// A watch that ends sooner than this without anything new is no watch: something is wrong with it.
pub(super) const SHORT_MS: Millis = 1000;

/// The least time between an internal error and the next watch.
const INTERNAL_ERROR_PAUSE_MS: Millis = 100;

/// So long before the end of a watch a server may send its last bookmark.
const LAST_WORD_MS: Millis = 5000;

/// A watch that stands.
pub(super) struct OpenWatch {
    pub(super) stream: FrameStream,
    pub(super) opened: Millis,
    /// The version before anything came; a watch that brought the state has none.
    pub(super) from: Option<Version>,
    /// It has brought something.
    pub(super) heard: bool,
    /// It has not got so far yet: what it brings up to there is known.
    pub(super) behind: Option<Version>,
}

impl OpenWatch {
    pub(super) fn new(stream: FrameStream, opened: Millis, from: Option<Version>) -> Self {
        Self { stream, opened, from, heard: false, behind: None }
    }
}

/// A watch that there is already when it is time to watch.
pub(super) enum Standing {
    /// Up to this version it brings what is known, if to any.
    Opening(LocalBoxFuture<'static, Result<FrameStream, Error>>, Option<Version>),
    Open(OpenWatch),
}

/// How an open watch ended.
enum End {
    /// The connection is gone, and with it nothing: the version tells where to go on. What broke it, unless the server ended it in good order.
    Lost(Option<Error>),
    /// Somebody paused or refreshed.
    Asked,
    /// The server ended it by an ERROR event.
    Refused(Error),
    /// What came cannot be taken.
    Broken(Error),
}

/// What to do after a watch that failed.
enum Next {
    /// At once; after this broke, if anything did.
    Again(Option<Error>),
    /// At the same version, when this wait is over; `None` is the backoff's.
    After(Option<Millis>, Error),
    Relist(RoundEnd),
}

impl Reflector {
    /// Watches from the last version until a new list is needed. Begins with the watch that stands.
    pub(super) async fn watch(&mut self, mut standing: Option<Standing>) -> Result<RoundEnd, Closed> {
        let mut first = true;
        let mut lost = None;
        loop {
            if self.host.control.paused.get() {
                standing = None;
            }
            let next = if let Some(Standing::Open(open)) = standing {
                standing = None;
                self.opened(open).await?
            } else {
                let paused = self.unpaused().await?;
                if self.host.control.refresh.get() {
                    return Ok(RoundEnd::asked());
                }
                if !first || paused {
                    self.send(Message::Connection(Connection::Reconnecting { lost: lost.take() })).await?;
                }
                match self.open(standing.take()).await {
                    Ok(Ok(open)) => self.opened(open).await?,
                    Ok(Err(error)) => self.after_refusal(error),
                    Err(Stop::Closed) => return Err(Closed),
                    Err(_) => Next::Again(None),
                }
            };
            first = false;
            match next {
                Next::Again(error) => lost = error,
                Next::After(None, error) => self.hold(error).await?,
                Next::After(Some(wait), error) => self.hold_for(wait, error).await?,
                Next::Relist(end) => return Ok(end),
            }
        }
    }

    /// Opens the watch, or waits for the one that is opening.
    async fn open(&mut self, standing: Option<Standing>) -> Result<Result<OpenWatch, Error>, Stop> {
        let (permit, opening, behind) = match standing {
            Some(Standing::Opening(opening, behind)) => (None, opening, behind),
            _ => {
                let permit = self.admitted(Kind::Watch, Listen::WATCHING).await?;
                let last = self.order.last().cloned().unwrap_or_default();
                let request = self.watch_request(&last);
                (permit, self.source.watch(request), None)
            }
        };
        let mut watchdog = self.watchdog();
        let stream = match self.host.until(Listen::WATCHING, Some(&mut watchdog), opening).await {
            Err(Stop::Deadline) => {
                self.silent = true;
                Err(self.silence("the watch has not opened"))
            }
            stream => stream?,
        };
        self.heard(permit, stream.as_ref().err());
        let from = self.order.last().cloned();
        Ok(stream.map(|stream| OpenWatch { behind, ..OpenWatch::new(stream, self.host.now(), from) }))
    }

    pub(super) fn watch_request(&mut self, from: &Version) -> WatchRequest {
        WatchRequest {
            resource_version: from.to_string(),
            allow_watch_bookmarks: true,
            timeout_seconds: self.watch_timeout(),
            ..WatchRequest::default()
        }
    }

    /// `timeoutSeconds` of a watch. Behind one that was silent until it was given up it is so short that the server ends the next one first:
    /// whatever on the way holds back what a stream brings lets go of it then.
    pub(super) fn watch_timeout(&mut self) -> u32 {
        let least = self.config.watch_timeout_seconds.max(LEAST_WATCH_SECONDS);
        let drawn = self.random.u32(least..=least.saturating_mul(2));
        let patient = u32::try_from(self.config.idle_timeout_ms / 1500).unwrap_or(u32::MAX).max(1);
        if self.silent { drawn.min(patient) } else { drawn }
    }

    async fn opened(&mut self, mut open: OpenWatch) -> Result<Next, Closed> {
        let (opened, from) = (open.opened, open.from.take());
        self.backoff.healthy(opened);
        self.send(Message::Connection(Connection::Live)).await?;
        let standing = self.server.as_ref().map(|server| server.stream(opened));
        let end = self.follow(open).await?;
        drop(standing);
        let short = self.host.now().saturating_sub(opened) < SHORT_MS && self.order.last() == from.as_ref();
        if !short {
            self.attempt = 0;
            self.refused_credentials = false;
        }
        Ok(match end {
            End::Asked => Next::Again(None),
            End::Lost(_) if short => {
                Next::Relist(RoundEnd::failed(Error::network("the watch was closed within a second, before anything new")))
            }
            End::Lost(error) => {
                self.stagger().await?;
                Next::Again(error)
            }
            End::Refused(error) => self.after_error_event(error),
            End::Broken(error) => Next::Relist(RoundEnd::failed(error)),
        })
    }

    /// Hands on what arrives. The stream is dropped, and with it the connection, before this returns.
    async fn follow(&mut self, open: OpenWatch) -> Result<End, Closed> {
        let OpenWatch { mut stream, opened, mut heard, mut behind, .. } = open;
        let mut watchdog = self.watchdog();
        loop {
            watchdog.feed(self.host.recent());
            let frame = match self.host.until(Listen::WATCHING, Some(&mut watchdog), stream.next()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => return Ok(End::Lost(None)),
                Err(Stop::Deadline) => {
                    self.silent = !heard;
                    return Ok(End::Lost(Some(self.silence("the watch has brought nothing"))));
                }
                Ok(Some(Err(error))) => return Ok(if lost(&error) { End::Lost(Some(error)) } else { End::Refused(error) }),
                Err(Stop::Asked) => return Ok(End::Asked),
                Err(Stop::Closed) => return Err(Closed),
            };
            if !mem::replace(&mut heard, true) {
                self.first_word(opened);
            }
            // Nothing but a sign of life: bytes of a frame that is not whole yet.
            if frame.is_empty() {
                continue;
            }
            let event = frame::read(&frame, &self.fields.borrow(), &self.kinds);
            if let Err(error) = &event
                && self.quarantine.passes_over(identify(&frame, true).as_ref(), error)
            {
                self.host.pace().await;
                continue;
            }
            buffers::give_back(frame);
            if let (Some(known), Ok(Event::Change(_, object))) = (&behind, &event) {
                if object.version() <= known {
                    continue;
                }
                behind = None;
            }
            let message = match event {
                Ok(Event::Change(kind, object)) => match self.order.change(&object) {
                    Ok(Verdict::Next) => {
                        if self.quarantine.sound(&object) {
                            self.send(Message::Quarantine(self.quarantine.all())).await?;
                        }
                        Message::Change { kind, object, at: self.host.recent() }
                    }
                    Ok(Verdict::Repeated) => continue,
                    Err(error) => return Ok(End::Broken(error)),
                },
                Ok(Event::Bookmark { version, .. }) if self.order.bookmark(&version) => Message::Bookmark(version),
                Ok(Event::Bookmark { .. }) => continue,
                Ok(Event::Failed(error)) => return Ok(End::Refused(error)),
                Err(error) => return Ok(End::Broken(error)),
            };
            self.send(message).await?;
            self.host.pace().await;
        }
    }

    /// A watch has brought something for the first time.
    pub(super) fn first_word(&mut self, opened: Millis) {
        // A server's last word before the end that it was given may come out of a buffer.
        let patient = self.config.idle_timeout_ms * 2 / 3;
        self.silent &= self.host.now().saturating_sub(opened) + LAST_WORD_MS > patient;
    }

    /// The server did not open the watch.
    fn after_refusal(&mut self, error: Error) -> Next {
        match error.code {
            ErrorCode::Expired => Next::Relist(self.expired(error)),
            ErrorCode::TooManyRequests | ErrorCode::Unauthorized => Next::After(None, error),
            _ if lost(&error) || overloaded(&error) => Next::After(None, error),
            _ => Next::Relist(RoundEnd::failed(error)),
        }
    }

    /// The server ended the watch by an ERROR event.
    fn after_error_event(&mut self, error: Error) -> Next {
        match error.code {
            ErrorCode::Expired => Next::Relist(self.expired(error)),
            ErrorCode::TooManyRequests | ErrorCode::Unauthorized => Next::After(None, error),
            _ if internal(&error) && self.internal_errors.allows(self.host.now()) => Next::After(Some(INTERNAL_ERROR_PAUSE_MS), error),
            _ => Next::Relist(RoundEnd::failed(error)),
        }
    }

    /// The version is no longer kept. That is nobody's fault after a long sleep, so the list comes at once; but a server
    /// that says so again soon gets the waits of a failure.
    fn expired(&mut self, error: Error) -> RoundEnd {
        let now = self.host.now();
        let again = self.free_relist.is_some_and(|last| now.saturating_sub(last) < self.config.retry.reset_after_ms);
        if !again {
            self.free_relist = Some(now);
        }
        RoundEnd { error: Some(error), wait: again }
    }
}

/// Whether the connection is to blame and not what was asked for.
pub(super) fn lost(error: &Error) -> bool {
    match error.code {
        ErrorCode::Network | ErrorCode::Overflow | ErrorCode::Closed => true,
        ErrorCode::Timeout => error.status.as_ref().is_none_or(|status| !status.is_too_large()),
        _ => false,
    }
}

/// Whether whatever stands before the server, or the server itself, only asks for patience. A list would be the wrong answer.
fn overloaded(error: &Error) -> bool {
    error.code == ErrorCode::Unavailable
        && (error.retry_after_seconds.is_some() || error.status.as_ref().is_none_or(|status| matches!(status.code, 502..=504)))
}

/// InternalError, or code 500 without a reason.
fn internal(error: &Error) -> bool {
    error.status.as_ref().is_some_and(|status| status.reason == "InternalError" || status.reason.is_empty() && status.code == 500)
}
