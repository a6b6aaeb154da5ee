//! The reflector: one list, then one watch, for ever.
//!
//! It asks a [`Source`] for a list in pages and for the changes since, and tells the cacher what arrives, in order, over a
//! bounded channel. What it promises:
//!
//! - A *round* is a list and the watches that follow it. Dropped connections are resumed from the last version inside the
//!   round; only what a watch cannot cure (a version that is no longer kept, a broken answer, a refusal) ends the round with
//!   [`Message::RoundEnded`], and a new list shows what was missed.
//! - Versions only grow, across connections and replicas. A list that is older than what is held is not applied, unless somebody knows
//!   that the server was reset, and says so ([`ReflectorHandle::reset`]).
//! - There is never more than one connection, but for the watch that opens while a list of several pages is read; and none while it waits
//!   for a round, is paused, or is closed.
//! - Every interruption is told, with its error and the time of the next try.

mod ahead;
mod backoff;
mod breaker;
mod control;
mod frame;
mod kinds;
mod list;
mod liveness;
mod order;
mod peers;
mod quarantine;
mod watch;
mod watch_list;

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

use futures::channel::mpsc;
use futures::{FutureExt, SinkExt};

pub use self::backoff::Retry;
pub use self::control::{Hastes, ReflectorHandle};
pub use self::peers::Peers;

use self::ahead::Ahead;
use self::backoff::{Backoff, RetryWindow};
use self::breaker::{Breaker, Kind};
use self::control::{Closed, Control, Host, Listen, Stop};
use self::kinds::Kinds;
use self::list::List;
use self::liveness::Watchdog;
use self::order::Order;
use self::peers::Peer;
use self::quarantine::Quarantine;
use self::watch::Standing;
use crate::connection::Connection;
use crate::json::FieldSet;
use crate::message::Message;
use crate::object::Object;
use crate::runtime::{Millis, SharedRuntime};
use crate::source::Source;
use crate::status::{Error, ErrorCode};

/// So long the apiserver's cacher answers internal errors in the stream by watching again.
const INTERNAL_ERROR_WINDOW_MS: Millis = 30_000;

/// Watches are not asked to end sooner than after so many seconds: each end costs the server a new one.
pub const LEAST_WATCH_SECONDS: u32 = 300;

/// So many bytes of what a watch brings may wait for its list.
const AHEAD_BYTES: usize = 64 << 20;

/// How a reflector lists, watches and waits.
#[derive(Clone, Debug)]
pub struct ReflectorConfig {
    /// Objects a page of the list; 0 asks for everything at once.
    pub page_size: u32,
    /// Whether the state comes over the watch itself (`sendInitialEvents`) instead of by a list, which serves as the way back where a
    /// server has none of it. It spares a server that answers from its own cache; a list shows its pages earlier. Not over a streamed
    /// fetch: servers compress such a watch in pieces of which browsers read only the first.
    pub watch_list: bool,
    /// A list or watch without any byte for so many milliseconds is taken for dead; 0 waits for ever.
    ///
    /// Servers send bookmarks about once a minute, so that a healthy watch is never silent for much longer.
    pub idle_timeout_ms: Millis,
    /// The waits between tries.
    pub retry: Retry,
    /// `timeoutSeconds` of a watch is drawn between this and twice as much, so that many clients do not come back at the same moment. Not less than
    /// [`LEAST_WATCH_SECONDS`], whatever is asked for.
    pub watch_timeout_seconds: u32,
    /// How many bytes of changes may wait, merged by key, while the pages of a list are read. A watch that brings more is let go.
    pub ahead_bytes: usize,
    /// The reflectors of the same host. They come back one after the other, and one of them asks for all whether a server is there.
    pub peers: Rc<Peers>,
    /// Of all that is random here.
    pub seed: u64,
}

impl Default for ReflectorConfig {
    fn default() -> Self {
        Self {
            page_size: 500,
            watch_list: false,
            idle_timeout_ms: 90_000,
            retry: Retry::default(),
            watch_timeout_seconds: LEAST_WATCH_SECONDS,
            ahead_bytes: AHEAD_BYTES,
            peers: Rc::default(),
            seed: 0,
        }
    }
}

