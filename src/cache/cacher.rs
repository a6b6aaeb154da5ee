//! The cacher: one resource's state, kept by what the reflector sends, read and watched by everybody else.
//!
//! Everything here is synchronous: what must be one step (capturing initial events and registering the watcher; changing the store
//! and telling the listeners) has no await in it.

use std::cell::RefCell;
use std::rc::Rc;

use crate::cache::flush::Flush;
use crate::cache::freshness::Freshness;
use crate::cache::held::Held;
use crate::cache::interval::{Basis, Interval};
use crate::cache::latency::Latency;
use crate::cache::listeners::Listeners;
use crate::cache::memory::Grower;
use crate::cache::ready::Ready;
use crate::cache::standing::Standing;
use crate::cache::status::ResourceStatus;
use crate::change::{ChangeKind, Difference};
use crate::informer::{HandlerId, HandlerOptions, Indexer, InformerId, InformerStats, Informers, Interruption, Interruptions};
use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::message::{Message, Quarantined};
use crate::metrics::{Metrics, Now};
use crate::object::{Object, ObjectId};
use crate::runtime::Millis;
use crate::selector::{Filter, FilterText};
use crate::status::{Error, ErrorCode, Status};
use crate::store::{Indexes, Replacement, Store, Window, WindowBounds};
use crate::version::Version;
use crate::view::{ViewId, ViewOptions, Views};
use crate::watch::{Beginning, Dispatcher, DispatcherStats, EndReason, Start, WatchOptions, WatcherId};

/// The most a watcher may hold back by default, as in the apiserver: where no field routes events to watchers, where one does, and for
/// those that it routes them to.
const MAX_BUFFERED: [usize; 3] = [100, 1000, 10];

/// Numbers for `stats`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacherStats {
    /// Objects held.
    pub objects: usize,
    /// Bytes held by them and by the window.
    pub bytes: usize,
    /// Changes received since the start.
    pub events: u64,
    /// Lists applied since the start.
    pub lists: u64,
    /// Changes held in the window.
    pub history: usize,
    /// Changes the window may hold at the moment.
    pub history_capacity: usize,
    /// Bytes held by the window alone: what its changes replaced.
    pub history_bytes: usize,
    /// How often that capacity grew, and how often it shrank.
    pub history_resizes: (u64, u64),
    /// About the watchers.
    pub dispatcher: DispatcherStats,
    /// Views that are open.
    pub views: usize,
    /// About the informers.
    pub informers: InformerStats,
}

/// The state of one resource.
pub struct Cacher {
    fields: Rc<RefCell<FieldSet>>,
    held: Held,
    listeners: Listeners,
    standing: Standing,
    freshness: Freshness,
    interruptions: Interruptions,
    latency: Latency,
    metrics: Rc<Metrics>,
    round_began: Millis,
    events: u64,
}

impl Cacher {
    /// An empty cacher that is not ready.
    pub fn new(fields: Rc<RefCell<FieldSet>>, bounds: WindowBounds, indexes: Indexes, now: Millis) -> Self {
        let metrics: Rc<Metrics> = Rc::default();
        Self {
            fields,
            held: Held::new(bounds, indexes),
            listeners: Listeners::new(metrics.clone()),
            standing: Standing::new(now),
            freshness: Freshness::default(),
            interruptions: Interruptions::default(),
            latency: Latency::new(metrics.clone()),
            metrics,
            round_began: now,
            events: 0,
        }
    }

    // ------------------------------------------------------------------------------------------- its parts

    /// What is held: the store and the window, and past states made of them.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// The same, to pack it or to say what of it may be trusted.
    pub fn held_mut(&mut self) -> &mut Held {
        &mut self.held
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        self.held.store()
    }

    /// The recent changes.
    pub fn window(&self) -> &Window {
        self.held.window()
    }

    /// The version reached.
    pub fn version(&self) -> &Version {
        self.held.version()
    }

    /// Live views.
    pub fn views(&self) -> &Views {
        &self.listeners.views
    }

    /// The same, to change them.
    pub fn views_mut(&mut self) -> &mut Views {
        &mut self.listeners.views
    }

    /// Informers and their handlers.
    pub fn informers(&self) -> &Informers {
        &self.listeners.informers
    }

