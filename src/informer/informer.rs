//! One informer: where it stands in its life, its handlers and indexes, and what its readers see.

use std::rc::Rc;

use crate::growth::Growth;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::runtime::Task;
use crate::status::{Error, ErrorCode};
use crate::store::{Fields, Store};
use crate::time::{Instant, Millis};

use super::id::HandlerId;
use super::indexer::{Indexer, Indexers};
use super::overlay::Overlay;
use super::resync::{CheckPeriod, Resync};

/// How an informer is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct InformerOptions {
    /// How often handlers are told everything once more, in milliseconds, where they ask for nothing else. 0 is never, for any of them.
    pub resync_period: Millis,
    /// Whether a relist also tells of objects that it brought at the version held, as client-go does. It tells the handlers whose resync is due.
    pub relist_updates: bool,
    /// Whether readers see what was written through the resource before the stream brings it.
    pub read_your_writes: bool,
}

/// An informer over a store.
pub struct Informer {
    options: InformerOptions,
    startup: Startup,
    life: Life,
    check: CheckPeriod,
    // In the order of their registration.
    handlers: Vec<HandlerId>,
    indexes: Indexers,
    overlay: Option<Overlay>,
    growth: Growth,
}

/// How far an informer has come. That stays so after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Startup {
    /// It has not started.
    New,
    /// It waits for its first state.
    Started,
    /// The first state is there, and in the queue of every handler of that moment.
    Synced,
    /// That was told.
    SyncTold,
}

/// Whether an informer goes on.
enum Life {
    /// It does. The task looks after its resyncs, and ends with it.
    Open { _resyncs: Option<Task> },
    /// It has ended, and never starts again.
    Stopped,
}

impl Informer {
    /// An informer that has not started.
    pub(super) fn new(options: InformerOptions) -> Self {
        Self {
            options,
            startup: Startup::New,
            life: Life::Open { _resyncs: None },
            check: CheckPeriod::new(options.resync_period),
            handlers: Vec::new(),
            indexes: Indexers::default(),
            overlay: options.read_your_writes.then(Overlay::default),
            growth: Growth::default(),
        }
    }

    // ------------------------------------------------------------------------------------------------- its life

    /// Whether it has started; that stays so after its end.
    pub fn is_started(&self) -> bool {
        self.startup > Startup::New
    }

    /// Whether it has ended. It never starts again.
    pub fn is_stopped(&self) -> bool {
        matches!(self.life, Life::Stopped)
    }

    /// Whether its first state is there and queued for each handler of that moment.
    pub fn has_synced(&self) -> bool {
        self.startup >= Startup::Synced
    }

    /// Whether it has started and not ended.
    pub(super) fn is_running(&self) -> bool {
        self.is_started() && !self.is_stopped()
    }

    /// Whether its handlers are told of changes: they have the first state.
    pub(super) fn distributes(&self) -> bool {
        self.has_synced() && !self.is_stopped()
    }

    /// Whether a relist tells its handlers of what it did not change.
    pub(super) fn tells_unchanged(&self) -> bool {
        self.options.relist_updates
    }

    /// Starts it. Returns whether it had not started, nor ended.
    pub(super) fn start(&mut self) -> bool {
        if self.is_started() || self.is_stopped() {
            return false;
        }
        self.startup = Startup::Started;
        self.check.start();
        true
    }

    /// Its first state is there.
    pub(super) fn sync(&mut self) {
        self.startup = self.startup.max(Startup::Synced);
    }

    /// Whether its sync is to be told now; told once.
    pub(super) fn tell_synced(&mut self) -> bool {
        let tell = self.startup == Startup::Synced && !self.is_stopped();
        if tell {
            self.startup = Startup::SyncTold;
        }
        tell
    }

    /// Ends it for good, and gives up its handlers.
    pub(super) fn stop(&mut self) -> Vec<HandlerId> {
        self.life = Life::Stopped;
        std::mem::take(&mut self.handlers)
    }

    /// Looks after its resyncs from now on, until it ends.
    pub(crate) fn look_after_resyncs(&mut self, task: Task) {
        if let Life::Open { _resyncs } = &mut self.life {
            *_resyncs = Some(task);
        }
    }

