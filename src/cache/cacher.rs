//! The cacher: one resource's state, kept by what the reflector sends, read and watched by everybody else.
//!
//! Everything here is synchronous. What a watcher begins with is captured, and the watcher is registered, in one step without an
//! await. So is the store changed and its observers told.

use std::cell::RefCell;
use std::rc::Rc;

use futures::channel::mpsc::UnboundedReceiver;
use rustc_hash::FxHashMap;

use crate::cache::availability::Availability;
use crate::cache::flush::Flush;
use crate::cache::freshness::Freshness;
use crate::cache::held::Held;
use crate::cache::informing::Informing;
use crate::cache::latency::Latency;
use crate::cache::memory::Grower;
use crate::cache::observers::Observers;
use crate::cache::stats::CacherStats;
use crate::cache::status::ResourceStatus;
use crate::cache::viewing::Viewing;
use crate::cache::watching::Watching;
use crate::change::{ChangeKind, Difference};
use crate::connection::Connection;
use crate::informer::{Informers, Interruption, Interruptions, Stops};
use crate::json::fields::FieldSet;
use crate::message::{Message, Quarantined, Restored};
use crate::metrics::{Metrics, Now};
use crate::object::Object;
use crate::object::rest::Origin;
use crate::source::{History, Standing};
use crate::status::{Error, ErrorCode};
use crate::store::{Indexes, Replacement, Store, StoreObserver, WindowBounds};
use crate::time::{Instant, WallTime};
use crate::version::Version;
use crate::view::Views;
use crate::watch::Dispatcher;

/// The state of one resource.
pub struct Cacher {
    fields: Rc<RefCell<FieldSet>>,
    held: Held,
    observers: Observers,
    availability: Availability,
    freshness: Freshness,
    interruptions: Interruptions,
    latency: Latency,
    metrics: Rc<Metrics>,
    round_began: Instant,
    events: u64,
    local: bool,
    /// The first of these numbers.
    local_from: Option<Version>,
    /// How far each branch is by its own versions, where what is held of it is a state of its own.
    reached: FxHashMap<Rc<str>, Version>,
}

/// A change, as its message tells it.
struct Arrived {
    kind: ChangeKind,
    object: Rc<Object>,
    version: Version,
    at: Instant,
}

impl Cacher {
    /// An empty cacher that is not ready.
    pub fn new(fields: Rc<RefCell<FieldSet>>, bounds: WindowBounds, indexes: Indexes, now: Instant) -> Self {
        let metrics: Rc<Metrics> = Rc::default();
        Self {
            fields,
            held: Held::new(bounds, indexes),
            observers: Observers::new(metrics.clone()),
            availability: Availability::new(now),
            freshness: Freshness::default(),
            interruptions: Interruptions::default(),
            latency: Latency::new(metrics.clone()),
            metrics,
            round_began: now,
            events: 0,
            local: false,
            local_from: None,
            reached: FxHashMap::default(),
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

    /// The objects of a parcel: see [`Held::open`].
    pub(super) fn open(&mut self, parcel: &[u8], origin: Origin) -> Result<Vec<Rc<Object>>, Error> {
        let fields = self.fields.borrow().len();
        self.held.open(parcel, origin, fields)
    }

    /// The objects.
    pub fn store(&self) -> &Store {
        self.held.store()
    }

    /// The version reached.
    pub fn version(&self) -> &Version {
        self.held.version()
    }

    /// Of which history it is.
    pub fn history(&self) -> History {
        self.held.history()
    }

    /// The next state is to be taken whatever its version, by who shares it as well.
    pub(super) fn reset(&mut self) {
        self.held.history_mut().reset();
    }

    /// Live views.
    pub fn views(&self) -> &Views {
        &self.observers.views
    }

    /// The same, to change them.
    pub fn views_mut(&mut self) -> &mut Views {
        &mut self.observers.views
    }

    /// Informers and their handlers.
    pub fn informers(&self) -> &Informers {
        &self.observers.informers
    }

    /// The same, to change them.
    pub fn informers_mut(&mut self) -> &mut Informers {
        &mut self.observers.informers
    }

    /// Watchers and what is ready for them.
    pub fn dispatcher(&self) -> &Dispatcher {
        &self.observers.dispatcher
    }

    /// The same, to change them.
    pub fn dispatcher_mut(&mut self) -> &mut Dispatcher {
        &mut self.observers.dispatcher
    }

    /// The views, with the state that they show.
    pub fn viewing(&mut self) -> Viewing<'_> {
        let Self { observers, held, fields, availability, .. } = self;
        Viewing { views: &mut observers.views, store: held.store(), fields, holds_list: availability.holds_list() }
    }

    /// The informers, with the state that they tell of.
    pub fn informing(&mut self) -> Informing<'_> {
        let Self { observers, held, fields, availability, .. } = self;
        Informing { informers: &mut observers.informers, store: held.store(), fields, is_confirmed: availability.is_confirmed() }
    }

