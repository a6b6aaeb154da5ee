//! Informers of a rig. They listen as the binding layer does, and note what their handlers heard.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use watchcache::cache::Resource;
use watchcache::informer::{HandlerId, HandlerOptions, Indexer, InformerId, InformerOptions, Interruption, Notification, Notifications};
use watchcache::json::path::Path;
use watchcache::object::Object;
use watchcache::status::Error;
use watchcache::time::{Instant, Millis};

use super::rig::{Rig, Setup};
use super::upstream::Upstream;

/// What a handler does with a notification. It answers whether it is done.
pub type Call = Rc<dyn Fn(&Rc<Resource>, &Rc<Notification>) -> bool>;

/// What makes the values of an object in an index.
type IndexFunction = Rc<dyn Fn(&Object) -> Vec<String>>;

#[derive(Default)]
struct Ears {
    heard: RefCell<HashMap<HandlerId, Vec<String>>>,
    calls: RefCell<HashMap<HandlerId, Call>>,
    /// The handlers that were removed, and in which flush or after which one.
    removed: RefCell<HashMap<HandlerId, usize>>,
    synced: RefCell<Vec<HandlerId>>,
    informers_synced: RefCell<Vec<InformerId>>,
    interruptions: RefCell<Vec<Interruption>>,
    batches: RefCell<Vec<Vec<String>>>,
    flushes: Cell<usize>,
    largest: Cell<usize>,
}

impl Ears {
    fn take(&self, resource: &Rc<Resource>, notifications: &Notifications) {
        self.flushes.set(self.flushes.get() + 1);
        self.largest.set(self.largest.get().max(notifications.pairs.len() / 2));
        if !notifications.pairs.is_empty() {
            let batch = notifications.pairs.chunks_exact(2).map(|pair| format!("{:?}", notifications.table[pair[1] as usize]));
            self.batches.borrow_mut().push(batch.collect());
        }
        let mut begun: HashMap<HandlerId, usize> = HashMap::new();
        let mut waits: Vec<HandlerId> = Vec::new();
        for pair in notifications.pairs.chunks_exact(2) {
            let (id, notification) = (HandlerId::from(pair[0]), &notifications.table[pair[1] as usize]);
            if let Some(flush) = self.removed.borrow().get(&id) {
                // What was on its way is dropped here, as the facade does it. More may not be on its way.
                assert_eq!(*flush, self.flushes.get(), "{notification:?} is given to a handler that was removed before");
                continue;
            }
            if waits.contains(&id) {
                continue;
            }
            *begun.entry(id).or_default() += 1;
            self.heard.borrow_mut().entry(id).or_default().push(format!("{notification:?}"));
            let call = self.calls.borrow().get(&id).cloned();
            if !call.is_none_or(|call| call(resource, notification)) {
                waits.push(id);
                resource.with(|cacher| cacher.informers_mut().handler_waits(id, begun[&id], true));
            }
        }
        self.informers_synced.borrow_mut().extend(&notifications.informers_synced);
        self.synced.borrow_mut().extend(&notifications.handlers_synced);
        self.interruptions.borrow_mut().extend_from_slice(&notifications.interruptions);
    }
}

/// A rig with one informer, and any others.
pub struct Informed {
    pub rig: Rig,
    pub informer: InformerId,
    ears: Rc<Ears>,
    functions: RefCell<HashMap<String, IndexFunction>>,
}

impl Informed {
    /// Nothing has started.
    pub fn idle(options: InformerOptions, setup: Setup, prepare: impl FnOnce(&Upstream)) -> Self {
        Self::over(Rig::idle(setup, prepare), options)
    }

    /// Over a rig that exists already; not started.
    pub fn over(rig: Rig, options: InformerOptions) -> Self {
        let ears: Rc<Ears> = Rc::default();
        let listener = ears.clone();
        *rig.client.on_notifications.borrow_mut() = Some(Rc::new(move |resource, notifications| listener.take(resource, notifications)));
        let informer = rig.resource.with(|cacher| cacher.informers_mut().open(options));
        Self { rig, informer, ears, functions: RefCell::default() }
    }

    /// Started and synced, without a handler.
    pub fn new(options: InformerOptions, prepare: impl FnOnce(&Upstream)) -> Self {
        let informed = Self::idle(options, Setup::default(), prepare);
        informed.start();
        assert!(informed.has_synced());
        informed
    }

    /// With the defaults.
    pub fn plain(prepare: impl FnOnce(&Upstream)) -> Self {
        Self::new(InformerOptions::default(), prepare)
    }

    pub fn start(&self) -> bool {
        self.rig.resource.start();
        let started = self.rig.resource.start_informer(self.informer);
        self.rig.run(0);
        started
    }

    pub fn stop(&self) {
        self.rig.resource.with(|cacher| {
            cacher.informers_mut().stop(self.informer);
        });
    }

    pub fn has_synced(&self) -> bool {
        self.rig.resource.with(|cacher| cacher.informers().get(self.informer).unwrap().has_synced())
    }

    /// Whether the informer was told to have synced.
    pub fn told_synced(&self) -> bool {
        self.ears.informers_synced.borrow().contains(&self.informer)
    }

    pub fn try_handler(&self, options: HandlerOptions) -> Result<HandlerId, Error> {
        let now = self.rig.resource.now();
        self.rig.resource.with(|cacher| cacher.informing().add_handler(self.informer, options, now))
    }

    pub fn handler_with(&self, options: HandlerOptions) -> HandlerId {
        let id = self.try_handler(options).unwrap();
        self.ears.removed.borrow_mut().remove(&id);
        self.ears.heard.borrow_mut().remove(&id);
        self.ears.calls.borrow_mut().remove(&id);
        self.ears.synced.borrow_mut().retain(|synced| *synced != id);
        id
    }