    /// How often somebody must check which handlers' resync is due, in milliseconds; 0 is never.
    pub(crate) fn check_period(&self) -> Millis {
        self.check.millis()
    }

    // ------------------------------------------------------------------------------------------------- its handlers

    /// Its handlers, in the order of their registration.
    pub(super) fn handlers(&self) -> &[HandlerId] {
        &self.handlers
    }

    /// The resync of a handler that asks for this period, or for nothing in particular.
    pub(super) fn admit(&mut self, requested: Option<Millis>, now: Instant) -> Resync {
        self.check.admit(requested.unwrap_or(self.options.resync_period), now)
    }

    /// Registers a handler.
    pub(super) fn add_handler(&mut self, handler: HandlerId) {
        self.handlers.push(handler);
    }

    /// Takes a handler away; whether it was there.
    pub(super) fn remove_handler(&mut self, handler: HandlerId) -> bool {
        let place = self.handlers.iter().position(|held| *held == handler);
        place.map(|place| self.handlers.remove(place)).is_some()
    }

    // ------------------------------------------------------------------------------------------------- what it holds

    /// Adds indexes; what is held is in them at once. Fails, and adds none, when a name is taken.
    pub(super) fn add_indexers(&mut self, indexers: Vec<Indexer>, store: &Store, fields: &Fields) -> Result<(), Error> {
        self.indexes.add(indexers, store, fields)
    }

    /// Forgets what stands in the indexes, and keeps their names.
    pub(super) fn clear_indexes(&mut self) {
        self.indexes.clear();
    }

    /// Gives up all that takes memory.
    pub(super) fn drop_contents(&mut self) {
        self.clear_indexes();
        self.overlay = None;
    }

    /// Bytes of its indexes, and of what was written and has not come back.
    pub(super) fn bytes(&self) -> usize {
        self.indexes.bytes() + self.overlay.as_ref().map_or(0, Overlay::bytes)
    }

    /// By how many bytes it has grown lately, if so many go with it now.
    pub(super) fn grown(&self, bytes: usize) -> usize {
        self.growth.until(bytes)
    }

    /// Notes how many bytes go with it now.
    pub(super) fn note_bytes(&mut self, bytes: usize) {
        self.growth.note(bytes);
    }

    /// Follows a change of the store, before the handlers are told.
    pub(super) fn store_changed(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>) {
        self.indexes.change(before, after);
        if let (Some(overlay), Some(object)) = (&mut self.overlay, after) {
            overlay.stored(object);
        }
    }

    /// The stream told that an object is gone.
    pub(super) fn deleted(&mut self, object: &Object, now: Instant) {
        if let Some(overlay) = &mut self.overlay {
            overlay.deleted(object, now);
        }
    }

    /// Whether readers see what was written before the stream brings it.
    pub(super) fn shows_writes(&self) -> bool {
        self.overlay.is_some()
    }

    /// A write left this object.
    pub(super) fn mutated(&mut self, object: &Rc<Object>, now: Instant) {
        if let Some(overlay) = self.overlay.as_mut().filter(|_| !matches!(self.life, Life::Stopped)) {
            overlay.mutated(object, now);
        }
    }

    // ------------------------------------------------------------------------------------------------- what its readers see

    /// The object under a key, once it is synced.
    pub fn get<'a>(&'a self, key: &str, store: &'a Store, now: Instant) -> Option<&'a Rc<Object>> {
        let held = store.get(key).filter(|_| self.has_synced());
        self.newer(key, held, now)
    }

    fn newer<'a>(&'a self, key: &str, held: Option<&'a Rc<Object>>, now: Instant) -> Option<&'a Rc<Object>> {
        self.overlay.as_ref().map_or(held, |overlay| overlay.newer(key, held, now))
    }

    /// The objects of a namespace, or all for the empty one, in key order; none before it is synced.
    pub fn list(&self, namespace: &str, store: &Store, now: Instant) -> Vec<Rc<Object>> {
        if !self.has_synced() {
            return Vec::new();
        }
        let here = |object: &&Rc<Object>| namespace.is_empty() || object.namespace() == namespace;
        self.with_waiting(store.namespace(namespace), now, &here)
    }

