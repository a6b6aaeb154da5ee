//! The circuit breaker of a server that many reflectors ask. While the server cannot be reached one of them asks, and the others wait for
//! its answer.
//!
//! Only a request that gets no answer at all says that a server is away. Any answer, a refusal too, says that it is there, and so does an
//! open stream; then nobody waits for anybody. What failed before a request went out, as where `auth` throws, says neither. Lists and watches
//! are looked at apart, since a proxy may let only one of them through.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use rustc_hash::FxHashMap;

use super::backoff::{Backoff, Retry};
use super::early::EarlyTries;
use crate::status::{Error, ErrorCode};
use crate::time::{Instant, Millis};

/// So many requests may be under way at once to a server that has not answered yet: one alone may meet a slow path.
const MIN_UNPROVEN: u64 = 4;
/// After each such time without an answer one more may go out, because those before it may only be slow.
const UNPROVEN_INTERVAL_MS: Millis = 2000;
/// So many at most, however long they wait: a server that starts is not met by all at once.
const MAX_UNPROVEN: u64 = 10;

/// Whoever asked in vain comes at least so long after the others: its own path may be what is wrong.
const MIN_LAG_MS: Millis = 100;

/// The servers of a host, as long as a reflector asks them.
#[derive(Default)]
pub(super) struct Breakers(RefCell<FxHashMap<String, Weak<Breaker>>>);

impl Breakers {
    pub(super) fn get(&self, name: String, retry: &Retry) -> Rc<Breaker> {
        let mut servers = self.0.borrow_mut();
        servers.retain(|_, server| server.strong_count() > 0);
        if let Some(server) = servers.get(&name).and_then(Weak::upgrade) {
            return server;
        }
        let server = Rc::new(Breaker::new(retry));
        servers.insert(name, Rc::downgrade(&server));
        server
    }
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) enum Verb {
    List,
    Watch,
}

/// What is known of a server.
pub(super) struct Breaker {
    /// It has answered, and nothing speaks against it since.
    proven: Cell<bool>,
    streams: Cell<usize>,
    circuits: [RefCell<Circuit>; 2],
    waiting: RefCell<Vec<Waker>>,
    /// How often there was news.
    changes: Cell<u64>,
    early: RefCell<EarlyTries>,
}

/// The requests of one verb, and what came of them.
struct Circuit {
    under_way: u64,
    /// Since when something has been under way without a break.
    since: Instant,
    backoff: Backoff,
    down: Option<Outage>,
    /// How often it has been given up. A request that began before the last time says nothing new.
    given_up: u64,
}

#[derive(Clone)]
pub(super) struct Outage {
    pub(super) until: Instant,
    pub(super) error: Error,
}

/// Whether one may ask.
pub(super) enum Admission {
    Now(Permit),
    /// When somebody else has an answer, or so much later.
    Later(Millis),
    /// It is away until then.
    Away(Outage),
}

impl Breaker {
    fn new(retry: &Retry) -> Self {
        let circuit =
            || RefCell::new(Circuit { under_way: 0, since: Instant::START, backoff: Backoff::new(retry.clone()), down: None, given_up: 0 });
        Self {
            proven: Cell::default(),
            streams: Cell::default(),
            circuits: [circuit(), circuit()],
            waiting: RefCell::default(),
            changes: Cell::default(),
            early: RefCell::default(),
        }
    }

    pub(super) fn admit(self: &Rc<Self>, verb: Verb, now: Instant) -> Admission {
        let mut circuit = self.circuits[verb as usize].borrow_mut();
        let waited = now.since(circuit.since);
        let max_under_way = match &circuit.down {
            Some(down) if now < down.until => return Admission::Away(down.clone()),
            Some(_) => 1,
            None if self.proven.get() => u64::MAX,
            None => (MIN_UNPROVEN + waited / UNPROVEN_INTERVAL_MS).min(MAX_UNPROVEN),
        };
        if circuit.under_way == 0 {
            circuit.since = now;
        } else if circuit.under_way >= max_under_way {
            return Admission::Later(UNPROVEN_INTERVAL_MS - waited % UNPROVEN_INTERVAL_MS);
        }
        circuit.under_way += 1;
        Admission::Now(Permit { server: self.clone(), verb, given_up: circuit.given_up })
    }

    pub(super) fn is_down(&self, verb: Verb) -> bool {
        self.circuits[verb as usize].borrow().down.is_some()
    }