    pub fn handler(&self) -> HandlerId {
        self.handler_with(HandlerOptions::default())
    }

    /// With a resync period of its own.
    pub fn handler_every(&self, millis: Millis) -> HandlerId {
        self.handler_with(HandlerOptions { resync_period: Some(millis), ..HandlerOptions::default() })
    }

    /// What a handler does, from now on.
    pub fn on_call(&self, handler: HandlerId, call: impl Fn(&Rc<Resource>, &Rc<Notification>) -> bool + 'static) {
        self.ears.calls.borrow_mut().insert(handler, Rc::new(call));
    }

    /// A way to take handlers away, for use in a call.
    pub fn remover(&self) -> impl Fn(&Rc<Resource>, HandlerId) + 'static {
        let (ears, informer) = (self.ears.clone(), self.informer);
        move |resource, handler| {
            ears.removed.borrow_mut().insert(handler, ears.flushes.get());
            resource.with(|cacher| cacher.informers_mut().remove_handler(informer, handler));
        }
    }

    pub fn remove(&self, handler: HandlerId) {
        self.remover()(&self.rig.resource, handler);
    }

    /// The handler is done with what it was given.
    pub fn done(&self, handler: HandlerId) {
        self.rig.resource.with(|cacher| cacher.informers_mut().handler_done(handler));
        self.rig.run(0);
    }

    /// What a handler heard since the last call, once all is quiet.
    pub fn heard(&self, handler: HandlerId) -> Vec<String> {
        self.rig.run(0);
        self.ears.heard.borrow_mut().remove(&handler).unwrap_or_default()
    }

    pub fn handler_synced(&self, handler: HandlerId) -> bool {
        self.rig.resource.with(|cacher| cacher.informers().handler(handler).is_some_and(|handler| handler.has_synced()))
    }

    /// How often a handler was told to have synced.
    pub fn told_handler_synced(&self, handler: HandlerId) -> usize {
        self.ears.synced.borrow().iter().filter(|id| **id == handler).count()
    }

    pub fn interruptions(&self) -> Vec<Interruption> {
        self.rig.run(0);
        std::mem::take(&mut self.ears.interruptions.borrow_mut())
    }

    /// What each flush since the last call brought.
    pub fn take_batches(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut self.ears.batches.borrow_mut())
    }

    /// Flushes with notifications so far, and the most deliveries that one had.
    pub fn flushes(&self) -> (usize, usize) {
        (self.ears.flushes.get(), self.ears.largest.get())
    }

    /// Adds an index by a path.
    pub fn index(&self, name: &str, path: &str) -> Result<(), Error> {
        let path = Path::parse(path).unwrap();
        self.rig
            .resource
            .with(|cacher| cacher.informing().add_indexers(self.informer, vec![Indexer { name: name.into(), path: Some(path) }]))
    }

    /// Adds an index by a function.
    pub fn index_by(&self, name: &str, function: impl Fn(&Object) -> Vec<String> + 'static) -> Result<(), Error> {
        self.rig.resource.with(|cacher| cacher.informing().add_indexers(self.informer, vec![Indexer { name: name.into(), path: None }]))?;
        self.functions.borrow_mut().insert(name.into(), Rc::new(function));
        Ok(())
    }

    /// The objects whose values in an index by a function are missing.
    pub fn undecided(&self, name: &str, now: Instant) -> Vec<Rc<Object>> {
        self.rig.resource.with(|cacher| {
            let informer = cacher.informers().get(self.informer).expect("it has started");
            informer.undecided(name, cacher.store(), now)
        })
    }

    /// Has the functions compute what they have not seen, as a reader does.
    fn decide(&self, name: &str) {
        let Some(function) = self.functions.borrow().get(name).cloned() else { return };
        let now = self.rig.resource.now();
        for object in self.undecided(name, now) {
            let values = function(&object).into_iter().map(Into::into).collect();
            self.rig.resource.with(|cacher| cacher.informing().decide(self.informer, name, object.key(), object.id(), values));
        }
    }

    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<String>, Error> {
        self.decide(name);
        let now = self.rig.resource.now();
        let found =
            self.rig.resource.with(|cacher| cacher.informers().get(self.informer).unwrap().by_index(name, value, cacher.store(), now));
        Ok(found?.iter().map(|object| object.name().to_owned()).collect())
    }

    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<String>, Error> {
        self.decide(name);
        let now = self.rig.resource.now();
        let found =
            self.rig.resource.with(|cacher| cacher.informers().get(self.informer).unwrap().index_keys(name, value, cacher.store(), now));
        Ok(found?.iter().map(ToString::to_string).collect())
    }

    pub fn index_values(&self, name: &str) -> Vec<String> {
        self.decide(name);
        let values = self.rig.resource.with(|cacher| cacher.informers().get(self.informer).unwrap().index_values(name, cacher.store()));
        values.iter().map(ToString::to_string).collect()
    }

    /// The objects of a namespace, or all, as `key@version`.
    pub fn list(&self, namespace: &str) -> Vec<String> {
        let now = self.rig.resource.now();
        let listed = self.rig.resource.with(|cacher| cacher.informers().get(self.informer).unwrap().list(namespace, cacher.store(), now));
        listed.iter().map(|object| format!("{object:?}")).collect()
    }

    /// The version under a key.
    pub fn get(&self, key: &str) -> Option<u64> {
        read(&self.rig.resource, self.informer, key)
    }
}

/// The version that an informer shows under a key.
pub fn read(resource: &Rc<Resource>, informer: InformerId, key: &str) -> Option<u64> {
    let now = resource.now();
    resource.with(|cacher| {
        let informer = cacher.informers().get(informer)?;
        informer.get(key, cacher.store(), now)?.version().as_u64()
    })
}