/// The loop of list and watch for one resource. Made by [`Reflector::new`], driven by [`Reflector::run`].
pub struct Reflector {
    source: Rc<dyn Source>,
    host: Host,
    fields: Rc<RefCell<FieldSet>>,
    config: ReflectorConfig,
    out: mpsc::Sender<Message>,
    /// Sees the objects of a list as they are read.
    arrival: Option<Arrival>,
    random: fastrand::Rng,
    backoff: Backoff,
    internal_errors: RetryWindow,
    order: Order,
    quarantine: Quarantine,
    kinds: Kinds,
    /// Whether a list was ever complete.
    listed: bool,
    /// Tries since the last success.
    attempt: u32,
    /// The credentials were refused since the last success: the first time they are asked for again at once.
    refused_credentials: bool,
    /// When an expired version was last answered by a list without a wait.
    free_relist: Option<Millis>,
    /// The last watch was silent until it was given up.
    silent: bool,
    /// The watch of the list that is being read.
    ahead: Option<Ahead>,
    peer: Peer,
    /// What is known of the server that others ask, too.
    server: Option<Rc<Breaker>>,
    /// What was asked last of a server that is away.
    in_vain: Option<Kind>,
    hastes: Hastes,
    /// A wait that was paused before its end.
    held: Option<Wait>,
}

/// See [`Reflector::on_arrival`].
pub type Arrival = Box<dyn Fn(&[Rc<Object>])>;

/// A wait before the next try.
struct Wait {
    told: Connection,
    /// `None`: only somebody who asks ends it.
    until: Option<Millis>,
    /// What was asked in vain of a server that is away.
    away: Option<Kind>,
}

/// How a round ended, and whether the next one begins after a wait.
struct RoundEnd {
    error: Option<Error>,
    wait: bool,
}

impl RoundEnd {
    /// Somebody asked for it.
    fn asked() -> Self {
        Self { error: None, wait: false }
    }

    fn failed(error: Error) -> Self {
        Self { error: Some(error), wait: true }
    }
}

impl Reflector {
    /// A reflector that has not begun, and its handle.
    ///
    /// `fields` may grow while it runs: objects are read with the paths that are registered when they arrive. `out` should
    /// hold [`crate::message::MAX_WAITING_MESSAGES`] messages; the reflector waits while it is full, and ends when its
    /// receiver is gone.
    pub fn new(
        source: Rc<dyn Source>,
        runtime: SharedRuntime,
        fields: Rc<RefCell<FieldSet>>,
        config: ReflectorConfig,
        out: mpsc::Sender<Message>,
    ) -> (Self, ReflectorHandle) {
        let control = Rc::new(Control::default());
        let host = Host::new(runtime.clone(), control.clone());
        let handle = ReflectorHandle { control, slice: host.slice.clone() };
        let kinds = Kinds::of(&*source);
        let peers = config.peers.clone();
        let server = source.server().map(|name| peers.breakers.get(name, &config.retry));
        let reflector = Self {
            source,
            host,
            fields,
            random: fastrand::Rng::with_seed(config.seed),
            backoff: Backoff::new(config.retry.clone()),
            internal_errors: RetryWindow::new(INTERNAL_ERROR_WINDOW_MS),
            order: Order::default(),
            quarantine: Quarantine::default(),
            kinds,
            listed: false,
            attempt: 0,
            refused_credentials: false,
            free_relist: None,
            silent: false,
            ahead: None,
            peer: Peer::of(peers),
            server,
            in_vain: None,
            hastes: Hastes::default(),
            held: None,
            config,
            out,
            arrival: None,
        };
        (reflector, handle)
    }

    /// Sets who sees each object of a list as it is read, long before it is told: nothing of a page is told before all of it has proved to be
    /// sound, and messages wait for their receiver. What is seen may never be told.
    pub fn on_arrival(&mut self, arrival: Arrival) {
        self.arrival = Some(arrival);
    }

