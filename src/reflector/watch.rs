//! The steps that watch: opened at the last version, and opened again there when the watch is lost.
//!
//! | step | takes | leads to |
//! |---|---|---|
//! | `open` | a [`WatchPlan`] | while paused it waits; then it tells the plan's notice, and connects |
//! | `connect` | the plan's [`PendingWatch`], or asks for one | an [`Answer`], for which it waits |
//! | `watch` | the [`OpenWatch`] of the answer | `follow`, which hands on what arrives, until the watch ends |
//!
//! A watch that failed or ended leads to the next plan, to a wait before it, or to the end of the round.

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;

use futures::future::{Either, LocalBoxFuture, poll_immediate, select};
use futures::stream::{self, Peekable};
use futures::{FutureExt, StreamExt};

use super::breaker::Verb;
use super::failure::{self, Next};
use super::host::{Asked, Listen, Stop};
use super::liveness::Watchdog;
use super::order::Novelty;
use super::reader::Event;
use super::reflector::Reflector;
use super::state::{Notice, OpenWatch, PendingWatch, RoundEnd, State, WatchPlan};
use super::throttle::Outgoing;
use crate::connection::Connection;
use crate::json::FieldSet;
use crate::json::value::Value;
use crate::message::Message;
use crate::runtime::Runtime;
use crate::source::page::{self, head_version};
use crate::source::{FrameStream, ListRequest, Source, WatchRequest};
use crate::status::Error;
use crate::time::Millis;
use crate::version::Version;

/// A watch that ends sooner than this without anything new is no watch: something is wrong with it.
pub(super) const MIN_WATCH_MS: Millis = 1000;

/// The time between an internal error and the next watch: the server is in trouble, and a moment often cures it.
const MIN_INTERNAL_ERROR_WAIT_MS: Millis = 100;

/// How long a watch may take to open until that is told.
const MAX_OPENING_MS: Millis = 5000;

/// How long the server may take to say at which version it is.
const MAX_CHECK_MS: Millis = 3000;

/// What a source answers to a watch.
type Opened = Result<FrameStream, Error>;

/// What became of a watch that was asked for.
enum Answer {
    Open(OpenWatch),
    /// It was refused, or there was none in time.
    Failed(Error),
    /// Somebody paused or refreshed.
    Asked,
}

/// How an open watch ended.
enum End {
    /// The connection is gone, and with it nothing: the version tells where to go on. What broke it, unless the server ended it in good
    /// order.
    Lost(Option<Error>),
    /// Somebody paused or refreshed.
    Asked,
    /// The server ended it by an ERROR event.
    Refused(Error),
    /// What came cannot be taken.
    Broken(Error),
}

/// The version of a source: as it tells it, or by the smallest list.
async fn current_version(source: &dyn Source, runtime: &dyn Runtime) -> Result<Version, Error> {
    if let Some(asked) = source.current_version() {
        return asked.await;
    }
    let body = source.list(ListRequest { limit: Some(1), ..ListRequest::default() }).await?;
    head_version(&page::read(body, &RefCell::new(FieldSet::new(Vec::new())), runtime, &mut |_| {}).await?)
}

/// What the server says of what was kept.
enum Word {
    GoesOn,
    /// It has forgotten the version: the watch says so.
    Forgot,
    /// It was reset to an earlier version, or does not say. A list shows which.
    Unknown,
}

/// Whether the first frame is an ERROR. So a server answers which has forgotten the version, and opens the watch all the same.
async fn refuses(stream: &mut Peekable<FrameStream>) -> bool {
    loop {
        match Pin::new(&mut *stream).peek().await {
            // Bytes of a frame that is not whole yet.
            Some(Ok(frame)) if frame.is_empty() => drop(stream.next().await),
            Some(Ok(frame)) => return Value::parse(frame).is_ok_and(|frame| frame.text("type") == Some(Some("ERROR"))),
            _ => return false,
        }
    }
}

impl Reflector {
    /// Opens the watch, or waits for the one that was asked for.
    pub(super) async fn open(&mut self, plan: WatchPlan) -> State {
        let WatchPlan { mut pending, notice } = plan;
        if self.host.control.paused.get() {
            pending = None;
        }
        let paused = self.throttle.unpaused(&mut self.beside).await;
        if self.host.control.refresh.get() {
            return State::Ended(RoundEnd::asked());
        }
        match notice {
            Notice::Again(lost) => self.sink.connection(Connection::Reconnecting { lost }).await,
            Notice::Nothing if paused => self.sink.connection(Connection::Reconnecting { lost: None }).await,
            Notice::Nothing => {}
        }
        match self.connect(pending).await {
            Answer::Open(watch) => State::Watching(watch),
            // Who is asked next may have an older state, and would be silent until it has come so far.
            Answer::Failed(error) if self.provisional && failure::is_lost(&error) => State::Ended(RoundEnd::failed(error)),
            Answer::Failed(error) => self.after(failure::of_opening(&error), error),
            Answer::Asked => State::Opening(WatchPlan::again(None)),
        }
    }

