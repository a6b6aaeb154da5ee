//! The loop of list and watch: the one `match` that leads from each state (`state.rs`) to the next, and the steps between rounds.
//!
//! What the loop promises:
//!
//! - A *round* is a list and the watches that follow it. A connection that drops is resumed from the last version, inside the round. What a
//!   watch cannot cure ends the round with [`Message::RoundEnded`]: a version that is no longer kept, a broken answer, a refusal. The next
//!   list then shows what was missed.
//! - Versions only grow, across connections and replicas. A list that is older than what is held is not applied, unless somebody knows that
//!   the server was reset, and says so ([`ReflectorHandle::reset`]).
//! - There is never more than one connection, but for the watch that opens while a list of several pages is read. There is none while the
//!   loop waits for a round, is paused, or is closed.
//! - Every interruption is told, with its error and the time of the next try.

use std::cell::RefCell;
use std::future::{Future, pending};
use std::mem;
use std::rc::Rc;

use futures::channel::mpsc;
use futures::future::{LocalBoxFuture, join};
use futures::stream::LocalBoxStream;
use futures::{FutureExt, StreamExt};

use super::ahead::Beside;
use super::config::ReflectorConfig;
use super::handle::ReflectorHandle;
use super::host::Host;
use super::kinds::Kinds;
use super::listing::{List, Listing};
use super::liveness::Liveness;
use super::order::Order;
use super::predecessors::Predecessors;
use super::quarantine::Quarantine;
use super::reader::{Reader, Recipient};
use super::sink::Sink;
use super::state::{BegunWatch, Notice, RoundEnd, State, Streaming, WatchPlan};
use super::throttle::Throttle;
use crate::json::FieldSet;
use crate::message::{Message, Restored};
use crate::runtime::{SharedRuntime, Task};
use crate::source::{History, Source};
use crate::status::Error;

/// The loop of list and watch for one resource. Made by [`Reflector::new`], driven by [`Reflector::run`].
///
/// Its other steps stand in `list.rs`, `watch.rs` and `watch_list.rs`.
pub struct Reflector {
    pub(super) source: Rc<dyn Source>,
    pub(super) host: Rc<Host>,
    pub(super) sink: Rc<Sink>,
    pub(super) reader: Rc<Reader>,
    pub(super) liveness: Rc<Liveness>,
    pub(super) throttle: Throttle,
    pub(super) beside: Beside,
    pub(super) order: Order,
    pub(super) quarantine: Quarantine,
    /// Whether a list was ever complete.
    pub(super) listed: bool,
    /// What was kept at an earlier time, until it is read.
    restoring: Option<LocalBoxStream<'static, Message>>,
    /// Whether what is held was kept, and the server has not confirmed it.
    pub(super) unconfirmed: bool,
    /// The same where another cache has kept it, and confirms it by its watch.
    pub(super) provisional: bool,
    /// Of which history the last state was, where another cache said so.
    pub(super) history: Option<History>,
    page_size: u32,
    watch_list: bool,
}

impl Reflector {
    /// A reflector that has not begun, and its handle.
    ///
    /// `fields` may grow while it runs: objects are read with the paths that are registered when they arrive. `out` should hold
    /// [`crate::message::MAX_WAITING_MESSAGES`] messages; the reflector waits while it is full, and ends when its receiver is gone.
    pub fn new(
        source: Rc<dyn Source>,
        runtime: SharedRuntime,
        fields: Rc<RefCell<FieldSet>>,
        config: ReflectorConfig,
        out: mpsc::Sender<Message>,
    ) -> (Self, ReflectorHandle) {
        let host = Rc::new(Host::new(runtime, config.seed));
        let handle = ReflectorHandle { control: host.control.clone(), slice: host.slice.clone() };
        let sink = Rc::new(Sink::new(host.clone(), out));
        let reader = Rc::new(Reader::new(fields, Kinds::of(&*source)));
        let liveness = Rc::new(Liveness::new(&config));
        let reflector = Self {
            throttle: Throttle::new(host.clone(), sink.clone(), &*source, &config),
            beside: Beside::new(host.clone(), reader.clone(), liveness.clone(), config.ahead_bytes),
            source,
            host,
            sink,
            reader,
            liveness,
            order: Order::default(),
            quarantine: Quarantine::default(),
            listed: false,
            restoring: None,
            unconfirmed: false,
            provisional: false,
            history: None,
            page_size: config.page_size,
            watch_list: config.watch_list,
        };
        (reflector, handle)
    }

    /// Sets the cache that is read for. Without it a source that holds its objects packed is listed, as any other.
    pub fn reads_for(&mut self, recipient: impl Recipient + 'static) {
        let _second = self.reader.recipient.set(Box::new(recipient));
    }

    /// Sets who finds the object that an event may replace.
    pub fn on_predecessors(&mut self, predecessors: Predecessors) {
        self.reader.comparisons.begin(predecessors);
    }

    /// Sets what was kept at an earlier time: messages that are told first. Where the last of them is [`Message::Restored`], a watch from its version
    /// follows in place of a list.
    pub fn restores(&mut self, restoring: LocalBoxStream<'static, Message>) {
        self.restoring = Some(restoring);
    }

