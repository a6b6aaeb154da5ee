//! When the next request goes out. It waits as long as failures ask for, and while a peer finds out whether the server is there. Peers do not
//! all start at the same moment.

use std::any::Any;
use std::future::pending;
use std::rc::Rc;

use futures::FutureExt;

use super::ahead::Beside;
use super::backoff::Retry;
use super::breaker::{Admission, Breaker, Outage, Permit, StreamGuard, Verb};
use super::config::ReflectorConfig;
use super::early::EarlyTries;
use super::host::{Asked, Host, Listen, Stop};
use super::liveness::Watchdog;
use super::peers::Peer;
use super::sink::Sink;
use super::tries::{LeftAlone, Tries, Wait};
use crate::connection::Connection;
use crate::source::{Source, Turn};
use crate::status::Error;
use crate::time::{Instant, Millis};

/// A request that is about to go out.
pub(super) struct Outgoing {
    pub(super) verb: Verb,
    /// What the request listens to, and so does the wait for it.
    pub(super) listen: Listen,
    /// What is announced when the wait is over, if one was announced.
    pub(super) announced: Connection,
}

/// Holds requests back until they may go out.
pub(super) struct Throttle {
    host: Rc<Host>,
    sink: Rc<Sink>,
    pub(super) tries: Tries,
    /// What is known of the server that others ask, too.
    server: Option<Rc<Breaker>>,
    /// What was asked last of a server that is away.
    in_vain: Option<Verb>,
    peer: Peer,
    early: EarlyTries,
    /// A wait that was paused before its end.
    paused: Option<Wait>,
}

impl Throttle {
    pub(super) fn new(host: Rc<Host>, sink: Rc<Sink>, source: &dyn Source, config: &ReflectorConfig) -> Self {
        Self {
            host,
            sink,
            tries: Tries::new(if source.is_near() { Retry::near() } else { config.retry.clone() }),
            server: source.server().map(|name| config.peers.breakers.get(name, &config.retry)),
            in_vain: None,
            peer: Peer::of(config.peers.clone()),
            early: EarlyTries::default(),
            paused: None,
        }
    }

    /// Waits until its source can take a watch. What it gives is held until that has an answer.
    pub(super) async fn turn(&mut self, beside: &mut Beside, source: &dyn Source) -> Result<Option<Box<dyn Any>>, Asked> {
        let Some(Turn { why, millis, mut come }) = source.turn() else { return Ok(None) };
        if let Some(come) = (&mut come).now_or_never() {
            return Ok(Some(come));
        }
        let retry_at = self.host.runtime.wall() + millis;
        self.sink.connection(Connection::Queued { why, retry_at }).await;
        let come = beside.until(Listen::WATCHING, None, come).await.map_err(|_| Asked)?;
        self.sink.connection(Connection::Reconnecting { lost: None }).await;
        Ok(Some(come))
    }

    /// What is told of something that was asked for and is not answered. It is given up after so many milliseconds.
    pub(super) fn unanswered(&self, left: Option<Millis>, error: Error) -> Connection {
        let Some(left) = left else { return Connection::Reconnecting { lost: None } };
        Connection::Waiting { attempt: self.tries.failures(), retry_at: self.host.runtime.wall() + left, error }
    }

    /// Somebody asks for the next try: whether that is not too often.
    pub(super) fn may_try_early(&mut self) -> bool {
        self.try_early(false).is_ok()
    }

    /// Waits until this may be asked. `None`: its source has no server that others ask, too.
    pub(super) async fn admit(&mut self, beside: &mut Beside, request: Outgoing) -> Result<Option<Permit>, Asked> {
        let Some(server) = self.server.clone() else { return Ok(None) };
        let Outgoing { verb, listen, announced } = request;
        let (mut away, mut waited) = (false, false);
        loop {
            match server.admit(verb, self.host.now()) {
                // Somebody asks for a list meanwhile, in place of this.
                Admission::Now(_) if listen.refresh && self.host.control.refresh.get() => return Err(Asked),
                Admission::Now(permit) if !away || server.is_down(verb) => {
                    if waited {
                        self.sink.connection(announced).await;
                    }
                    return Ok(Some(permit));
                }
                Admission::Now(_) => {
                    // It is there again, for all who waited.
                    away = false;
                    self.stagger().await;
                }
                Admission::Later(millis) => {
                    away |= server.is_down(verb);
                    let alarm = Watchdog::new(Some(millis), self.host.now());
                    match beside.until(listen, Some(&alarm), server.changes()).await {
                        Ok(()) | Err(Stop::Deadline) => {}
                        Err(Stop::Asked) => return Err(Asked),
                    }
                }
                Admission::Away(Outage { until, error }) => {
                    (away, waited) = (true, true);
                    let attempt = self.tries.failed();
                    self.host.control.woken.set(false);
                    let retry_at = self.host.runtime.wall() + until.since(self.host.now());
                    self.sink.connection(Connection::Waiting { attempt, retry_at, error }).await;
                    if self.wait(beside, Some(until), Some(verb)).await == Err(Stop::Asked) {
                        let control = &self.host.control;
                        if control.paused.get() || listen.refresh && control.refresh.get() {
                            return Err(Asked);
                        }
                        control.woken.set(false);
                        control.refresh.set(false);
                    }
                }
            }
        }
    }

