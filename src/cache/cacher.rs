//! The cacher: one resource's state, kept by what the reflector sends, read and watched by everybody else.
//!
//! Everything here is synchronous: what must be one step (capturing initial events and registering the watcher; changing the store
//! and telling watchers and views) has no await in it.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::oneshot;

use crate::cache::freshness::Freshness;
use crate::cache::ready::Ready;
use crate::cache::status::ResourceStatus;
use crate::cache::waiters;
use crate::change::Change;
use crate::change::ChangeKind;
use crate::change::Difference;
use crate::connection::Connection;
use crate::connection::Phase;
use crate::growth::Growth;
use crate::informer::{InformerStats, Informers, Interruption, Interruptions};
use crate::json::fields::FieldSet;
use crate::message::{Message, Quarantined};
use crate::metrics::{Metrics, Now, Stage};
use crate::object::Object;
use crate::object::rest::Packer;
use crate::runtime::Millis;
use crate::selector::Filter;
use crate::status::{Error, ErrorCode};
use crate::store::Indexes;
use crate::store::{Replacement, Store, StoreListener};
use crate::store::{Window, WindowBounds};
use crate::version::Version;
use crate::view::Views;
use crate::watch::{Dispatcher, DispatcherStats};

/// Things a flush tells once, as bits.
pub mod signal {
    /// The status changed.
    pub const STATUS: u32 = 1;
    /// The first list is complete.
    pub const SYNCED: u32 = 2;
    /// A later list replaced the state.
    pub const RELIST: u32 = 4;
    /// A watcher or a handler did not keep up.
    pub const OVERFLOW: u32 = 8;
    /// An error was recorded in the status.
    pub const ERROR: u32 = 16;
}

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
    pub(crate) store: Store,
    pub(super) window: Window,
    /// Somebody asked for the next try, which has not ended.
    asked_again: bool,
    pub(super) packer: Packer,
    pub(super) version: Version,
    ready: Ready,
    freshness: Freshness,
    /// Watchers and what is ready for them.
    pub dispatcher: Dispatcher,
    /// Live views.
    pub views: Views,
    /// Informers and their handlers.
    pub informers: Informers,
    interruptions: Interruptions,
    pub(super) status: ResourceStatus,
    metrics: Rc<Metrics>,
    round_began: Millis,
    /// Of changes that were dispatched and not flushed: when they were read, when they were applied, to how many watchers they go.
    on_their_way: Vec<(Millis, Millis, u64)>,
    /// Of the objects, and what it takes to keep them.
    pub(super) growth: Growth,
    signals: u32,
    events: u64,
    lists: u64,
    sync_waiters: Vec<oneshot::Sender<Result<(), Error>>>,
    // Told by being dropped.
    opening_waiters: Vec<oneshot::Sender<()>>,
    list_waiters: Vec<oneshot::Sender<Result<(), Error>>>,
}

impl Cacher {
    /// An empty cacher that is not ready.
    pub fn new(fields: Rc<RefCell<FieldSet>>, bounds: WindowBounds, indexes: Indexes, now: Millis) -> Self {
        let metrics: Rc<Metrics> = Rc::default();
        Self {
            fields,
            store: Store::indexed(indexes),
            window: Window::new(bounds),
            asked_again: false,
            packer: Packer::default(),
            version: Version::ZERO,
            ready: Ready::new(now),
            freshness: Freshness::default(),
            dispatcher: Dispatcher::counting(metrics.clone()),
            metrics,
            views: Views::default(),
            informers: Informers::default(),
            interruptions: Interruptions::default(),
            status: ResourceStatus::new(),
            round_began: now,
            on_their_way: Vec::new(),
            growth: Growth::default(),
            signals: 0,
            events: 0,
            lists: 0,
            sync_waiters: Vec::new(),
            opening_waiters: Vec::new(),
            list_waiters: Vec::new(),
        }
    }