    /// The watchers, with the state that they watch.
    pub fn watching(&mut self) -> Watching<'_> {
        let Self { observers, held, fields, metrics, .. } = self;
        Watching { dispatcher: &mut observers.dispatcher, held, fields, metrics }
    }

    /// Its connection, and whether it can answer.
    pub fn availability(&self) -> &Availability {
        &self.availability
    }

    /// The same, to wait for it or to note an error.
    pub fn availability_mut(&mut self) -> &mut Availability {
        &mut self.availability
    }

    /// What becomes of its stream, for who shares it: how it stands, if it is not live, and what follows.
    pub fn follow(&mut self) -> UnboundedReceiver<Standing> {
        self.availability.follow(self.held.store().iter().cloned())
    }

    /// What people see of it.
    pub fn status(&self) -> ResourceStatus {
        self.availability.status(self.version())
    }

    /// Who waits for a version.
    pub fn freshness_mut(&mut self) -> &mut Freshness {
        &mut self.freshness
    }

    /// The versions of changes are numbers of our own, and not those of their objects.
    pub fn set_local(&mut self) {
        self.local = true;
        self.held.set_local();
        self.availability.set_joined();
    }

    /// The first of these numbers, once there is one.
    pub fn local_from(&self) -> Option<&Version> {
        self.local_from.as_ref()
    }

    /// The version of a branch of which the state is held.
    pub(super) fn reached(&self, namespace: &str) -> Option<&Version> {
        self.reached.get(namespace)
    }

    fn advance_branch(&mut self, object: &Object) {
        if let Some(reached) = self.reached.get_mut(object.namespace())
            && object.version() > reached
        {
            *reached = object.version().clone();
        }
    }

    /// Whether they are.
    pub fn is_local(&self) -> bool {
        self.local
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
    pub fn apply(&mut self, message: Message, now: Instant, wall: WallTime) -> bool {
        if self.availability.ready().is_stopped() {
            return false; // what was under way when it was closed
        }
        let interrupted = self.interruptions.hear(&message);
        let blocked = self.take_in(message, now, wall);
        self.availability.note_stale(!self.held.store().is_empty(), wall);
        if let Some((error, stops)) = interrupted {
            self.interrupted(stops, error, self.availability.is_stale());
        }
        self.held.relieve();
        blocked
    }

    fn take_in(&mut self, message: Message, now: Instant, wall: WallTime) -> bool {
        match message {
            Message::RoundStarted => {
                self.round_began = now;
                self.observers.dispatcher.end_round(self.held.version());
            }
            Message::Page { objects, loaded, remaining } => {
                self.availability.page(&objects, loaded, remaining);
                self.show(&objects, &[]);
            }
            Message::Shown { objects, gone, listed } => {
                match listed {
                    Some(listed) => self.availability.shown(listed),
                    None => self.availability.heard(wall),
                }
                self.show(&objects, &gone);
                objects.iter().chain(&gone).for_each(|object| self.advance_branch(object));
            }
            Message::Restoring(at) => self.availability.restoring(at),
            Message::Restored(Restored { objects, version, at }) => {
                let differences = self.held.replace(objects, &[]);
                self.restored(differences, version, now);
                self.availability.restored(at);
            }
            Message::Replace { objects, version } => {
                self.availability.settled();
                let differences = self.held.replace(objects, self.availability.quarantined());
                self.replaced(differences, version, now);
                self.availability.listed(wall);
            }
            Message::Differences { differences, version } => {
                self.availability.settled();
                let differences = self.held.apply(differences, self.availability.quarantined());
                self.replaced(differences, version, now);
                self.availability.listed(wall);
            }
            Message::Change { kind, object, version, at } => {
                self.latency.applied(at, now);
                return self.change(Arrived { kind, object, version, at }, now, wall);
            }
            Message::Bookmark(version) => self.bookmark(version, wall),
            Message::Quarantine(all) => {
                let new = self.availability.quarantine(all);
                self.tell_quarantined(new);
            }
            Message::SetApart(all) => {
                let new = self.availability.set_apart(all);
                self.tell_quarantined(new);
            }
            Message::Compacted(version) => self.compact(version),
            Message::RoundEnded(error) => {
                // An expired version is how long sleeps end, and no error.
                if error.as_ref().is_some_and(|error| error.code != ErrorCode::Expired) {
                    self.metrics.initialization_errors.inc();
                }
                self.availability.round_ended(error.as_ref(), now);
            }
            Message::Connection(connection) => {
                let is_live = connection == Connection::Live;
                self.availability.connection(connection);
                if is_live && self.availability.confirmed(now) {
                    self.confirmed(now);
                }
            }
            Message::Branches(all) => {
                if let Some((error, retry_at)) = self.availability.branches(all) {
                    self.interrupted(Stops::Stream { retry_at }, error, self.availability.is_stale());
                }
            }
            Message::Reached { namespace, version } => match version {
                Some(version) => drop(self.reached.insert(namespace, version)),
                None => drop(self.reached.remove(&namespace)),
            },
            Message::Refreshed => self.availability.refreshed(),
        }
        false
    }

    fn show(&mut self, objects: &[Rc<Object>], gone: &[Rc<Object>]) {
        // A relist shows nothing before it is whole.
        let shows = !self.availability.holds_list();
        for object in objects {
            let known = self.held.same_version(object).cloned();
            self.held.pack_later(object, known.as_ref());
            // A first list that is tried again brings what is shown already.
            if !shows || known.is_some() {
                continue;
            }
            let previous = self.held.show(object);
            self.observers.shown(previous.as_ref(), Some(object), &self.fields.borrow());
        }
        for object in gone.iter().filter(|_| shows) {
            let previous = self.held.hide(object);
            self.observers.shown(previous.as_ref(), None, &self.fields.borrow());
        }
        self.held.pack_arrived();
    }

    /// Objects of a list that was not told yet. They may wait as long as the list takes, and meanwhile take no more memory than what rests.
    /// Nobody hears of them.
    pub(super) fn arriving(&mut self, objects: &[Rc<Object>]) {
        if self.availability.ready().is_stopped() {
            return;
        }
        for object in objects {
            let known = self.held.same_version(object).cloned();
            self.held.pack_later(object, known.as_ref());
        }
        self.held.pack_arrived();
    }

    /// A whole list has replaced what was held.
    fn replaced(&mut self, differences: Vec<Difference>, version: Version, now: Instant) {
        let (store, from) = (self.held.store(), self.held.version());
        let list = Replacement { differences: &differences, store, from, to: &version, at: now };
        self.observers.replaced(&list, &self.fields.borrow());
        if self.local && self.local_from.is_none() {
            self.local_from = Some(version.clone());
        }
        self.held.replaced(differences, version, now);
        self.freshness.reached(self.held.version());
        self.metrics.initializations.inc();
        #[allow(clippy::cast_precision_loss)]
        self.metrics.initialization_duration.set(now.since(self.round_began) as f64 / 1000.0);
        self.availability.list_applied(now);
    }

    /// What was kept is held again. Views show it. Informers and watchers begin when the server has confirmed it.
    fn restored(&mut self, differences: Vec<Difference>, version: Version, now: Instant) {
        let (store, from) = (self.held.store(), self.held.version());
        let list = Replacement { differences: &differences, store, from, to: &version, at: now };
        let fields = self.fields.borrow();
        self.observers.views.replaced(&list, &fields);
        for object in differences.iter().filter_map(|one| one.after.as_ref()) {
            self.observers.informers.shown(None, Some(object), &fields);
        }
        drop(fields);
        self.held.replaced(differences, version, now);
    }

    /// What was restored is a state of the server.
    fn confirmed(&mut self, now: Instant) {
        let (store, version) = (self.held.store(), self.held.version());
        let list = Replacement { differences: &[], store, from: version, to: version, at: now };
        self.observers.informers.replaced(&list, &self.fields.borrow());
        self.freshness.reached(self.held.version());
    }

    fn tell_quarantined(&mut self, new: Vec<Quarantined>) {
        for entry in new {
            let stale = self.held.store().iter().any(|held| entry.is(held));
            self.interrupted(Stops::Object(entry.key), entry.error, stale);
        }
    }

    fn interrupted(&mut self, stops: Stops, error: Error, stale: bool) {
        self.observers.informers.interrupted(Interruption { stops, phase: self.availability.phase(), error, stale });
    }

    fn change(&mut self, arrived: Arrived, now: Instant, wall: WallTime) -> bool {
        let Arrived { kind, object, version, at } = arrived;
        if version <= *self.version() {
            self.availability.refuse_change(&version, self.held.version());
            return false;
        }
        self.advance_branch(&object);
        let change = self.held.change(kind, object, version, now);
        let delivered = self.observers.dispatcher.delivered();
        let blocked = self.observers.changed(&change, &self.fields.borrow());
        self.latency.dispatched(at, now, self.observers.dispatcher.delivered() - delivered);
        self.events += 1;
        self.metrics.events_received.inc();
        self.availability.heard(wall);
        self.freshness.reached(change.version());
        self.held.record(change, &self.metrics);
        blocked
    }

    fn bookmark(&mut self, version: Version, wall: WallTime) {
        self.availability.heard(wall);
        // It is not dispatched, but counts so: the apiserver counts whatever its cacher hands on, and its bookmarks pass there too.
        self.metrics.events_dispatched.inc();
        if version > *self.version() {
            self.freshness.reached(&version);
            self.held.advance(version);
        }
    }

    /// The upstream has compacted what lies before this version: past states before it are served no longer, here and by who shares the stream.
    pub fn compact(&mut self, version: Version) {
        self.held.compact(&version);
        self.availability.compacted(version);
    }

    // -------------------------------------------------------------------------------------------- its life

    /// There is no memory to go on with: streams end with an ERROR, and until a next list it is not ready. What is held stays.
    pub fn starve(&mut self, error: &Error, now: Instant, wall: WallTime) {
        self.availability.starve(error, now);
        self.reached.clear();
        self.watching().fail_all(error);
        self.availability.note_stale(!self.held.store().is_empty(), wall);
    }

    /// Closes for good: all streams end, all waits are cancelled, and the objects go, whoever still holds the cacher.
    pub fn close(&mut self, now: Instant) {
        if self.availability.ready().is_stopped() {
            return; // to say so again would call whoever closes at each word, for ever
        }
        self.availability.close(now);
        self.freshness.cancel();
        self.observers.close(self.held.version());
        self.held.clear(now);
    }

    // --------------------------------------------------------------------------------------- its numbers

    /// What the metrics read of this moment.
    pub fn metrics_now(&self) -> Now {
        let informers = self.informers().stats();
        let queued = (informers.running > 0).then_some(informers.queued);
        Now { version: self.version().clone(), capacity: self.held.window().capacity(), queued }
    }

    /// Numbers for `stats`.
    pub fn stats(&self) -> CacherStats {
        CacherStats::of(&self.held, &self.observers, &self.availability, self.events)
    }

    // --------------------------------------------------------------------------------------------- flushes

    /// Whether a flush would tell anything.
    pub fn has_output(&self) -> bool {
        self.availability.has_signals() || self.observers.have_output()
    }

    /// What happened since the last flush, and whether more waits for another one. [`Cacher::flush_given`] follows when it has been told.
    pub fn take_flush(&mut self, clock: &dyn Fn() -> Instant) -> (Flush, bool) {
        let Observers { views, informers, dispatcher } = &mut self.observers;
        if dispatcher.take_overflowed() | informers.take_overflowed() {
            self.availability.overflowed();
        }
        let (outbox, more) = dispatcher.take_outbox();
        self.latency.flushed(clock);
        let notifications = informers.take();
        (Flush { outbox, views: views.take_changed(), signals: self.availability.take_signals(), notifications }, more)
    }

    /// A flush was told; whether there is something to tell to handlers that are done with it.
    pub fn flush_given(&mut self) -> bool {
        self.observers.informers.given();
        self.observers.informers.has_output()
    }

    // ---------------------------------------------------------------------------------------------- memory

    /// Bytes held: the objects, the window, what it takes to keep them, and what is made of them or held back for somebody.
    pub fn bytes(&self) -> usize {
        self.held.bytes() + self.observers.bytes()
    }

    /// Notes what everything takes now.
    pub(super) fn note_bytes(&mut self) {
        self.held.note_bytes();
        self.observers.note_bytes();
    }

    /// Who has grown most lately beside the objects, and by how many bytes.
    pub(super) fn grown(&self) -> (Grower, usize) {
        self.observers.grown()
    }

    /// Memory is short: JavaScript is to let go of the decoded versions that it holds for their successors. They count no more.
    pub(super) fn let_go_decoded(&mut self) {
        if self.held.pins().let_go() {
            self.availability.let_go();
        }
    }

    /// Ends a view, a watcher that does not take what waits for it, or an informer.
    pub(super) fn shed(&mut self, grower: Grower, error: &Error) {
        match grower {
            Grower::View(view) => self.observers.views.fail(view, error.clone(), self.held.store()),
            Grower::Watcher(watcher) => self.observers.dispatcher.cut(watcher, error.clone(), self.held.version()),
            Grower::Informer(informer) => self.observers.informers.fail(informer, self.availability.phase(), error.clone()),
        }
        self.held.sift_strays();
    }
}
