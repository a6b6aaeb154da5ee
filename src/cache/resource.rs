//! One resource as its users hold it: the cacher, the reflector that feeds it, and the loop between them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::channel::{mpsc, oneshot};
use futures::future::select;
use futures::{FutureExt, StreamExt};

use crate::cache::cacher::{Cacher, signal};
use crate::cache::checker;
use crate::cache::freshness::Reads;
use crate::cache::memory::Share;
use crate::change::ChangeKind;
use crate::connection::Phase;
use crate::informer::Notifications;
use crate::json::fields::FieldSet;
use crate::message::{MAX_WAITING_MESSAGES, Message};
use crate::object::{IndexValues, Object};
use crate::reflector::{EarlyTries, Reflector, ReflectorConfig, ReflectorHandle};
use crate::runtime::slice::{SLICE_MS, Slice};
use crate::runtime::{Millis, SharedRuntime};
use crate::source::Source;
use crate::status::{Error, ErrorCode};
use crate::store::WindowBounds;
use crate::store::{IndexSpec, Indexes};
use crate::view::{ViewId, ViewOptions};
use crate::watch::{Demand, EndReason, Outbox, TICK_MS, TimeBudget, WatcherId};

/// Objects that views are asked about between two looks at the clock, and so many times at most in one slice.
const BUILD_BATCH: usize = 64;
const BUILD_BATCHES: usize = 64;
/// How long whoever waits for the first list also waits for its watch.
const OPENING_MS: Millis = 1000;
/// The most that slow watchers may cost everybody at once.
const BUDGET_MAX_MS: Millis = 100;

/// What a flush tells.
#[derive(Debug, Default)]
pub struct Flush {
    /// Events and who receives them.
    pub outbox: Outbox,
    /// Views that changed.
    pub views: Vec<ViewId>,
    /// Bits of [`signal`].
    pub signals: u32,
    /// What handlers of informers are told.
    pub notifications: Notifications,
}

/// How a resource is set up.
#[derive(Clone, Debug)]
pub struct ResourceConfig {
    /// For messages, e.g. `pods`.
    pub name: String,
    /// The bounds of the event window.
    pub window: WindowBounds,
    /// Indexes beside "namespace".
    pub indexes: Vec<IndexSpec>,
    /// Whether what is held is compared with the upstream every few minutes. That lists everything, page by page.
    pub check_consistency: bool,
    /// How the reflector behaves.
    pub reflector: ReflectorConfig,
}

pub use crate::cache::list::options::ListOptions;

type FlushHook = Rc<dyn Fn(Flush)>;
type IndexHook = Rc<dyn Fn(&Rc<Object>) -> IndexValues>;

/// A resource. Its methods never call the flush hook before they return.
pub struct Resource {
    pub(super) config: ResourceConfig,
    pub(crate) runtime: SharedRuntime,
    pub(super) source: Rc<dyn Source>,
    pub(super) cacher: RefCell<Cacher>,
    pub(super) reads: Reads,
    reflector: RefCell<Option<ReflectorHandle>>,
    hook: RefCell<Option<FlushHook>>,
    index_hook: RefCell<Option<IndexHook>>,
    pub(super) share: RefCell<Option<Share>>,
    pub(super) idle: Cell<bool>,
    starved: Cell<bool>,
    hastes: RefCell<EarlyTries>,
    flush_planned: Cell<bool>,
    flushing: Cell<bool>,
    ticking: Cell<bool>,
    // Told when a subscriber makes room while changes wait for it.
    room: RefCell<Option<oneshot::Sender<()>>>,
    // Held while the consistency is looked after; its end ends that, and its timer.
    checking: RefCell<Option<oneshot::Sender<()>>>,
    // Held while there is something to pack; its end ends that, and its timer.
    pub(super) packing: RefCell<Option<oneshot::Sender<()>>>,
    building: Cell<bool>,
    // Batches, and milliseconds, that views were built for at once in this turn of the host.
    built: Cell<(usize, Millis)>,
}