    /// How long the server is left alone by who has asked for this in vain.
    pub(super) fn left_alone(self: &Rc<Self>, verb: Verb, now: Instant) -> Millis {
        let left = self.circuits[verb as usize].borrow().down.as_ref().map_or(0, |down| down.until.since(now));
        let lag = if Rc::strong_count(self) == 1 { 0 } else { MIN_LAG_MS };
        left + lag
    }

    /// Completes once something was heard of it.
    pub(super) fn answers(self: &Rc<Self>, verb: Verb) -> impl Future<Output = ()> + use<> {
        let server = self.clone();
        poll_fn(move |cx| if server.is_down(verb) { server.park(cx) } else { Poll::Ready(()) })
    }

    /// Completes with the next change of anything.
    pub(super) fn changes(self: &Rc<Self>) -> impl Future<Output = ()> + use<> {
        let (server, seen) = (self.clone(), self.changes.get());
        poll_fn(move |cx| if server.changes.get() == seen { server.park(cx) } else { Poll::Ready(()) })
    }

    fn park(&self, cx: &Context<'_>) -> Poll<()> {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn wake(&self) {
        self.changes.set(self.changes.get() + 1);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn answered(&self, verb: Verb) {
        let news = self.circuits[verb as usize].borrow_mut().down.take().is_some();
        if !self.proven.replace(true) || news {
            self.wake();
        }
    }

    /// Somebody says that the server may be there again, so nobody waits for its time any more. Where all together say so too often: when
    /// they may again.
    pub(super) fn try_early(&self, now: Instant) -> Result<(), Instant> {
        if !self.circuits.iter().any(|circuit| circuit.borrow().down.as_ref().is_some_and(|down| now < down.until)) {
            return Ok(());
        }
        self.early.borrow_mut().take(now)?;
        for circuit in &self.circuits {
            if let Some(down) = &mut circuit.borrow_mut().down {
                down.until = now;
            }
        }
        self.wake();
        Ok(())
    }

    /// A stream stands, for as long as the guard lives.
    pub(super) fn stream(self: &Rc<Self>, now: Instant) -> StreamGuard {
        self.streams.set(self.streams.get() + 1);
        for circuit in &self.circuits {
            circuit.borrow_mut().backoff.healthy(now);
        }
        self.answered(Verb::List);
        self.answered(Verb::Watch);
        StreamGuard(self.clone())
    }
}

/// An open stream of a server.
pub(super) struct StreamGuard(Rc<Breaker>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let left = self.0.streams.get() - 1;
        self.0.streams.set(left);
        if left == 0 {
            self.0.proven.set(false);
        }
    }
}

/// A request that is under way.
pub(super) struct Permit {
    server: Rc<Breaker>,
    verb: Verb,
    given_up: u64,
}

impl Permit {
    pub(super) fn verb(&self) -> Verb {
        self.verb
    }

    /// How it ended, and whether the server is taken to be away.
    pub(super) fn ended(&self, error: Option<&Error>, now: Instant, random: &mut fastrand::Rng) -> bool {
        let server = &self.server;
        // The server has heard nothing. Whoever asks next may have better credentials.
        if error.is_some_and(|error| error.unsent) {
            return false;
        }
        let Some(error) = error.filter(|error| away(error)) else {
            server.answered(self.verb);
            return false;
        };
        if server.streams.get() > 0 {
            return false;
        }
        let mut circuit = server.circuits[self.verb as usize].borrow_mut();
        if circuit.given_up == self.given_up {
            circuit.given_up += 1;
            circuit.down = Some(Outage { until: now + circuit.backoff.next(now, random), error: error.clone() });
            server.proven.set(false);
        }
        true
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.server.circuits[self.verb as usize].borrow_mut().under_way -= 1;
        self.server.wake();
    }
}