    /// Runs until it is closed by its handle, or nobody receives its messages any more.
    pub fn run(mut self) -> impl Future<Output = ()> + 'static {
        let (control, sink, standing) = (self.host.control.clone(), self.sink.clone(), self.source.standing());
        let reader = self.reader.clone();
        let (task, work) = Task::new(async move {
            let steps = async {
                let mut state = State::Idle;
                loop {
                    // A step is a whole list or stream. In a box of its own it takes no memory once it is over: a paused reflector is small.
                    state = self.step(state).await;
                }
            };
            let Some(mut standing) = standing else { return steps.await };
            let follows = async {
                while let Some(standing) = standing.next().await {
                    sink.upstream(standing, &reader).await;
                }
                pending::<()>().await;
            };
            join(steps.boxed_local(), follows.boxed_local()).await;
        });
        control.runs_in(task);
        work
    }

    /// One step.
    fn step(&mut self, state: State) -> LocalBoxFuture<'_, State> {
        match state {
            State::Idle => self.begin().boxed_local(),
            State::Streaming(streaming) => self.stream(streaming).boxed_local(),
            State::Listing(listing) => self.list(listing).boxed_local(),
            State::Listed(list, begun) => self.replace(list, begun).boxed_local(),
            State::Opening(plan) => self.open(plan).boxed_local(),
            State::Watching(watch) => self.watch(watch).boxed_local(),
            State::Waiting(wait, then) => async {
                self.throttle.wait_out(&mut self.beside, wait).await;
                *then
            }
            .boxed_local(),
            State::Ended(end) => self.end(end).boxed_local(),
        }
    }

    /// A round begins.
    async fn begin(&mut self) -> State {
        self.throttle.unpaused(&mut self.beside).await;
        self.sink.send(Message::RoundStarted).await;
        if let Some(state) = self.restore().await {
            return state;
        }
        if self.watch_list && self.source.streams_first_state() {
            // A server that was reset may never come to the version that was kept.
            return State::Streaming(Streaming { unset: self.host.control.reset.get() || self.unconfirmed, cut: false });
        }
        self.begin_list()
    }

    /// Begins with what was kept, if there is anything. It is read once.
    async fn restore(&mut self) -> Option<State> {
        let mut restoring = self.restoring.take()?;
        while let Some(message) = restoring.next().await {
            let version = if let Message::Restored(Restored { version, .. }) = &message { Some(version.clone()) } else { None };
            self.sink.send(message).await;
            if let Some(version) = version {
                self.order.replace(&version).ok()?;
                (self.listed, self.unconfirmed) = (true, true);
                self.reader.kinds.begin();
                return Some(State::Opening(WatchPlan::again(None)));
            }
        }
        None
    }

    /// A list begins.
    pub(super) fn begin_list(&self) -> State {
        self.reader.kinds.begin();
        State::Listing(Box::new(Listing::new(self.page_size)))
    }

    /// The state is whole, and replaces what is held. Then the watch goes on: the one that was begun beside the list, or a new one.
    async fn replace(&mut self, list: List, begun: Option<BegunWatch>) -> State {
        if let Err(error) = self.take_list(list).await {
            return State::Ended(RoundEnd::failed(error));
        }
        let pending = match begun.filter(|_| !self.host.control.paused.get()) {
            Some(BegunWatch::Open(open)) => return State::Watching(open),
            Some(BegunWatch::Pending(pending)) => Some(pending),
            None => None,
        };
        State::Opening(WatchPlan { pending, notice: Notice::Nothing })
    }

    /// Notes what a whole list says of versions and of the quarantine, and hands it on. Fails where it is older than what is held, or has
    /// more than may be set aside.
    async fn take_list(&mut self, list: List) -> Result<(), Error> {
        let has_gone_back = list.history.zip(self.history).is_some_and(|(now, before)| now.replaces(before));
        // What was kept may be of a server that was reset since.
        let was_kept = mem::take(&mut self.unconfirmed) | mem::replace(&mut self.provisional, list.kept_at.is_some());
        if self.host.control.reset.replace(false) | was_kept | has_gone_back {
            self.order.forget();
        }
        self.history = list.history.or(self.history);
        self.order.replace(&list.version)?;
        self.order.join(list.ahead);
        self.host.control.refresh.set(false);
        let kept_at = list.kept_at.filter(|_| !self.listed || was_kept);
        self.listed = true;
        if self.quarantine.listed(list.quarantined)? {
            self.sink.send(Message::Quarantine(self.quarantine.all())).await;
        }
        let List { objects, version, .. } = list;
        let state = match kept_at {
            Some(at) => Message::Restored(Restored { objects, version, at }),
            None => Message::Replace { objects, version },
        };
        self.sink.send(state).await;
        Ok(())
    }

    /// A round is over.
    async fn end(&mut self, end: RoundEnd) -> State {
        self.sink.send(Message::RoundEnded(end.error.clone())).await;
        match end.error {
            Some(error) if end.wait => State::Waiting(self.throttle.wait_after(error), Box::new(State::Idle)),
            _ => State::Idle,
        }
    }
}
