//! The step that takes the state over a watch: its initial events are the list, and the same stream goes on.

use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::slice;

use futures::StreamExt;

use super::breaker::Verb;
use super::failure;
use super::host::{Asked, Listen, Stop};
use super::listing::{List, MAX_BATCH};
use super::order::Order;
use super::quarantine;
use super::reader::Event;
use super::reflector::Reflector;
use super::state::{BegunWatch, OpenWatch, RoundEnd, State, Streaming};
use super::throttle::Outgoing;
use super::watch::MIN_WATCH_MS;
use crate::change::ChangeKind;
use crate::connection::Connection;
use crate::key::Key;
use crate::message::{Message, Quarantined};
use crate::object::Object;
use crate::source::WatchRequest;
use crate::status::{Error, ErrorCode};
use crate::time::Millis;

/// How one attempt ended.
enum Attempt {
    /// The bookmark behind the initial events came.
    Whole(List, OpenWatch),
    /// The stream was closed before it.
    Cut { short: bool },
    /// It was refused, at its start or in the stream.
    Refused(Error),
    /// Somebody asked for something else.
    Asked,
}

impl Reflector {
    /// Asks for the state over a watch; where it is not to be had so, a list is the way.
    ///
    /// As in client-go, a 429 is followed by the wait that it asks for. An expired version, or one ahead of the server, is left out of the next
    /// request. A stream that ended early is followed by another from scratch. Any other fault leads to a list in the same round, which fails
    /// as well if the fault remains. That includes a connection that fails, where client-go tries again. A browser cannot tell a refused
    /// WebSocket from a server that does not know such watches. What was never sent says nothing of such watches, so it ends the round.
    pub(super) async fn stream(&mut self, streaming: Streaming) -> State {
        let Streaming { unset, cut } = streaming;
        self.throttle.answer_refresh();
        self.sink.connection(Connection::Listing { again: self.listed }).await;
        match self.attempt(unset).await {
            Attempt::Whole(list, open) => State::Listed(list, Some(BegunWatch::Open(open))),
            Attempt::Cut { short: true } => self.begin_list(),
            // Once at once; a server that does it again is left alone for longer and longer.
            Attempt::Cut { short: false } if !cut => State::Streaming(Streaming { unset, cut: true }),
            Attempt::Cut { short: false } => {
                let error = Error::network("the watch was closed before its initial events were complete");
                State::Waiting(self.throttle.wait_after(error), Box::new(State::Streaming(Streaming { unset, cut })))
            }
            Attempt::Refused(error) if failure::is_outdated(&error) && !unset => State::Streaming(Streaming { unset: true, cut }),
            Attempt::Refused(error) if error.code == ErrorCode::TooManyRequests => {
                State::Waiting(self.throttle.wait_after(error), Box::new(State::Streaming(Streaming { unset, cut })))
            }
            // The source may have found meanwhile that only a list is the way.
            Attempt::Refused(error) if error.unsent && self.source.streams_first_state() => State::Ended(RoundEnd::failed(error)),
            Attempt::Refused(_) => self.begin_list(),
            Attempt::Asked => State::Ended(RoundEnd::asked()),
        }
    }

    async fn attempt(&mut self, unset: bool) -> Attempt {
        let request = WatchRequest {
            resource_version: self.order.last().filter(|_| !unset).map(ToString::to_string).unwrap_or_default(),
            history: None,
            resource_version_match: Some("NotOlderThan".into()),
            send_initial_events: Some(true),
            allow_watch_bookmarks: true,
            timeout_seconds: self.liveness.watch_timeout(&mut self.host.random()),
        };
        let announced = Connection::Listing { again: self.listed };
        let outgoing = Outgoing { verb: Verb::Watch, listen: Listen::LISTING, announced };
        let permit = match self.throttle.admit(&mut self.beside, outgoing).await {
            Ok(permit) => permit,
            Err(Asked) => return Attempt::Asked,
        };
        let watchdog = self.liveness.watchdog(self.host.now());
        let opening = match self.host.until(Listen::LISTING, Some(&watchdog), self.source.watch(request)).await {
            Ok(opening) => opening,
            Err(Stop::Deadline) => Err(self.liveness.silence("the watch has not opened")),
            Err(Stop::Asked) => return Attempt::Asked,
        };
        self.throttle.heard(permit, opening.as_ref().err());
        let mut stream = match opening {
            Ok(stream) => stream,
            Err(error) => return Attempt::Refused(error),
        };
        let opened = self.host.now();
        self.reader.kinds.begin();
        let mut state = InitialState::default();
        loop {
            watchdog.feed(self.host.now());
            let frame = match self.host.until(Listen::LISTING, Some(&watchdog), stream.next()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => return state.cut(self.host.now().since(opened)),
                Ok(Some(Err(error))) if failure::is_lost(&error) => return state.cut(self.host.now().since(opened)),
                Ok(Some(Err(error))) => return Attempt::Refused(error),
                Err(Stop::Deadline) => return Attempt::Refused(self.liveness.silence("the watch has stood still")),
                Err(Stop::Asked) => return Attempt::Asked,
            };
            if frame.is_empty() {
                continue;
            }
            match self.reader.event(frame) {
                Ok(Event::Change(kind, object)) => {
                    self.reader.arrived(slice::from_ref(&object));
                    if let Some(objects) = state.change(kind, object) {
                        self.sink.send(Message::Page { objects, loaded: state.objects.len(), remaining: None }).await;
                    }
                }
                Ok(Event::Bookmark { version, initial_events_end: true }) => {
                    let objects: Vec<_> = state.objects.into_values().collect();
                    if !state.untold.is_empty() {
                        self.sink.send(Message::Page { objects: state.untold, loaded: objects.len(), remaining: None }).await;
                    }
                    let (quarantined, ahead) = (state.quarantined, Order::default());
                    let list = List { objects, version, quarantined, ahead, kept_at: None, history: None };
                    return Attempt::Whole(list, OpenWatch::new(stream, opened, None));
                }
                // It says how far the server has got, not that the state is whole.
                Ok(Event::Bookmark { .. }) => {}
                Ok(Event::Failed(error)) => return Attempt::Refused(error),
                Err(unreadable) => match self.quarantine.set_aside(quarantine::of_event(&unreadable), unreadable.error) {
                    Ok(entry) => state.quarantined.push(entry),
                    Err(error) => return Attempt::Refused(error),
                },
            }
            self.host.took_frame().await;
        }
    }
}

/// What an attempt has brought. Nothing of it outlives the attempt but what a first list shows early.
#[derive(Default)]
struct InitialState {
    objects: BTreeMap<Key, Rc<Object>>,
    /// Those that were not shown yet.
    untold: Vec<Rc<Object>>,
    /// Those that cannot be taken, not for the first time.
    quarantined: Vec<Quarantined>,
    events: u64,
}

impl InitialState {
    /// The stream was closed after so many milliseconds.
    fn cut(&self, millis: Millis) -> Attempt {
        Attempt::Cut { short: self.events == 0 && millis < MIN_WATCH_MS }
    }

    /// Takes an event; the objects to show, when there are enough of them.
    fn change(&mut self, kind: ChangeKind, object: Rc<Object>) -> Option<Vec<Rc<Object>>> {
        self.events += 1;
        if kind == ChangeKind::Deleted {
            self.untold.retain(|shown| shown.key() != object.key());
            self.objects.remove(object.key());
            return None;
        }
        self.objects.insert(object.key().clone(), object.clone());
        self.untold.push(object);
        (self.untold.len() >= MAX_BATCH).then(|| mem::take(&mut self.untold))
    }
}