/// Whether nothing was heard of the server at all.
fn away(error: &Error) -> bool {
    error.code == ErrorCode::Network && error.status.is_none()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::time::at;

    fn breaker() -> Rc<Breaker> {
        let retry = Retry { jitter: 0.0, ..Retry::default() };
        Breakers::default().get("https://kube.test".into(), &retry)
    }

    fn permit(server: &Rc<Breaker>, now: Instant) -> Option<Permit> {
        match server.admit(Verb::List, now) {
            Admission::Now(permit) => Some(permit),
            _ => None,
        }
    }

    fn fails(permit: Permit, now: Instant) -> bool {
        permit.ended(Some(&Error::network("refused")), now, &mut fastrand::Rng::with_seed(1))
    }

    fn answers(permit: &Permit) -> bool {
        permit.ended(None, Instant::START, &mut fastrand::Rng::with_seed(1))
    }

    #[test]
    fn an_unproven_server_is_asked_by_few_and_by_one_more_every_two_seconds() {
        let server = breaker();
        let mut asked: Vec<_> = (0..10).map_while(|_| permit(&server, Instant::START)).collect();
        assert_eq!(asked.len(), 4);
        assert!(matches!(server.admit(Verb::List, at(500)), Admission::Later(1500)));
        asked.extend(permit(&server, at(2000)));
        assert_eq!(asked.len(), 5);
        assert!(matches!(server.admit(Verb::Watch, at(500)), Admission::Now(_)), "watches are judged apart");
        asked.extend((0..10).map_while(|_| permit(&server, at(60_000))));
        assert_eq!(asked.len(), 10);
        assert!(!answers(&asked[0]));
        assert!(permit(&server, at(60_000)).is_some(), "it is there for all");
    }

    #[test]
    fn while_it_is_away_one_asks_when_the_wait_is_over() {
        let server = breaker();
        assert!(fails(permit(&server, Instant::START).unwrap(), Instant::START));
        assert!(matches!(server.admit(Verb::List, at(10)), Admission::Away(Outage { until, .. }) if until == at(800)));
        let first = permit(&server, at(800)).unwrap();
        assert!(permit(&server, at(800)).is_none());
        assert!(fails(first, at(900)));
        assert!(matches!(server.admit(Verb::List, at(900)), Admission::Away(Outage { until, .. }) if until == at(2500)), "the waits grow");
        assert_eq!(server.try_early(at(1000)), Ok(()));
        let early = permit(&server, at(1000)).unwrap();
        assert!(!answers(&early) && !server.is_down(Verb::List));
    }

    #[test]
    fn a_refusal_is_an_answer_and_beside_an_open_stream_nothing_says_that_it_is_away() {
        let server = breaker();
        let refusal = crate::status::Status::new(503, "ServiceUnavailable", "no").into();
        assert!(!permit(&server, Instant::START).unwrap().ended(Some(&refusal), Instant::START, &mut fastrand::Rng::with_seed(1)));
        let stream = server.stream(Instant::START);
        assert!(!fails(permit(&server, Instant::START).unwrap(), Instant::START));
        drop(stream);
        assert!(fails(permit(&server, Instant::START).unwrap(), Instant::START));
    }

    #[test]
    fn what_fails_before_a_request_goes_out_says_nothing_of_the_server() {
        let unsent = |permit: Permit, error: Error| permit.ended(Some(&error.unsent()), at(800), &mut fastrand::Rng::with_seed(1));
        let refusal = || crate::status::Status::new(401, "Unauthorized", "auth threw this").into();
        let server = breaker();
        let asked: Vec<_> = (0..4).map_while(|_| permit(&server, Instant::START)).collect();
        for (permit, error) in asked.into_iter().zip([Error::network("auth failed"), refusal()]) {
            assert!(!unsent(permit, error));
        }
        assert!(!server.is_down(Verb::List) && !server.proven.get());
        // While the server is away, it neither ends that nor makes it longer, and the next one may ask at once.
        assert!(fails(permit(&server, Instant::START).unwrap(), Instant::START));
        for error in [Error::network("auth failed"), refusal()] {
            let one = permit(&server, at(800)).unwrap();
            let mut changes = Box::pin(server.changes());
            assert!(permit(&server, at(800)).is_none() && (&mut changes).now_or_never().is_none());
            assert!(!unsent(one, error) && server.is_down(Verb::List));
            assert!(changes.now_or_never().is_some(), "whoever waits hears of it");
        }
        assert!(!answers(&permit(&server, at(800)).unwrap()) && !server.is_down(Verb::List));
    }

    #[test]
    fn a_request_from_before_an_outage_says_nothing_new_of_it() {
        let server = breaker();
        let (first, second) = (permit(&server, Instant::START).unwrap(), permit(&server, Instant::START).unwrap());
        assert!(fails(first, Instant::START));
        assert!(fails(second, at(700)));
        assert!(permit(&server, at(800)).is_some(), "the wait is that of the first");
    }
}