impl Resource {
    /// A resource that has not asked for anything yet. Fails with code `invalid` when its configuration makes no sense.
    pub fn new(config: ResourceConfig, source: Rc<dyn Source>, fields: FieldSet, runtime: SharedRuntime) -> Result<Rc<Self>, Error> {
        config.window.check()?;
        let fields = Rc::new(RefCell::new(fields));
        let indexes = Indexes::new(&config.indexes, &fields)?;
        let cacher = Cacher::new(fields, config.window, indexes, runtime.now());
        Ok(Rc::new(Self {
            config,
            reads: Reads::new(source.clone(), runtime.clone()),
            runtime,
            source,
            cacher: RefCell::new(cacher),
            reflector: RefCell::new(None),
            hook: RefCell::new(None),
            index_hook: RefCell::new(None),
            share: RefCell::new(None),
            idle: Cell::new(false),
            starved: Cell::new(false),
            hastes: RefCell::default(),
            flush_planned: Cell::new(false),
            flushing: Cell::new(false),
            ticking: Cell::new(false),
            room: RefCell::new(None),
            checking: RefCell::new(None),
            packing: RefCell::new(None),
            building: Cell::new(false),
            built: Cell::default(),
        }))
    }

    /// Sets who hears of changes. Called with nothing borrowed.
    pub fn on_flush(&self, hook: impl Fn(Flush) + 'static) {
        *self.hook.borrow_mut() = Some(Rc::new(hook));
    }

    /// Sets who computes the values of an object in the computed indexes. Called with nothing borrowed, once for each object that
    /// arrives, before it is stored.
    pub fn on_index(&self, hook: impl Fn(&Rc<Object>) -> IndexValues + 'static) {
        *self.index_hook.borrow_mut() = Some(Rc::new(hook));
    }

    fn compute_index_values(&self, message: &Message) {
        let Some(hook) = self.index_hook.borrow().clone() else { return };
        let arrived = match message {
            Message::Page { objects, .. } | Message::Replace { objects, .. } => objects.as_slice(),
            Message::Differences { differences, .. } => &differences.iter().filter_map(|one| one.after.clone()).collect::<Vec<_>>(),
            Message::Change { kind: ChangeKind::Added | ChangeKind::Modified, object, .. } => std::slice::from_ref(object),
            _ => return,
        };
        for object in arrived {
            // What is held at the same version already is not stored anew.
            let held = |held: &Rc<Object>| held.version() == object.version() && held.has_index_values();
            if !object.has_index_values() && !self.cacher.borrow().store().get(object.key()).is_some_and(held) {
                object.set_index_values(hook(object));
            }
        }
    }

    /// Opens the list and the watch. Nothing happens when they are open, and when memory has run out again and again.
    pub fn start(self: &Rc<Self>) {
        if self.reflector.borrow().is_some() || self.cacher.borrow_mut().ready().is_stopped() {
            return;
        }
        if self.starved.get() && self.hastes.borrow_mut().take(self.runtime.now()).is_err() {
            return;
        }
        self.starved.set(false);
        let (sender, receiver) = mpsc::channel(MAX_WAITING_MESSAGES);
        let fields = self.cacher.borrow().fields().clone();
        let (mut reflector, handle) =
            Reflector::new(self.source.clone(), self.runtime.clone(), fields, self.config.reflector.clone(), sender);
        let slice = handle.slice();
        *self.reflector.borrow_mut() = Some(handle);
        let this = Rc::downgrade(self);
        reflector.on_arrival(Box::new(move |objects| {
            if let Some(this) = this.upgrade() {
                this.cacher.borrow_mut().arriving(objects);
            }
        }));
        self.cacher.borrow_mut().begin();
        self.plan_flush();
        self.runtime.spawn_together([reflector.run().boxed_local(), self.clone().run(receiver, slice).boxed_local()]);
        if self.config.check_consistency {
            let (open, closed) = oneshot::channel();
            *self.checking.borrow_mut() = Some(open);
            self.runtime.spawn(checker::run(Rc::downgrade(self), closed).boxed_local());
        }
    }

    /// Whether the user holds it.
    pub(super) fn is_paused(&self) -> bool {
        self.cacher.borrow().status().phase == Phase::Paused
    }