    /// What the server says of what was kept, once a watch from there is open. A watch from a version to come opens as well, and is silent. So the
    /// server is asked for its version, and the first frame may come meanwhile. Fails where somebody pauses or refreshes.
    async fn word(&self, watch: &mut OpenWatch) -> Result<Word, Asked> {
        let Some(kept) = self.order.last() else { return Ok(Word::GoesOn) };
        let mut stream = mem::replace(&mut watch.stream, stream::empty().boxed_local()).peekable();
        let said = async {
            let asked = current_version(&*self.source, &*self.host.runtime).boxed_local();
            let first = refuses(&mut stream).boxed_local();
            let (current, refuses) = match select(first, asked).await {
                Either::Left((true, _)) => return Word::Forgot,
                Either::Left((false, asked)) => (asked.await, false),
                Either::Right((current, first)) => (current, poll_immediate(first).await.unwrap_or(false)),
            };
            match current {
                _ if refuses => Word::Forgot,
                Ok(current) if current >= *kept => Word::GoesOn,
                _ => Word::Unknown,
            }
        };
        let deadline = Watchdog::new(Some(MAX_CHECK_MS), self.host.now());
        let said = match self.host.until(Listen::WATCHING, Some(&deadline), said).await {
            Ok(said) => said,
            Err(Stop::Deadline) => Word::Unknown,
            Err(Stop::Asked) => return Err(Asked),
        };
        watch.stream = stream.boxed_local();
        Ok(said)
    }

    /// The answer to a watch that was asked for. While it does not come nobody would tell of a change, so that is said, and it may be asked for anew.
    async fn answered(&mut self, mut answer: LocalBoxFuture<'static, Opened>) -> Result<Opened, Stop> {
        let began = self.host.now();
        let (watchdog, soon) = (self.liveness.watchdog(began), Watchdog::new(Some(MAX_OPENING_MS), began));
        match self.host.until(Listen::WATCHING, Some(&soon), &mut answer).await {
            Err(Stop::Deadline) if !self.liveness.is_over(began, self.host.now()) => {}
            end => return end,
        }
        self.host.control.woken.set(false);
        let error = Error::network(format!("the watch has not opened for {} s", MAX_OPENING_MS / 1000));
        self.sink.connection(self.throttle.unanswered(self.liveness.left(began, self.host.now()), error)).await;
        loop {
            match self.host.until(Listen::OPENING, Some(&watchdog), &mut answer).await {
                // Somebody says "now", and too often: it is waited for as before.
                Err(Stop::Asked)
                    if self.host.control.woken.replace(false) && !self.host.control.asks() && !self.throttle.may_try_early() => {}
                end => return end,
            }
        }
    }

    /// Asks for a watch, unless one is pending, and waits for the answer.
    async fn connect(&mut self, pending: Option<PendingWatch>) -> Answer {
        let (turn, permit, PendingWatch { answer, known_to }) = match pending {
            Some(pending) => (None, None, pending),
            None => {
                let announced = Connection::Reconnecting { lost: None };
                let Ok(turn) = self.throttle.turn(&mut self.beside, &*self.source).await else { return Answer::Asked };
                let outgoing = Outgoing { verb: Verb::Watch, listen: Listen::WATCHING, announced };
                let Ok(permit) = self.throttle.admit(&mut self.beside, outgoing).await else { return Answer::Asked };
                let last = self.order.last().cloned().unwrap_or_default();
                let answer = self.source.watch(self.watch_request(&last));
                (turn, permit, PendingWatch { answer, known_to: None })
            }
        };
        let stream = match self.answered(answer).await {
            Err(Stop::Deadline) => {
                self.liveness.given_up(false);
                Err(self.liveness.silence("the watch has not opened"))
            }
            Err(Stop::Asked) => return Answer::Asked,
            Ok(stream) => stream,
        };
        drop(turn);
        self.throttle.heard(permit, stream.as_ref().err());
        match stream {
            Ok(stream) => Answer::Open(OpenWatch { known_to, ..OpenWatch::new(stream, self.host.now(), self.order.last().cloned()) }),
            Err(error) => Answer::Failed(error),
        }
    }

    pub(super) fn watch_request(&self, from: &Version) -> WatchRequest {
        WatchRequest {
            resource_version: from.to_string(),
            history: self.history,
            allow_watch_bookmarks: true,
            timeout_seconds: self.liveness.watch_timeout(&mut self.host.random()),
            ..WatchRequest::default()
        }
    }