    /// The objects that have a value in an index, in key order. Fails when there is no such index.
    pub fn by_index(&self, index: &str, value: &str, store: &Store, now: Instant) -> Result<Vec<Rc<Object>>, Error> {
        let Some(keys) = self.indexes.keys(index, value) else {
            let held = store.by_index(index, value).map_err(|_| unknown(index))?;
            let here = |object: &&Rc<Object>| store.has_index_value(index, object, value);
            return Ok(if self.has_synced() { self.with_waiting(held, now, &here) } else { Vec::new() });
        };
        if !self.has_synced() {
            return Ok(Vec::new());
        }
        let Some(overlay) = self.overlay.as_ref().filter(|overlay| !overlay.is_empty()) else {
            return Ok(keys.iter().filter_map(|key| store.get(key)).cloned().collect());
        };
        // What was written since may have another value.
        let here = |object: &&Rc<Object>| match overlay.values(index, object) {
            Some(values) => values.iter().any(|held| **held == *value),
            None if self.indexes.is_by_path(index) => self.indexes.has_value(index, object, value),
            None => !overlay.holds(object),
        };
        Ok(self.with_waiting(keys.iter().filter_map(|key| store.get(key)), now, &here))
    }

    /// The objects whose values in an index by a function are missing.
    pub fn undecided(&self, index: &str, store: &Store, now: Instant) -> Vec<Rc<Object>> {
        let mut objects = self.indexes.undecided(index, store);
        if let Some(overlay) = self.overlay.as_ref().filter(|_| self.indexes.is_by_function(index)) {
            objects.extend(overlay.undecided(index, now).cloned());
        }
        objects
    }

    /// The values of an object in such an index.
    pub fn decide(&mut self, index: &str, key: &str, object: ObjectId, values: Vec<Rc<str>>, store: &Store) {
        if let Some(overlay) = &mut self.overlay {
            overlay.decide(index, key, object, values.clone());
        }
        self.indexes.decide(index, key, object, values, store);
    }

    /// Those of these objects that pass in the version that was written, where that is newer, and the others that were written and pass.
    fn with_waiting<'a>(
        &'a self,
        held: impl Iterator<Item = &'a Rc<Object>>,
        now: Instant,
        passes: &dyn Fn(&&Rc<Object>) -> bool,
    ) -> Vec<Rc<Object>> {
        let Some(overlay) = self.overlay.as_ref().filter(|overlay| !overlay.is_empty()) else { return held.cloned().collect() };
        let mut objects: Vec<Rc<Object>> =
            held.map(|object| overlay.newer(object.key(), Some(object), now).unwrap_or(object)).filter(passes).cloned().collect();
        for waiting in overlay.waiting(now).filter(passes) {
            if let Err(place) = objects.binary_search_by(|object| object.key().cmp(waiting.key())) {
                objects.insert(place, waiting.clone());
            }
        }
        objects
    }

    /// The keys of the objects that have a value in an index, in their order. Fails when there is no such index.
    pub fn index_keys(&self, index: &str, value: &str, store: &Store, now: Instant) -> Result<Vec<Key>, Error> {
        if self.overlay.as_ref().is_some_and(|overlay| !overlay.is_empty()) {
            let objects = self.by_index(index, value, store, now)?;
            return Ok(objects.iter().map(|object| object.key().clone()).collect());
        }
        let keys = match self.indexes.keys(index, value) {
            Some(keys) => keys,
            None => store.by_index(index, value).map_err(|_| unknown(index))?.map(|object| object.key().clone()).collect(),
        };
        Ok(if self.has_synced() { keys } else { Vec::new() })
    }

    /// The values that some object has in an index, in their order; none when there is no such index.
    pub fn index_values(&self, index: &str, store: &Store) -> Vec<Rc<str>> {
        let values = self.indexes.values(index).or_else(|| store.index_values(index).ok());
        values.filter(|_| self.has_synced()).unwrap_or_default()
    }
}

fn unknown(index: &str) -> Error {
    Error::new(ErrorCode::Invalid, format!("Index with name {index} does not exist"))
}