    fn arrived(&self, objects: &[Rc<Object>]) {
        if let Some(arrival) = self.arrival.as_ref().filter(|_| !objects.is_empty()) {
            arrival(objects);
        }
    }

    /// Runs until it is closed by its handle, or nobody receives its messages any more.
    pub async fn run(mut self) {
        while self.next_round().await.is_ok() {}
    }

    async fn next_round(&mut self) -> Result<(), Closed> {
        self.unpaused().await?;
        self.send(Message::RoundStarted).await?;
        let end = self.round().await?;
        self.send(Message::RoundEnded(end.error.clone())).await?;
        match end.error {
            Some(error) if end.wait => self.hold(error).await,
            _ => Ok(()),
        }
    }

    async fn round(&mut self) -> Result<RoundEnd, Closed> {
        let (list, standing) = match self.state().await {
            Ok(state) => state,
            Err(list::Halt::Closed) => return Err(Closed),
            Err(list::Halt::Asked) => return Ok(RoundEnd::asked()),
            Err(list::Halt::Failed(error)) => return Ok(RoundEnd::failed(error)),
        };
        if self.host.control.reset.replace(false) {
            self.order.forget();
        }
        if let Err(error) = self.order.replace(&list.version) {
            return Ok(RoundEnd::failed(error));
        }
        self.order.join(list.ahead);
        self.host.control.refresh.set(false);
        self.listed = true;
        match self.quarantine.listed(list.quarantined) {
            Ok(false) => {}
            Ok(true) => self.send(Message::Quarantine(self.quarantine.all())).await?,
            Err(error) => return Ok(RoundEnd::failed(error)),
        }
        self.send(Message::Replace { objects: list.objects, version: list.version }).await?;
        self.watch(standing).await
    }

    /// The state, and the watch that goes on from it where it came over one, or one was opened meanwhile.
    async fn state(&mut self) -> Result<(List, Option<Standing>), list::Halt> {
        if self.config.watch_list
            && let Some((list, stream)) = self.watch_list().await?
        {
            return Ok((list, Some(Standing::Open(stream))));
        }
        let list = self.list().await;
        // Without the list it is given up with it.
        let ahead = self.ahead.take();
        match (list?, ahead) {
            (list, Some(ahead)) => Ok(ahead.join(list, &self.host).await),
            (list, None) => Ok((list, None)),
        }
    }

    /// Waits before the next try, and says so. Ends early when somebody asks for anything.
    async fn hold(&mut self, error: Error) -> Result<(), Closed> {
        if error.code == ErrorCode::Unauthorized && !self.refused_credentials {
            self.refused_credentials = true;
            return self.hold_for(0, error).await;
        }
        let own = self.backoff.next(self.host.now(), &mut self.random);
        let asked = Millis::from(error.retry_after_seconds.unwrap_or(0)) * 1000;
        self.hold_for(own.max(asked), error).await
    }

    async fn hold_for(&mut self, wait: Millis, error: Error) -> Result<(), Closed> {
        let (least, away) = self.left_alone();
        let wait = wait.max(least);
        self.attempt = self.attempt.saturating_add(1);
        let retry_at = self.host.runtime.wall() + wait;
        let until = (!error.is_mistake()).then(|| self.host.now() + wait);
        let told = match error.code {
            // The first refusal may only mean that the token is old: it is asked for anew at once, and nobody has to sign in yet.
            ErrorCode::Unauthorized if wait > 0 => Connection::NeedsAuth { error, retry_at },
            ErrorCode::Forbidden | ErrorCode::NotFound | ErrorCode::Invalid => {
                Connection::Failed { error, retry_at: until.map(|_| retry_at) }
            }
            _ => Connection::Waiting { attempt: self.attempt, retry_at, error },
        };
        self.host.control.woken.set(false);
        self.wait_out(Wait { told, until, away }).await
    }