    /// Applies one message of the reflector. Returns whether watchers without room wait to be served before the next change.
    pub fn apply(&mut self, message: Message, now: Millis, wall: Millis) -> bool {
        if self.ready.is_stopped() {
            return false; // what was under way when it was closed
        }
        let interrupted = self.interruptions.hear(&message);
        let blocked = self.take_in(message, now, wall);
        if let Some((error, retry_at)) = interrupted {
            let stale = self.lists > 0 || !self.store.is_empty();
            self.informers.interrupted(Interruption { phase: self.status.phase, error, retry_at, stale, key: None, ended: None });
        }
        self.status.note_stale(self.lists > 0, !self.store.is_empty(), wall);
        while self.packer.is_pressed() && self.pack_next() {}
        blocked
    }

    fn take_in(&mut self, message: Message, now: Millis, wall: Millis) -> bool {
        match message {
            Message::RoundStarted => {
                self.round_began = now;
                self.dispatcher.end_round(&self.version);
            }
            Message::Page { objects, loaded, remaining } => self.page(&objects, loaded, remaining),
            Message::Replace { objects, version } => {
                let differences = self.store.replace(self.with_quarantined(objects));
                self.replaced(differences, version, now);
            }
            Message::Differences { mut differences, version } => {
                differences.retain(|one| one.after.is_some() || !one.before.as_ref().is_some_and(|held| self.is_quarantined(held)));
                self.store.apply(&differences);
                self.replaced(differences, version, now);
            }
            Message::Change { kind, object, at } => {
                self.metrics.dispatched(Stage::StorageToCache, now.saturating_sub(at), 1);
                return self.change(kind, object, at, now, wall);
            }
            Message::Bookmark(version) => self.bookmark(version, wall),
            Message::Quarantine(all) => self.quarantine(all),
            Message::RoundEnded(error) => {
                // An expired version is how long sleeps end, and no error.
                if error.as_ref().is_some_and(|error| error.code != ErrorCode::Expired) {
                    self.metrics.initialization_errors.inc();
                }
                self.ready.set_error(error.as_ref(), now);
            }
            Message::Connection(connection) => self.connection(connection),
        }
        false
    }

    fn page(&mut self, objects: &[Rc<Object>], loaded: usize, remaining: Option<u64>) {
        self.status.listed = Some((loaded, remaining));
        self.status.phase = if self.lists == 0 { Phase::Listing } else { Phase::Relisting };
        self.signals |= signal::STATUS;
        for object in objects {
            // A first list that is tried again brings what is shown already: it keeps its identity. So does what a relist finds unchanged.
            let same = self.store.get(object.key()).filter(|held| held.version() == object.version());
            self.packer.listed(object, same);
            if same.is_some() || self.lists > 0 {
                continue; // a relist shows nothing before it is whole
            }
            let previous = self.store.upsert(object.clone());
            self.views.appeared(previous.as_ref(), object, &self.fields.borrow());
            self.informers.appeared(previous.as_ref(), object, &self.fields.borrow());
        }
        while self.packer.is_behind() && self.pack_next() {}
    }

    /// Objects of a list that was not told yet: it may take as long as the list to tell of them, and what waits to be told takes no more
    /// memory than what rests. Nobody hears of them.
    pub(super) fn arriving(&mut self, objects: &[Rc<Object>]) {
        if self.ready.is_stopped() {
            return;
        }
        for object in objects {
            self.packer.listed(object, self.store.get(object.key()).filter(|held| held.version() == object.version()));
        }
        while self.packer.is_behind() && self.pack_next() {}
    }