    /// Applies what arrives, a slice at a time: a flush at the end of each slice, then the host's turn.
    async fn run(self: Rc<Self>, mut incoming: mpsc::Receiver<Message>, slice: Rc<Slice>) {
        let mut budget = TimeBudget::new(self.runtime.now(), BUDGET_MAX_MS);
        // The wall's clock is asked once a millisecond: that is all it can tell.
        let mut wall = (self.runtime.now(), self.runtime.wall());
        while let Some(mut message) = incoming.next().await {
            let mut now = self.runtime.recent();
            loop {
                if let Message::RoundEnded(Some(error)) = &message
                    && error.code == ErrorCode::OutOfMemory
                {
                    // The host has none left. What the next list would take is not there either.
                    return self.starve(&error.clone());
                }
                message = self.compared(message, &slice).await;
                if matches!(message, Message::Differences { .. }) {
                    now = self.runtime.now();
                }
                self.compute_index_values(&message);
                if let Err(error) = self.find_room(&message, &slice, &mut now).await {
                    return self.starve(&error);
                }
                if wall.0 != now {
                    wall = (now, self.runtime.wall());
                }
                let blocked = self.cacher.borrow_mut().apply(message, now, wall.1);
                self.settle_memory();
                if blocked {
                    self.serve_blocked(&mut budget, &slice).await;
                }
                if slice.worked(now) {
                    break;
                }
                match incoming.try_recv() {
                    Ok(next) => (message, now) = (next, self.runtime.now()),
                    _ => break,
                }
            }
            // What subscribers do with what they are told is work as well.
            if self.flush() {
                now = self.runtime.now();
            }
            self.keep_packing();
            if slice.worked(now) {
                slice.rest(&*self.runtime).await;
            }
        }
    }

    /// Some watchers have no room. They get the host's turn, and the time that is left for slow ones; who still has no room then, ends.
    async fn serve_blocked(self: &Rc<Self>, budget: &mut TimeBudget, slice: &Slice) {
        self.flush();
        slice.rest(&*self.runtime).await;
        let began = self.runtime.now();
        let available = budget.take(began);
        while self.cacher.borrow_mut().dispatcher.retry_blocked() {
            self.flush();
            #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let left = (available - self.runtime.now().saturating_sub(began) as f64).max(0.0) as Millis;
            if left == 0 {
                let mut cacher = self.cacher.borrow_mut();
                if cacher.dispatcher.terminate_blocked() > 0 {
                    cacher.signal(signal::OVERFLOW);
                }
                break;
            }
            let (sender, receiver) = oneshot::channel();
            *self.room.borrow_mut() = Some(sender);
            select(receiver, self.runtime.sleep(left)).await;
        }
        #[allow(clippy::cast_precision_loss)]
        budget.give_back(available - self.runtime.now().saturating_sub(began) as f64);
    }

    /// Tells the hook what happened since the last flush, with nothing borrowed; whether there was anything to tell. What the hook causes is
    /// told in another flush.
    pub(super) fn flush(self: &Rc<Self>) -> bool {
        if self.flushing.replace(true) {
            return false;
        }
        let (flush, more) = {
            let mut cacher = self.cacher.borrow_mut();
            if cacher.dispatcher.take_overflowed() | cacher.informers.take_overflowed() {
                cacher.signal(signal::OVERFLOW);
            }
            let (outbox, more) = cacher.dispatcher.take_outbox();
            cacher.flushed(&|| self.runtime.now());
            let notifications = cacher.informers.take();
            (Flush { outbox, views: cacher.views.take_changed(), signals: cacher.take_signals(), notifications }, more)
        };
        let anything = !flush.outbox.is_empty() || !flush.views.is_empty() || flush.signals != 0 || !flush.notifications.is_empty();
        let hook = self.hook.borrow().clone().filter(|_| anything);
        if let Some(hook) = &hook {
            hook(flush);
        }
        self.flushing.set(false);
        let mut cacher = self.cacher.borrow_mut();
        cacher.informers.given();
        let more = more || cacher.informers.has_output();
        drop(cacher);
        if more {
            let this = self.clone();
            self.runtime.spawn(
                async move {
                    this.runtime.yield_now().await;
                    this.flush();
                }
                .boxed_local(),
            );
        }
        hook.is_some()
    }