    async fn wait_out(&mut self, wait: Wait) -> Result<(), Closed> {
        self.send(Message::Connection(wait.told.clone())).await?;
        match self.wait(wait.until, wait.away).await {
            Err(Stop::Closed) => Err(Closed),
            Err(Stop::Asked) if self.host.control.paused.get() => {
                self.held = Some(wait);
                Ok(())
            }
            Err(Stop::Asked) if self.host.control.woken.replace(false) => self.stagger().await,
            Ok(()) => self.stagger().await,
            _ => Ok(()),
        }
    }

    /// Waits until then, or until its server is heard of. A pause ends it, and so does whoever asks for the next try; who asks too often is
    /// heard when there is room again.
    async fn wait(&mut self, mut until: Option<Millis>, away: Option<Kind>) -> Result<(), Stop> {
        let mut answers = match (&self.server, away) {
            (Some(server), Some(kind)) => server.answers(kind).boxed_local(),
            _ => pending().boxed_local(),
        };
        let (mut listen, mut early) = (Listen::WAITING, false);
        loop {
            let now = self.host.now();
            let mut alarm = Watchdog::new(until.map(|until| until.saturating_sub(now)), now);
            match self.beside(listen, Some(&mut alarm), &mut answers).await {
                Err(Stop::Asked) if !self.host.control.paused.get() => {}
                Err(Stop::Deadline) if early => {}
                end => return end,
            }
            match self.hasten(away.is_some()) {
                Ok(()) => return Err(Stop::Asked),
                Err(room) if until.is_none_or(|until| room < until) => (until, early) = (Some(room), true),
                Err(_) => early = false,
            }
            listen = Listen::WAITING_DEAF;
        }
    }

    /// Somebody asks for the next try, or says that the server may be there again. Where that is too often: when it is not.
    fn hasten(&mut self, away: bool) -> Result<(), Millis> {
        let now = self.host.now();
        let server = self.server.as_ref().map(|server| server.hasten(now));
        match server {
            Some(answer) if away => answer,
            _ => self.hastes.take(now),
        }
    }

    /// A list begins: it is the answer to a refresh, which need not wait for what others have heard of the server.
    fn answers_refresh(&self) {
        if self.host.control.refresh.replace(false)
            && let Some(server) = &self.server
        {
            let _often = server.hasten(self.host.now());
        }
    }

    /// A moment before it comes back, when many others do so too. Somebody who asks for this one does not wait.
    async fn stagger(&mut self) -> Result<(), Closed> {
        let wait = self.peer.stagger(&mut self.random);
        if wait == 0 || self.host.control.refresh.get() {
            return Ok(());
        }
        let mut alarm = Watchdog::new(Some(wait), self.host.now());
        match self.host.until(Listen::WATCHING, Some(&mut alarm), std::future::pending::<()>()).await {
            Err(Stop::Closed) => Err(Closed),
            _ => Ok(()),
        }
    }

    /// Holds still while paused; whether it was. A pause makes no wait shorter than `resume` alone would.
    async fn unpaused(&mut self) -> Result<bool, Closed> {
        let mut was = false;
        loop {
            if self.host.control.paused.get() {
                was = true;
                self.send(Message::Connection(Connection::Paused)).await?;
                self.host.unpaused().await?;
            }
            let Some(wait) = self.held.take() else { return Ok(was) };
            let over = wait.until.is_some_and(|until| until <= self.host.now());
            if !over && self.hasten(wait.away.is_some()).is_err() {
                // It is still asked for.
                self.wait_out(wait).await?;
            }
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), Closed> {
        match self.host.until(Listen::SENDING, None, self.out.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(Closed),
        }
    }

    fn watchdog(&self) -> Watchdog {
        let limit = self.config.idle_timeout_ms;
        Watchdog::new((limit > 0).then_some(limit), self.host.now())
    }

    /// What it means that nothing came for so long.
    fn silence(&self, what: &str) -> Error {
        Error::network(format!("{what} for {} s", self.config.idle_timeout_ms.div_ceil(1000)))
    }
}