    /// A whole list has replaced what was held.
    fn replaced(&mut self, differences: Vec<Difference>, version: Version, now: Millis) {
        let replacement = Replacement { differences: &differences, store: &self.store, from: &self.version, to: &version, at: now };
        let fields = self.fields.borrow();
        self.views.replaced(&replacement, &fields);
        self.informers.replaced(&replacement, &fields);
        self.dispatcher.replaced(&replacement, &fields);
        drop(fields);
        for after in differences.iter().filter_map(|difference| difference.after.as_ref()) {
            self.packer.listed(after, None);
        }
        self.signals |= signal::STATUS | if self.lists == 0 { signal::SYNCED } else { signal::RELIST };
        differences.iter().filter_map(|difference| difference.before.as_ref()).for_each(|gone| self.window.strays.let_go(gone));
        drop(differences);
        if self.lists == 0 {
            self.status.phase = Phase::Listing; // also where it came without pages
        }
        self.lists += 1;
        self.metrics.initializations.inc();
        #[allow(clippy::cast_precision_loss)]
        self.metrics.initialization_duration.set(now.saturating_sub(self.round_began) as f64 / 1000.0);
        self.status.listed = None;
        self.window.reset(version.clone(), now);
        self.advance(version);
        self.ready.set_ready(now);
        for waiter in self.sync_waiters.drain(..).chain(self.list_waiters.drain(..)) {
            let _gone = waiter.send(Ok(()));
        }
    }

    fn quarantine(&mut self, all: Vec<Quarantined>) {
        let known = std::mem::replace(&mut self.status.quarantined, all);
        self.signals |= signal::STATUS;
        for entry in self.status.quarantined.iter().filter(|entry| !known.iter().any(|other| other.key == entry.key)) {
            self.signals |= signal::ERROR;
            self.informers.interrupted(Interruption {
                phase: self.status.phase,
                error: entry.error.clone(),
                retry_at: None,
                stale: self.store.iter().any(|held| entry.is(held)),
                key: Some(entry.key.clone()),
                ended: None,
            });
        }
    }

    fn change(&mut self, kind: ChangeKind, mut object: Rc<Object>, at: Millis, now: Millis, wall: Millis) -> bool {
        if *object.version() <= self.version {
            // The reflector refuses what goes backwards; were it to slip through, nobody may see it.
            self.signals |= signal::ERROR;
            self.status.error = Some(Error::new(
                ErrorCode::Internal,
                format!("a change at version {} arrived after version {}", object.version(), self.version),
            ));
            return false;
        }
        let previous = match kind {
            ChangeKind::Deleted => self.store.remove(object.key()),
            ChangeKind::Added | ChangeKind::Modified => self.store.put(&mut object),
        };
        let change = Change { kind, object, previous, at: now };
        self.views.changed(&change, &self.fields.borrow());
        self.informers.changed(&change, &self.fields.borrow());
        self.events += 1;
        self.metrics.events_received.inc();
        self.status.last_event_at = Some(wall);
        self.advance(change.version().clone());
        let delivered = self.dispatcher.delivered();
        self.dispatcher.changed(&change, &self.fields.borrow());
        let blocked = self.dispatcher.is_blocked();
        let deliveries = self.dispatcher.delivered() - delivered;
        if deliveries > 0 {
            self.on_their_way.push((at, now, deliveries));
        }
        self.packer.stored(&change.object);
        if let Some(previous) = &change.previous {
            self.packer.replaced(previous, &change.object);
        }
        if self.window.lacks_room(&change) {
            // What can be packed need not be given up.
            while self.packs(Packer::pack_replaced) {}
        }
        let capacity = self.window.capacity();
        self.window.push(change);
        self.metrics.capacity_changed(capacity, self.window.capacity());
        blocked
    }

    /// What was dispatched is handed to the subscribers by a flush at this moment.
    pub fn flushed(&mut self, clock: &dyn Fn() -> Millis) {
        if self.on_their_way.is_empty() {
            return; // a look at the clock crosses into JavaScript
        }
        let now = clock();
        for (at, applied, deliveries) in self.on_their_way.drain(..) {
            self.metrics.dispatched(Stage::CacheToWatcher, now.saturating_sub(applied), deliveries);
            self.metrics.dispatched(Stage::Total, now.saturating_sub(at), deliveries);
        }
    }

    fn bookmark(&mut self, version: Version, wall: Millis) {
        self.status.last_event_at = Some(wall);
        self.metrics.events_dispatched.inc();
        if version > self.version {
            self.advance(version);
        }
    }