    /// Has a flush follow soon, outside the call that caused it.
    fn plan_flush(self: &Rc<Self>) {
        if self.flush_planned.replace(true) {
            return;
        }
        let this = self.clone();
        self.runtime.spawn(
            async move {
                this.flush_planned.set(false);
                if this.cacher.borrow().has_output() {
                    this.flush();
                }
            }
            .boxed_local(),
        );
    }

    /// Reads or changes the state, and has a flush follow when that left something to tell. No await, no JavaScript inside.
    pub fn with<R>(self: &Rc<Self>, work: impl FnOnce(&mut Cacher) -> R) -> R {
        let result = work(&mut self.cacher.borrow_mut());
        self.tell_soon();
        result
    }

    // Compiled once, and not for each kind of work.
    #[inline(never)]
    fn tell_soon(self: &Rc<Self>) {
        if self.cacher.borrow_mut().views.take_grown() {
            self.settle_memory();
        }
        if self.cacher.borrow().has_output() {
            self.plan_flush();
        }
        if self.cacher.borrow().views.is_unfinished() {
            self.keep_building();
        }
    }

    /// Completes when the first list is applied, and its watch is open or could not be opened: the phase then says how things stand. A
    /// watch that only takes long is not waited for.
    pub async fn synced(self: Rc<Self>) -> Result<(), Error> {
        let waiter = self.cacher.borrow_mut().wait_synced();
        waiter.await.unwrap_or_else(|_| Err(Error::closed()))?;
        let opened = self.cacher.borrow_mut().wait_opened();
        if let Some(opened) = opened {
            select(opened, self.runtime.sleep(OPENING_MS)).await;
        }
        Ok(())
    }

    /// Lists anew; completes when that list is applied.
    pub async fn refresh(self: Rc<Self>) -> Result<(), Error> {
        self.list_anew(ReflectorHandle::refresh).await
    }

    /// The same, and takes the list whatever its version: the server was reset to lower ones.
    pub async fn reset(self: Rc<Self>) -> Result<(), Error> {
        self.list_anew(ReflectorHandle::reset).await
    }

    async fn list_anew(self: Rc<Self>, ask: fn(&ReflectorHandle)) -> Result<(), Error> {
        self.start();
        let waiter = self.cacher.borrow_mut().wait_listed();
        match &*self.reflector.borrow() {
            Some(reflector) => ask(reflector),
            None if self.starved.get() => return Err(self.cacher.borrow().status().error.unwrap_or_else(Error::closed)),
            None => {}
        }
        waiter.await.unwrap_or_else(|_| Err(Error::closed()))
    }

    /// The subscriber takes events from now on in this way.
    pub fn demand(self: &Rc<Self>, id: WatcherId, demand: Demand) {
        self.with(|cacher| cacher.dispatcher.demand(id, demand));
        if let Some(room) = self.room.borrow_mut().take() {
            let _gone = room.send(());
        }
    }

    /// Ends a stream at its user's wish.
    pub fn stop(self: &Rc<Self>, id: WatcherId) {
        self.with(|cacher| {
            let reached = cacher.version().clone();
            cacher.dispatcher.end(id, EndReason::Stopped, &reached);
        });
        if let Some(room) = self.room.borrow_mut().take() {
            let _gone = room.send(());
        }
    }

    /// Drops the stream, keeps what is held.
    pub fn pause(&self) {
        if let Some(reflector) = &*self.reflector.borrow() {
            reflector.pause();
        }
    }

    /// Drops the stream because nobody uses the resource: what is held stays until memory is short.
    pub fn go_idle(&self) {
        self.idle.set(true);
        self.pause();
    }

    /// There is no memory to go on with.
    fn starve(self: &Rc<Self>, error: &Error) {
        if let Some(reflector) = self.reflector.borrow_mut().take() {
            reflector.close();
        }
        self.starved.set(true);
        let (now, wall) = (self.runtime.now(), self.runtime.wall());
        self.with(|cacher| cacher.starve(error, now, wall));
    }