    /// What was asked for has an answer, or has failed so.
    pub(super) fn heard(&mut self, permit: Option<Permit>, error: Option<&Error>) {
        let Some(permit) = permit else { return };
        let away = permit.ended(error, self.host.now(), &mut self.host.random());
        self.in_vain = away.then_some(permit.verb());
    }

    /// A stream of the server stands, for as long as what this gives lives.
    pub(super) fn stream_opened(&self, at: Instant) -> Option<StreamGuard> {
        self.server.as_ref().map(|server| server.stream(at))
    }

    /// The wait that this error asks for.
    pub(super) fn wait_after(&mut self, error: Error) -> Wait {
        let millis = self.tries.wait_millis(&self.host, &error);
        self.wait_for(millis, error)
    }

    /// A wait of so many milliseconds after this error, or of more where the server is left alone for longer.
    pub(super) fn wait_for(&mut self, millis: Millis, error: Error) -> Wait {
        let server = self.left_alone();
        self.host.control.woken.set(false);
        self.tries.wait(&self.host, error, millis, &server)
    }

    fn left_alone(&mut self) -> LeftAlone {
        let verb = self.in_vain.take().filter(|_| self.server.is_some());
        let millis = match (&self.server, verb) {
            (Some(server), Some(verb)) => server.left_alone(verb, self.host.now()),
            _ => 0,
        };
        LeftAlone { millis, verb }
    }

    /// Announces the wait and waits. It ends early when somebody asks for anything.
    pub(super) async fn wait_out(&mut self, beside: &mut Beside, wait: Wait) {
        self.sink.connection(wait.told.clone()).await;
        match self.wait(beside, wait.until, wait.away).await {
            Err(Stop::Asked) if self.host.control.paused.get() => self.paused = Some(wait),
            Err(Stop::Asked) if self.host.control.woken.replace(false) => self.stagger().await,
            Ok(()) => self.stagger().await,
            _ => {}
        }
    }

    /// Waits until then, or until its server is heard of. A pause ends it, and so does whoever asks for the next try; who asks too often is
    /// heard when there is room again. Whoever signs in is never too early.
    async fn wait(&mut self, beside: &mut Beside, mut until: Option<Instant>, away: Option<Verb>) -> Result<(), Stop> {
        let mut answers = match (&self.server, away) {
            (Some(server), Some(verb)) => server.answers(verb).boxed_local(),
            _ => pending().boxed_local(),
        };
        // It says nothing of a server that is away.
        let news = away.is_none();
        let (mut listen, mut early) = (Listen::WAITING.hearing_news(news), false);
        loop {
            let now = self.host.now();
            let alarm = Watchdog::new(until.map(|until| until.since(now)), now);
            match beside.until(listen, Some(&alarm), &mut answers).await {
                Err(Stop::Asked) if !self.host.control.paused.get() => {}
                Err(Stop::Deadline) if early => {}
                end => return end,
            }
            if news && self.host.control.signed_in.replace(false) {
                return Err(Stop::Asked);
            }
            match self.try_early(away.is_some()) {
                Ok(()) => return Err(Stop::Asked),
                Err(room) if until.is_none_or(|until| room < until) => (until, early) = (Some(room), true),
                Err(_) => early = false,
            }
            listen = Listen::WAITING_DEAF.hearing_news(news);
        }
    }

    /// Somebody asks for the next try, or says that the server may be there again. Where that is too often: when it is not.
    fn try_early(&mut self, away: bool) -> Result<(), Instant> {
        let now = self.host.now();
        let server = self.server.as_ref().map(|server| server.try_early(now));
        match server {
            Some(answer) if away => answer,
            _ => self.early.take(now),
        }
    }

    /// A list begins: it is the answer to a refresh, which need not wait for what others have heard of the server.
    pub(super) fn answer_refresh(&self) {
        if self.host.control.refresh.replace(false)
            && let Some(server) = &self.server
        {
            let _often = server.try_early(self.host.now());
        }
    }

    /// A moment before it comes back, when many others do so too. Somebody who asks for this one does not wait.
    pub(super) async fn stagger(&self) {
        let wait = self.peer.stagger(&mut self.host.random());
        if wait == 0 || self.host.control.refresh.get() {
            return;
        }
        let alarm = Watchdog::new(Some(wait), self.host.now());
        let _over = self.host.until(Listen::WATCHING, Some(&alarm), pending::<()>()).await;
    }

    /// Holds still while paused; whether it was. A pause makes no wait shorter than `resume` alone would.
    pub(super) async fn unpaused(&mut self, beside: &mut Beside) -> bool {
        let mut was = false;
        loop {
            if self.host.control.paused.get() {
                was = true;
                self.sink.connection(Connection::Paused).await;
                self.host.unpaused().await;
            }
            let Some(wait) = self.paused.take() else { return was };
            let over = wait.until.is_some_and(|until| until <= self.host.now());
            if !over && self.try_early(wait.away.is_some()).is_err() {
                // It is still asked for.
                self.wait_out(beside, wait).await;
            }
        }
    }
}