    fn connection(&mut self, connection: Connection) {
        if self.status.phase == Phase::Closed {
            return;
        }
        let refused = match &connection {
            Connection::NeedsAuth { error, .. } | Connection::Failed { error, .. } => Some(error.clone()),
            _ => None,
        };
        let told = self.status.phase == Phase::Failed && self.status.error == refused;
        // A mistake is told once, however often somebody wants it tried again.
        let known = told && matches!(connection, Connection::Failed { retry_at: None, .. });
        let erred = refused.is_some() && !known || matches!(connection, Connection::Waiting { .. });
        self.signals |= signal::STATUS | if erred { signal::ERROR } else { 0 };
        self.asked_again &= matches!(connection, Connection::Listing { .. });
        self.status.connection(connection);
        if !self.status.is_opening() {
            self.opening_waiters.clear();
        }
        if let Some(error) = refused {
            for waiter in self.sync_waiters.drain(..) {
                let _gone = waiter.send(Err(error.clone()));
            }
            self.ready.refused();
        }
    }

    fn advance(&mut self, version: Version) {
        self.freshness.reached(&version);
        self.version = version;
    }

    /// The objects that pass a filter, in key order.
    pub fn select<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = Rc<Object>> + 'a {
        let fields = self.fields.clone();
        let objects = self.store.namespace(filter.scope_namespace());
        objects.filter(move |object| filter.passes(object, &fields.borrow())).cloned()
    }

    /// Closes for good: all streams end, all waits are cancelled, and the objects go, whoever still holds the cacher.
    pub fn close(&mut self, now: Millis) {
        if self.ready.is_stopped() {
            return; // to say so again would call whoever closes at each word, for ever
        }
        self.ready.stop(now);
        self.freshness.cancel();
        self.dispatcher.reset(&self.version);
        self.status.phase = Phase::Closed;
        self.status.retry_at = None;
        self.signals |= signal::STATUS;
        self.store.clear();
        self.window.reset(self.version.clone(), now);
        self.views.reset(&self.version);
        self.packer = Packer::default();
        self.informers.reset(&self.version);
        for waiter in self.sync_waiters.drain(..).chain(self.list_waiters.drain(..)) {
            let _gone = waiter.send(Err(Error::closed()));
        }
        self.opening_waiters.clear();
        (self.status.stale, self.status.stale_since) = (false, None);
    }

    /// Why the list will not come for now: the server says no, or there is no room for it.
    pub(super) fn refusal(&self) -> Option<&Error> {
        self.status.error.as_ref().filter(|_| !self.asked_again && matches!(self.status.phase, Phase::NeedsAuth | Phase::Failed))
    }

    /// A user asked for the next try: whoever asks from now on hears how that one ends.
    pub(super) fn ask_again(&mut self) {
        self.asked_again = true;
    }

    /// Completes when the first list is applied; fails when the server refuses it or the cache is closed.
    pub fn wait_synced(&mut self) -> oneshot::Receiver<Result<(), Error>> {
        let (sender, receiver) = oneshot::channel();
        if self.ready.is_stopped() {
            let _gone = sender.send(Err(Error::closed()));
        } else if self.lists > 0 {
            let _gone = sender.send(Ok(()));
        } else if let Some(error) = self.refusal() {
            let _gone = sender.send(Err(error.clone()));
        } else {
            waiters::add(&mut self.sync_waiters, sender, oneshot::Sender::is_canceled);
        }
        receiver
    }

    /// Ends when it is known how the connection stands; none where it is.
    pub fn wait_opened(&mut self) -> Option<oneshot::Receiver<()>> {
        self.status.is_opening().then(|| {
            let (sender, receiver) = oneshot::channel();
            waiters::add(&mut self.opening_waiters, sender, oneshot::Sender::is_canceled);
            receiver
        })
    }

    /// Completes when the next list is applied; fails when the cache is closed.
    pub fn wait_listed(&mut self) -> oneshot::Receiver<Result<(), Error>> {
        let (sender, receiver) = oneshot::channel();
        if self.ready.is_stopped() {
            let _gone = sender.send(Err(Error::closed()));
        } else {
            waiters::add(&mut self.list_waiters, sender, oneshot::Sender::is_canceled);
        }
        receiver
    }

    /// Parses a filter and registers the paths it reads.
    pub fn filter(&self, namespace: Option<&str>, label_selector: Option<&str>, field_selector: Option<&str>) -> Result<Filter, Error> {
        Filter::new(namespace, None, label_selector, field_selector, &mut self.fields.borrow_mut())
    }

    /// The wanted paths.
    pub fn fields(&self) -> &Rc<RefCell<FieldSet>> {
        &self.fields
    }

    /// What is counted here; whoever counts keeps a clone.
    pub fn metrics(&self) -> &Rc<Metrics> {
        &self.metrics
    }

    /// What the metrics read of this moment.
    pub fn metrics_now(&self) -> Now {
        let informers = self.informers.stats();
        let queued = (informers.running > 0).then_some(informers.queued);
        Now { version: self.version.clone(), capacity: self.window.capacity(), queued }
    }

    /// Whether a list has been applied.
    pub fn has_listed(&self) -> bool {
        self.lists > 0
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The recent changes.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The version reached.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Whether it can answer.
    pub fn ready(&mut self) -> &mut Ready {
        &mut self.ready
    }

    /// Who waits for a version.
    pub fn freshness(&mut self) -> &mut Freshness {
        &mut self.freshness
    }

    /// What people see of it.
    pub fn status(&self) -> ResourceStatus {
        let mut status = self.status.clone();
        status.resource_version = (self.lists > 0).then(|| self.version.clone());
        // Whatever else is well: of these objects nobody knows how they stand.
        status.error = status.error.or_else(|| status.quarantined.last().map(|entry| entry.error.clone()));
        status
    }

    /// Whether a list was complete, and what it led to is held.
    pub fn is_listed(&self) -> bool {
        self.lists > 0 && self.status.phase != Phase::Closed
    }

    /// The first list was asked for.
    pub fn begin(&mut self) {
        if self.status.phase == Phase::Idle {
            self.status.phase = Phase::Loading;
            self.signals |= signal::STATUS;
        }
    }

    /// There is no memory to go on with: streams end with an ERROR, and until a next list it is not ready. What is held stays.
    pub fn starve(&mut self, error: &Error, now: Millis, wall: Millis) {
        self.asked_again = false;
        self.status.phase = Phase::Failed;
        self.status.retry_at = None;
        self.status.listed = None;
        self.record_error(error.clone());
        self.ready.set_error(Some(error), now);
        for id in self.dispatcher.ids() {
            self.fail(id, error);
        }
        for waiter in self.sync_waiters.drain(..).chain(self.list_waiters.drain(..)) {
            let _gone = waiter.send(Err(error.clone()));
        }
        self.ready.refused();
        self.opening_waiters.clear();
        self.status.note_stale(self.lists > 0, !self.store.is_empty(), wall);
    }

    /// Notes an error in the status, and has it told.
    pub fn record_error(&mut self, error: Error) {
        self.status.error = Some(error);
        self.signals |= signal::STATUS | signal::ERROR;
    }

    /// Adds a signal to the next flush.
    pub fn signal(&mut self, bits: u32) {
        self.signals |= bits;
    }

    /// Takes the signals of this flush.
    pub fn take_signals(&mut self) -> u32 {
        std::mem::take(&mut self.signals)
    }

    /// Whether a flush would tell anything.
    pub fn has_output(&self) -> bool {
        self.signals != 0 || self.dispatcher.has_output() || self.views.has_changes() || self.informers.has_output()
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> CacherStats {
        CacherStats {
            objects: self.store.len(),
            bytes: self.bytes(),
            events: self.events,
            lists: self.lists,
            history: self.window.len(),
            history_capacity: self.window.capacity(),
            history_bytes: self.window.bytes(),
            history_resizes: self.window.resizes(),
            dispatcher: self.dispatcher.stats(),
            views: self.views.len(),
            informers: self.informers.stats(),
        }
    }
}