    /// The same, to change them.
    pub fn informers_mut(&mut self) -> &mut Informers {
        &mut self.listeners.informers
    }

    /// Watchers and what is ready for them.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.listeners.dispatcher
    }

    /// The same, to change them.
    pub fn dispatcher_mut(&mut self) -> &mut Dispatcher {
        &mut self.listeners.dispatcher
    }

    /// How it stands: its connection, and whether it can answer.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The same, to wait for it or to note an error.
    pub fn standing_mut(&mut self) -> &mut Standing {
        &mut self.standing
    }

    /// Whether it can answer.
    pub fn ready(&self) -> &Ready {
        self.standing.ready()
    }

    /// What people see of it.
    pub fn status(&self) -> ResourceStatus {
        self.standing.status(self.version())
    }

    /// Who waits for a version.
    pub fn freshness_mut(&mut self) -> &mut Freshness {
        &mut self.freshness
    }

    /// The wanted paths.
    pub fn fields(&self) -> &Rc<RefCell<FieldSet>> {
        &self.fields
    }

    /// What is counted here; whoever counts keeps a clone.
    pub fn metrics(&self) -> &Rc<Metrics> {
        &self.metrics
    }

    // ------------------------------------------------------------------------------------- the one step

    /// Applies one message of the reflector. Returns whether watchers without room wait to be served before the next change.
    pub fn apply(&mut self, message: Message, now: Millis, wall: Millis) -> bool {
        if self.ready().is_stopped() {
            return false; // what was under way when it was closed
        }
        let interrupted = self.interruptions.hear(&message);
        let blocked = self.take_in(message, now, wall);
        if let Some((error, retry_at)) = interrupted {
            let stale = self.standing.has_listed() || !self.store().is_empty();
            let interruption = Interruption { phase: self.standing.phase(), error, retry_at, stale, key: None, ended: None };
            self.listeners.informers.interrupted(interruption);
        }
        self.standing.note_stale(!self.held.store().is_empty(), wall);
        self.held.relieve();
        blocked
    }

    fn take_in(&mut self, message: Message, now: Millis, wall: Millis) -> bool {
        match message {
            Message::RoundStarted => {
                self.round_began = now;
                self.listeners.dispatcher.end_round(self.held.version());
            }
            Message::Page { objects, loaded, remaining } => self.page(&objects, loaded, remaining),
            Message::Replace { objects, version } => {
                let differences = self.held.replace(objects, self.standing.quarantined());
                self.replaced(differences, version, now);
            }
            Message::Differences { differences, version } => {
                let differences = self.held.apply(differences, self.standing.quarantined());
                self.replaced(differences, version, now);
            }
            Message::Change { kind, object, at } => {
                self.latency.applied(at, now);
                return self.change(kind, object, at, now, wall);
            }
            Message::Bookmark(version) => self.bookmark(version, wall),
            Message::Quarantine(all) => self.quarantine(all),
            Message::RoundEnded(error) => {
                // An expired version is how long sleeps end, and no error.
                if error.as_ref().is_some_and(|error| error.code != ErrorCode::Expired) {
                    self.metrics.initialization_errors.inc();
                }
                self.standing.round_ended(error.as_ref(), now);
            }
            Message::Connection(connection) => self.standing.connection(connection),
        }
        false
    }

    fn page(&mut self, objects: &[Rc<Object>], loaded: usize, remaining: Option<u64>) {
        self.standing.page(loaded, remaining);
        for object in objects {
            // A first list that is tried again brings what is shown already. A relist shows nothing before it is whole.
            if self.held.arrived(object) || self.standing.has_listed() {
                continue;
            }
            let previous = self.held.show(object);
            self.listeners.appeared(previous.as_ref(), object, &self.fields.borrow());
        }
        self.held.keep_packed();
    }

    /// Objects of a list that was not told yet. They may wait as long as the list takes, and meanwhile take no more memory than what rests.
    /// Nobody hears of them.
    pub(super) fn arriving(&mut self, objects: &[Rc<Object>]) {
        if self.ready().is_stopped() {
            return;
        }
        for object in objects {
            self.held.arrived(object);
        }
        self.held.keep_packed();
    }

    /// A whole list has replaced what was held.
    fn replaced(&mut self, differences: Vec<Difference>, version: Version, now: Millis) {
        let (store, from) = (self.held.store(), self.held.version());
        let list = Replacement { differences: &differences, store, from, to: &version, at: now };
        self.listeners.replaced(&list, &self.fields.borrow());
        self.held.replaced(differences, version, now);
        self.freshness.reached(self.held.version());
        self.metrics.initializations.inc();
        #[allow(clippy::cast_precision_loss)]
        self.metrics.initialization_duration.set(now.saturating_sub(self.round_began) as f64 / 1000.0);
        self.standing.listed(now);
    }

    fn quarantine(&mut self, all: Vec<Quarantined>) {
        for entry in self.standing.quarantine(all) {
            self.listeners.informers.interrupted(Interruption {
                phase: self.standing.phase(),
                stale: self.held.store().iter().any(|held| entry.is(held)),
                error: entry.error,
                retry_at: None,
                key: Some(entry.key),
                ended: None,
            });
        }
    }

    fn change(&mut self, kind: ChangeKind, object: Rc<Object>, at: Millis, now: Millis, wall: Millis) -> bool {
        if object.version() <= self.version() {
            self.standing.refuse_change(object.version(), self.held.version());
            return false;
        }
        let change = self.held.change(kind, object, now);
        let delivered = self.listeners.dispatcher.delivered();
        let blocked = self.listeners.changed(&change, &self.fields.borrow());
        self.latency.dispatched(at, now, self.listeners.dispatcher.delivered() - delivered);
        self.events += 1;
        self.metrics.events_received.inc();
        self.standing.heard(wall);
        self.freshness.reached(change.version());
        self.held.keep(change, &self.metrics);
        blocked
    }

    fn bookmark(&mut self, version: Version, wall: Millis) {
        self.standing.heard(wall);
        self.metrics.events_dispatched.inc();
        if version > *self.version() {
            self.freshness.reached(&version);
            self.held.advance(version);
        }
    }

    // -------------------------------------------------------------------------------------------- its life

    /// The first list was asked for.
    pub fn begin(&mut self) {
        self.standing.begin();
    }

    /// There is no memory to go on with: streams end with an ERROR, and until a next list it is not ready. What is held stays.
    pub fn starve(&mut self, error: &Error, now: Millis, wall: Millis) {
        self.standing.starve(error, now);
        for id in self.listeners.dispatcher.ids() {
            self.fail(id, error);
        }
        self.standing.note_stale(!self.held.store().is_empty(), wall);
    }

    /// Closes for good: all streams end, all waits are cancelled, and the objects go, whoever still holds the cacher.
    pub fn close(&mut self, now: Millis) {
        if self.ready().is_stopped() {
            return; // to say so again would call whoever closes at each word, for ever
        }
        self.standing.close(now);
        self.freshness.cancel();
        self.listeners.close(self.held.version());
        self.held.clear(now);
    }

    // --------------------------------------------------------------------------------------- its numbers

    /// What the metrics read of this moment.
    pub fn metrics_now(&self) -> Now {
        let informers = self.informers().stats();
        let queued = (informers.running > 0).then_some(informers.queued);
        Now { version: self.version().clone(), capacity: self.window().capacity(), queued }
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> CacherStats {
        CacherStats {
            objects: self.store().len(),
            bytes: self.bytes(),
            events: self.events,
            lists: self.standing.lists(),
            history: self.window().len(),
            history_capacity: self.window().capacity(),
            history_bytes: self.window().bytes(),
            history_resizes: self.window().resizes(),
            dispatcher: self.dispatcher().stats(),
            views: self.views().len(),
            informers: self.informers().stats(),
        }
    }

    // --------------------------------------------------------------------------------------------- flushes

    /// Whether a flush would tell anything.
    pub fn has_output(&self) -> bool {
        self.standing.has_signals() || self.listeners.have_output()
    }

    /// What happened since the last flush, and whether more waits for another one. [`Cacher::flush_given`] follows when it has been told.
    pub fn take_flush(&mut self, clock: &dyn Fn() -> Millis) -> (Flush, bool) {
        let Listeners { views, informers, dispatcher } = &mut self.listeners;
        if dispatcher.take_overflowed() | informers.take_overflowed() {
            self.standing.overflowed();
        }
        let (outbox, more) = dispatcher.take_outbox();
        self.latency.flushed(clock);
        let notifications = informers.take();
        (Flush { outbox, views: views.take_changed(), signals: self.standing.take_signals(), notifications }, more)
    }

    /// A flush was told; whether there is something to tell to handlers that are done with it.
    pub fn flush_given(&mut self) -> bool {
        self.listeners.informers.given();
        self.listeners.informers.has_output()
    }

    // -------------------------------------------------------------------------------------------- watchers

    /// Has this field route events to watchers: whoever demands a value of it hears of changes with that value alone.
    pub fn set_trigger(&mut self, path: &Path) {
        let slot = self.fields.borrow_mut().slot(path);
        self.listeners.dispatcher.set_trigger(slot);
    }

    /// Parses a filter and registers the paths it reads.
    pub fn filter(&self, asked: FilterText<'_>) -> Result<Filter, Error> {
        Filter::new(asked, &mut self.fields.borrow_mut())
    }

    /// Parses and registers a watcher that has not started. The error is the refusal.
    pub fn register(&mut self, options: &WatchOptions) -> (WatcherId, Result<Start, Error>) {
        let filter = self.filter(FilterText {
            namespace: options.namespace.as_deref(),
            name: options.name.as_deref(),
            labels: options.label_selector.as_deref(),
            fields: options.field_selector.as_deref(),
        });
        let filter = filter.and_then(|filter| filter.with_shard(options.shard_selector.as_deref()));
        let checked = filter.and_then(|filter| Ok((filter, options.start()?)));
        let dispatcher = &mut self.listeners.dispatcher;
        match checked {
            Ok((filter, start)) => (dispatcher.add(filter), Ok(start)),
            Err(error) => (dispatcher.add(Filter::default()), Err(error)),
        }
    }

    /// Captures the initial events of a watcher and begins to dispatch to it, in one step.
    pub fn start_watch(&mut self, id: WatcherId, options: &WatchOptions, start: &Start, basis: &Basis, now: Millis) {
        let Some(filter) = self.dispatcher().get(id).map(|watcher| watcher.filter().clone()) else { return };
        let captured = Interval::capture(&self.held, &filter, options, start, basis, &self.fields.borrow());
        let interval = match captured {
            Ok(interval) => interval,
            Err(error) => return self.fail(id, &error),
        };
        self.metrics.init_events.add(interval.count as u64);
        let most = MAX_BUFFERED[match self.dispatcher().triggers(&filter) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        }];
        let capacity = options.buffer_size.unwrap_or_else(|| self.window().suggested_buffer(most)).max(1);
        let beginning = Beginning {
            interval: interval.events,
            gate: interval.gate,
            capacity,
            on_overflow: options.on_overflow,
            bookmarks: interval.bookmarks,
            deadline: options.deadline(now),
        };
        self.dispatcher_mut().start(id, beginning, now);
    }

    /// Ends a watcher that could not start with a direct error.
    pub fn refuse(&mut self, id: WatcherId, error: Error) {
        self.dispatcher_mut().refuse(id, error);
    }

    /// Ends a watcher with an ERROR event.
    pub fn fail(&mut self, id: WatcherId, error: &Error) {
        let status = error.status.as_deref().cloned().unwrap_or_else(|| Status::internal(error.message.clone()));
        self.listeners.dispatcher.fail(id, &status, self.held.version());
    }

    /// Ends a watcher at its user's wish.
    pub(super) fn stop_watch(&mut self, id: WatcherId) {
        self.listeners.dispatcher.end(id, EndReason::Stopped, self.held.version());
    }

    /// Ends the watchers that still have no room for what waits for them.
    pub(super) fn terminate_blocked(&mut self) {
        if self.listeners.dispatcher.terminate_blocked() > 0 {
            self.standing.overflowed();
        }
    }

    /// Sends bookmarks that are due and ends streams whose time is over. Returns whether some watcher needs another tick.
    pub(super) fn tick(&mut self, now: Millis) -> bool {
        self.listeners.dispatcher.tick(now, self.held.version())
    }

    // ----------------------------------------------------------------------------------------------- views

    /// Opens a live view. Over more than a few objects it begins without rows, see [`Cacher::build_views`].
    pub fn open_view(&mut self, options: &ViewOptions) -> Result<ViewId, Error> {
        let listed = self.standing.has_listed();
        self.listeners.views.open(options, self.held.store(), listed, &mut self.fields.borrow_mut())
    }

    /// Has a view take in what waits for it, and says whether it may show something else now.
    pub fn sync_view(&mut self, id: ViewId) -> bool {
        let listed = self.standing.has_listed();
        self.listeners.views.sync(id, listed, &self.fields.borrow())
    }

    /// Has views find some more of their rows and places; whether there are still more.
    pub fn build_views(&mut self, most: usize) -> bool {
        if self.has_views_to_build() {
            self.listeners.views.go_on(self.held.store(), most, &self.fields.borrow());
        }
        self.has_views_to_build()
    }

    /// Whether some view has still rows or places to find.
    pub(super) fn has_views_to_build(&self) -> bool {
        self.views().is_unfinished()
    }

    /// Whether views take more than when this was last asked, but for what changes have added.
    pub(super) fn views_have_grown(&mut self) -> bool {
        self.listeners.views.take_grown()
    }

    /// So much room is there: views that there was no memory for come back as far as it goes.
    pub(super) fn revive_views(&mut self, room: usize) {
        self.listeners.views.revive(room, self.held.store(), &self.fields.borrow());
    }

    // ------------------------------------------------------------------------------------------- informers

    /// Starts an informer. Returns whether it had not started.
    pub fn start_informer(&mut self, id: InformerId) -> bool {
        let state = self.standing.is_listed().then_some(self.held.store());
        self.listeners.informers.start(id, state, &self.fields.borrow())
    }

    /// Registers a handler with an informer.
    pub fn add_handler(&mut self, id: InformerId, options: HandlerOptions, now: Millis) -> Result<HandlerId, Error> {
        self.listeners.informers.add_handler(id, options, self.held.store(), &self.fields.borrow(), now)
    }

    /// Adds indexes to an informer.
    pub fn add_indexers(&mut self, id: InformerId, indexers: Vec<Indexer>) -> Result<(), Error> {
        self.listeners.informers.add_indexers(id, indexers, self.held.store(), &self.fields)
    }

    /// The objects whose values in an informer's index by a function are missing.
    pub fn undecided(&self, id: InformerId, index: &str, now: Millis) -> Vec<Rc<Object>> {
        self.informers().get(id).map(|informer| informer.undecided(index, self.store(), now)).unwrap_or_default()
    }

    /// The values of an object in such an index.
    pub fn decide(&mut self, id: InformerId, index: &str, key: &str, object: ObjectId, values: Vec<Rc<str>>) {
        if let Some(informer) = self.listeners.informers.get_mut(id) {
            informer.decide(index, key, object, values, self.held.store());
        }
    }

    /// Has the handlers of an informer whose resync is due hear of every object once more.
    pub(super) fn resync_informer(&mut self, id: InformerId, now: Millis) {
        self.listeners.informers.resync(id, self.held.store(), &self.fields.borrow(), now);
    }

    // ---------------------------------------------------------------------------------------------- memory

    /// Bytes held: the objects, the window, what it takes to keep them, and what is made of them or held back for somebody.
    pub fn bytes(&self) -> usize {
        self.held.bytes() + self.listeners.bytes()
    }

    /// Notes what everything takes now.
    pub(super) fn mark(&mut self) {
        self.held.mark();
        self.listeners.mark();
    }

    /// Who has grown most lately beside the objects, and by how many bytes.
    pub(super) fn grown(&self) -> (Grower, usize) {
        self.listeners.grown()
    }

    /// Ends a view, a watcher that does not take what waits for it, or an informer.
    pub(super) fn shed(&mut self, grower: Grower, error: &Error) {
        match grower {
            Grower::View(view) => self.listeners.views.fail(view, error.clone(), self.held.store()),
            Grower::Watcher(watcher) => self.listeners.dispatcher.cut(watcher, error.clone(), self.held.version()),
            Grower::Informer(informer) => self.listeners.informers.fail(informer, self.standing.phase(), error.clone()),
        }
        self.held.settle_strays();
    }
}