    /// Goes on after a pause, or tries at once instead of waiting for the next try. Also where memory had run out, for it or for its views.
    pub fn resume(self: &Rc<Self>) {
        self.idle.set(false);
        self.revive_views();
        if self.starved.get() {
            return self.start();
        }
        if let Some(reflector) = &*self.reflector.borrow() {
            self.cacher.borrow_mut().ask_again();
            reflector.resume();
        }
    }

    /// Closes for good.
    pub fn close(self: &Rc<Self>) {
        self.checking.borrow_mut().take();
        self.packing.borrow_mut().take();
        if let Some(reflector) = self.reflector.borrow_mut().take() {
            reflector.close();
        }
        self.reads.progress.stop();
        let now = self.runtime.now();
        self.with(|cacher| cacher.close(now));
        self.settle_memory();
    }

    /// The time on the monotonic clock that everything here goes by.
    pub fn now(&self) -> Millis {
        self.runtime.now()
    }

    /// How the resource was set up.
    pub fn config(&self) -> &ResourceConfig {
        &self.config
    }

    /// Has views find their rows, in slices that leave the host its turn.
    fn keep_building(self: &Rc<Self>) {
        if self.building.replace(true) {
            return;
        }
        let this = Rc::downgrade(self);
        let runtime = self.runtime.clone();
        self.runtime.spawn(
            async move {
                loop {
                    runtime.yield_now().await;
                    let Some(this) = this.upgrade() else { return };
                    if !this.build_slice() {
                        this.building.set(false);
                        return this.tell_soon();
                    }
                    this.tell_soon();
                }
            }
            .boxed_local(),
        );
    }

    fn build_slice(&self) -> bool {
        self.build(0, 0);
        self.cacher.borrow().views.is_unfinished()
    }

    /// Opens a live view and finds rows for it as long as a slice lasts: where that is enough it is loaded at once. All that are opened in one
    /// turn of the host share that slice, or else many small ones would hold it up.
    pub fn open_view(self: &Rc<Self>, options: &ViewOptions) -> Result<ViewId, Error> {
        let view = self.cacher.borrow_mut().open_view(options)?;
        let (batches, millis) = self.built.get();
        if self.cacher.borrow().views.is_unfinished() && batches < BUILD_BATCHES && millis < SLICE_MS {
            self.built.set(self.build(batches, millis));
            if batches == 0 {
                let (this, turn) = (Rc::downgrade(self), self.runtime.yield_now());
                let task = async move {
                    turn.await;
                    if let Some(this) = this.upgrade() {
                        this.built.set((0, 0));
                    }
                };
                self.runtime.spawn(task.boxed_local());
            }
        }
        self.with(|cacher| cacher.sync_view(view));
        Ok(view)
    }

    /// Builds views until the slice is over of which so much is spent; and how much is then.
    fn build(&self, mut batches: usize, spent: Millis) -> (usize, Millis) {
        let began = self.runtime.now();
        let mut cacher = self.cacher.borrow_mut();
        // In virtual time the clock stands still meanwhile: the number of objects bounds a slice as well.
        loop {
            let more = cacher.build_views(BUILD_BATCH);
            batches += 1;
            let millis = spent + self.runtime.now().saturating_sub(began);
            if !more || batches >= BUILD_BATCHES || millis >= SLICE_MS {
                return (batches, millis);
            }
        }
    }

    /// Looks after bookmarks and deadlines while a watcher needs it.
    pub(super) fn keep_ticking(self: &Rc<Self>) {
        if self.ticking.replace(true) {
            return;
        }
        let this = self.clone();
        self.runtime.spawn(
            async move {
                loop {
                    this.runtime.sleep(TICK_MS + fastrand::u64(0..TICK_MS / 4)).await;
                    let now = this.runtime.now();
                    let again = this.with(|cacher| {
                        let processed = cacher.version().clone();
                        // After the close the schedule still names who has ended, and a timer would keep a process of Node alive.
                        cacher.dispatcher.tick(now, &processed) && !cacher.ready().is_stopped()
                    });
                    if !again {
                        break;
                    }
                }
                this.ticking.set(false);
            }
            .boxed_local(),
        );
    }
}
