//! One informer: its handlers, its indexes, and what its readers see.

use std::rc::Rc;

use futures::channel::oneshot;

use crate::growth::Growth;
use crate::informer::id::HandlerId;
use crate::informer::index::InformerIndexes;
use crate::informer::overlay::Overlay;
use crate::informer::resync::CheckPeriod;
use crate::key::Key;
use crate::object::{Object, ObjectId};
use crate::runtime::Millis;
use crate::status::{Error, ErrorCode};
use crate::store::Store;

/// How an informer is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct InformerOptions {
    /// How often handlers are told everything once more, in milliseconds, where they ask for nothing else; 0 is never, for any of them.
    pub resync_period: Millis,
    /// Whether a relist also tells of objects that it brought at the version held, to the handlers whose resync is due (see
    /// [`crate::informer::resync::Resync::syncing`]), as client-go does.
    pub relist_updates: bool,
    /// Whether readers see what was written through the resource before the stream brings it.
    pub read_your_writes: bool,
}

/// An informer over the store of its cacher.
#[derive(Debug)]
pub struct Informer {
    pub(super) options: InformerOptions,
    pub(super) started: bool,
    pub(super) stopped: bool,
    /// The state is there, and every handler of that moment has it in its queue.
    pub(super) synced: bool,
    pub(super) synced_told: bool,
    pub(crate) check: CheckPeriod,
    /// Held while a timer looks after the resyncs: its end ends that.
    pub(crate) ticking: Option<oneshot::Sender<()>>,
    /// By the order of their registration.
    pub(super) handlers: Vec<HandlerId>,
    pub(super) indexes: InformerIndexes,
    pub(super) overlay: Option<Overlay>,
    /// Of what it takes.
    pub(super) growth: Growth,
}

impl Informer {
    /// One that has not started.
    pub fn new(options: InformerOptions) -> Self {
        Self {
            options,
            started: false,
            stopped: false,
            synced: false,
            synced_told: false,
            check: CheckPeriod::new(options.resync_period),
            ticking: None,
            handlers: Vec::new(),
            indexes: InformerIndexes::default(),
            overlay: options.read_your_writes.then(Overlay::default),
            growth: Growth::default(),
        }
    }

    /// Bytes of its indexes, and of what was written and has not come back.
    pub(super) fn bytes(&self) -> usize {
        self.indexes.bytes() + self.overlay.as_ref().map_or(0, Overlay::bytes)
    }

    /// Whether it has started; that stays so after its end.
    pub fn is_started(&self) -> bool {
        self.started
    }

    /// Whether it has ended. It never starts again.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether its first state is there and queued for each handler of that moment.
    pub fn has_synced(&self) -> bool {
        self.synced
    }

    /// The object under a key, once it is synced.
    pub fn get<'a>(&'a self, key: &str, store: &'a Store, now: Millis) -> Option<&'a Rc<Object>> {
        let held = store.get(key).filter(|_| self.synced);
        self.newer(key, held, now)
    }

    fn newer<'a>(&'a self, key: &str, held: Option<&'a Rc<Object>>, now: Millis) -> Option<&'a Rc<Object>> {
        self.overlay.as_ref().map_or(held, |overlay| overlay.newer(key, held, now))
    }

    /// The objects of a namespace, or all for the empty one, in key order; none before it is synced.
    pub fn list(&self, namespace: &str, store: &Store, now: Millis) -> Vec<Rc<Object>> {
        if !self.synced {
            return Vec::new();
        }
        let here = |object: &&Rc<Object>| namespace.is_empty() || object.namespace() == namespace;
        self.with_waiting(store.namespace(namespace), now, &here)
    }

    /// The objects that have a value in an index, in key order. Fails when there is no such index.
    pub fn by_index(&self, index: &str, value: &str, store: &Store, now: Millis) -> Result<Vec<Rc<Object>>, Error> {
        let Some(keys) = self.indexes.keys(index, value) else {
            let held = store.by_index(index, value).map_err(|_| unknown(index))?;
            let here = |object: &&Rc<Object>| index == "namespace" && object.namespace() == value;
            return Ok(if self.synced { self.with_waiting(held, now, &here) } else { Vec::new() });
        };
        if !self.synced {
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
        let mut objects = self.with_waiting(keys.iter().filter_map(|key| store.get(key)), now, &here);
        objects.retain(|object| here(&object));
        Ok(objects)
    }

    /// The objects whose values in an index by a function are missing.
    pub fn undecided(&self, index: &str, store: &Store, now: Millis) -> Vec<Rc<Object>> {
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

    // What is held, each as new as it was written, and what was written beside that passes.
    fn with_waiting<'a>(
        &'a self,
        held: impl Iterator<Item = &'a Rc<Object>>,
        now: Millis,
        passes: &dyn Fn(&&Rc<Object>) -> bool,
    ) -> Vec<Rc<Object>> {
        let Some(overlay) = self.overlay.as_ref().filter(|overlay| !overlay.is_empty()) else { return held.cloned().collect() };
        let mut objects: Vec<Rc<Object>> =
            held.map(|object| overlay.newer(object.key(), Some(object), now).unwrap_or(object).clone()).collect();
        for waiting in overlay.waiting(now).filter(passes) {
            if let Err(place) = objects.binary_search_by(|object| object.key().cmp(waiting.key())) {
                objects.insert(place, waiting.clone());
            }
        }
        objects
    }

    /// The keys of the objects that have a value in an index, in their order. Fails when there is no such index.
    pub fn index_keys(&self, index: &str, value: &str, store: &Store, now: Millis) -> Result<Vec<Key>, Error> {
        if self.overlay.as_ref().is_some_and(|overlay| !overlay.is_empty()) {
            let objects = self.by_index(index, value, store, now)?;
            return Ok(objects.iter().map(|object| object.key().clone()).collect());
        }
        let keys = match self.indexes.keys(index, value) {
            Some(keys) => keys,
            None => store.by_index(index, value).map_err(|_| unknown(index))?.map(|object| object.key().clone()).collect(),
        };
        Ok(if self.synced { keys } else { Vec::new() })
    }

    /// The values that some object has in an index, in their order; none when there is no such index.
    pub fn index_values(&self, index: &str, store: &Store) -> Vec<Rc<str>> {
        let values = self.indexes.values(index).or_else(|| store.index_values(index).ok());
        values.filter(|_| self.synced).unwrap_or_default()
    }

    /// Follows a change of the store. Before the handlers are told.
    pub(super) fn store_changed(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>) {
        self.indexes.change(before, after);
        if let (Some(overlay), Some(object)) = (&mut self.overlay, after) {
            overlay.stored(object);
        }
    }
}

fn unknown(index: &str) -> Error {
    Error::new(ErrorCode::Invalid, format!("Index with name {index} does not exist"))
}
