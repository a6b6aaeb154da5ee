//! What an informer needs of its resource: a stream, a clock, a flush.

use std::rc::Rc;

use crate::cache::cacher::Cacher;
use crate::cache::resource::Resource;
use crate::informer::{HandlerId, HandlerOptions, Indexer, Informer, InformerId};
use crate::object::{Object, ObjectId};
use crate::runtime::{Millis, Task};
use crate::status::Error;

impl Cacher {
    /// Starts an informer. Returns whether it had not started.
    pub fn start_informer(&mut self, id: InformerId) -> bool {
        let fields = self.fields().clone();
        let listed = self.is_listed();
        self.informers.start(id, listed.then_some(&self.store), &fields.borrow())
    }

    /// Registers a handler with an informer.
    pub fn add_handler(&mut self, id: InformerId, options: HandlerOptions, now: Millis) -> Result<HandlerId, Error> {
        let fields = self.fields().clone();
        self.informers.add_handler(id, options, &self.store, &fields.borrow(), now)
    }

    /// Adds indexes to an informer.
    pub fn add_indexers(&mut self, id: InformerId, indexers: Vec<Indexer>) -> Result<(), Error> {
        let fields = self.fields().clone();
        self.informers.add_indexers(id, indexers, &self.store, &fields)
    }

    /// The objects whose values in an informer's index by a function are missing.
    pub fn undecided(&self, id: InformerId, index: &str, now: Millis) -> Vec<Rc<Object>> {
        self.informers.get(id).map(|informer| informer.undecided(index, &self.store, now)).unwrap_or_default()
    }

    /// The values of an object in such an index.
    pub fn decide(&mut self, id: InformerId, index: &str, key: &str, object: ObjectId, values: Vec<Rc<str>>) {
        if let Some(informer) = self.informers.get_mut(id) {
            informer.decide(index, key, object, values, &self.store);
        }
    }

    fn resync_informer(&mut self, id: InformerId, now: Millis) {
        let fields = self.fields().clone();
        self.informers.resync(id, &self.store, &fields.borrow(), now);
    }
}

impl Resource {
    /// Starts an informer; the stream is opened by [`Resource::start`]. Returns whether it had not started.
    pub fn start_informer(self: &Rc<Self>, id: InformerId) -> bool {
        let started = self.with(|cacher| cacher.start_informer(id));
        if started {
            self.keep_resyncing(id);
        }
        started
    }

    /// Looks after the resyncs of an informer until it ends. By the clock: a look that is late is one look.
    fn keep_resyncing(self: &Rc<Self>, id: InformerId) {
        let Some(period) = self.with(|cacher| cacher.informers.get(id).map(Informer::check_period)).filter(|period| *period > 0) else {
            return;
        };
        let this = Rc::downgrade(self);
        let runtime = self.runtime.clone();
        let looks = async move {
            let mut due = runtime.now() + period;
            loop {
                runtime.sleep(due.saturating_sub(runtime.now())).await;
                let now = runtime.now();
                if now < due {
                    continue;
                }
                due = now + period;
                let Some(this) = this.upgrade() else { return };
                this.with(|cacher| cacher.resync_informer(id, now));
            }
        };
        let task = Task::spawn(&*self.runtime, looks);
        self.with(|cacher| {
            if let Some(informer) = cacher.informers.get_mut(id) {
                informer.look_after_resyncs(task);
            }
        });
    }
}