    /// Hands on what the watch brings, until it ends.
    pub(super) async fn watch(&mut self, mut watch: OpenWatch) -> State {
        let (opened, from) = (watch.opened, watch.from.take());
        self.throttle.tries.opened(opened);
        self.provisional = false;
        if self.unconfirmed {
            match self.word(&mut watch).await {
                Ok(Word::GoesOn) => self.unconfirmed = false,
                Ok(Word::Forgot) => {}
                Ok(Word::Unknown) => return State::Ended(RoundEnd::asked()),
                Err(Asked) => return State::Opening(WatchPlan::again(None)),
            }
        }
        if !self.unconfirmed {
            self.sink.connection(Connection::Live).await;
        }
        // It was said who asks.
        self.host.control.signed_in.set(false);
        let stream = self.throttle.stream_opened(opened);
        let end = self.follow(watch).await;
        drop(stream);
        let short = self.host.now().since(opened) < MIN_WATCH_MS && self.order.last() == from.as_ref();
        if !short {
            self.throttle.tries.succeeded();
        }
        match end {
            End::Asked => State::Opening(WatchPlan::again(None)),
            End::Lost(_) if short => {
                State::Ended(RoundEnd::failed(Error::network("the watch was closed within a second, before anything new")))
            }
            End::Lost(error) => {
                self.throttle.stagger().await;
                State::Opening(WatchPlan::again(error))
            }
            End::Refused(error) => self.after(failure::of_event(&error), error),
            End::Broken(error) => State::Ended(RoundEnd::failed(error)),
        }
    }

    /// Hands on what arrives. The stream is dropped, and with it the connection, before this returns.
    async fn follow(&mut self, watch: OpenWatch) -> End {
        let OpenWatch { mut stream, opened, mut heard, mut known_to, .. } = watch;
        let watchdog = self.liveness.watchdog(self.host.now());
        loop {
            watchdog.feed(self.host.recent());
            let frame = match self.host.until(Listen::WATCHING, Some(&watchdog), stream.next()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => return End::Lost(None),
                Err(Stop::Deadline) => {
                    self.liveness.given_up(heard);
                    return End::Lost(Some(self.liveness.silence("the watch has brought nothing")));
                }
                Ok(Some(Err(error))) => return if failure::is_lost(&error) { End::Lost(Some(error)) } else { End::Refused(error) },
                Err(Stop::Asked) => return End::Asked,
            };
            if !mem::replace(&mut heard, true) {
                self.liveness.first_word(opened, self.host.now());
            }
            // Nothing but a sign of life: bytes of a frame that is not whole yet.
            if frame.is_empty() {
                continue;
            }
            match self.news(frame, &mut known_to) {
                Ok(None) => {}
                Ok(Some(message)) => {
                    if let Message::Change { object, .. } = &message
                        && self.quarantine.sound(object)
                    {
                        self.sink.send(Message::Quarantine(self.quarantine.all())).await;
                    }
                    self.sink.send(message).await;
                }
                Err(end) => return end,
            }
            self.host.took_frame().await;
        }
    }

    /// What a frame has to tell. `None`: it is known already, or it is passed over because its object is in quarantine.
    ///
    /// `known_to`: as in [`OpenWatch`].
    fn news(&mut self, frame: Vec<u8>, known_to: &mut Option<Version>) -> Result<Option<Message>, End> {
        let event = match self.reader.event(frame) {
            Ok(event) => event,
            Err(unreadable) if self.quarantine.passes_over(&unreadable) => return Ok(None),
            Err(unreadable) => return Err(End::Broken(unreadable.error)),
        };
        match event {
            Event::Change(_, object) if known_to.as_ref().is_some_and(|known| object.version() <= known) => Ok(None),
            Event::Change(kind, object) => {
                *known_to = None;
                match self.order.change(&object) {
                    Ok(Novelty::Next) => Ok(Some(Message::change(kind, object, self.host.recent()))),
                    Ok(Novelty::Repeated) => Ok(None),
                    Err(error) => Err(End::Broken(error)),
                }
            }
            // Of a source that polls it says that there was a poll, which is news in itself.
            Event::Bookmark { version, .. } => {
                Ok((self.order.bookmark(&version) || self.source.polls()).then_some(Message::Bookmark(version)))
            }
            Event::Failed(error) => Err(End::Refused(error)),
        }
    }

    /// What follows a watch that failed with this error.
    fn after(&mut self, next: Next, error: Error) -> State {
        let wait = match next {
            Next::Watch => self.throttle.wait_after(error),
            Next::WatchSoon if self.throttle.tries.allow_internal_error(self.host.now()) => {
                self.throttle.wait_for(MIN_INTERNAL_ERROR_WAIT_MS, error)
            }
            Next::ListForVersion => {
                let wait = !self.throttle.tries.relists_freely(self.host.now());
                return State::Ended(RoundEnd { error: Some(error), wait });
            }
            Next::WatchSoon | Next::List => return State::Ended(RoundEnd::failed(error)),
        };
        State::Waiting(wait, Box::new(State::Opening(WatchPlan::again(None))))
    }
}
