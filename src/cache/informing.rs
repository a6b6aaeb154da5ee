//! The informers of a cacher, together with the state that they tell of.

use std::cell::RefCell;
use std::rc::Rc;

use crate::informer::{HandlerId, HandlerOptions, Indexer, InformerId, Informers};
use crate::json::fields::FieldSet;
use crate::object::ObjectId;
use crate::status::Error;
use crate::store::Store;
use crate::time::Instant;

/// Does what takes both: handlers and indexes begin with the objects that the store holds.
pub struct Informing<'a> {
    pub(super) informers: &'a mut Informers,
    pub(super) store: &'a Store,
    pub(super) fields: &'a Rc<RefCell<FieldSet>>,
    /// As [`Availability::is_confirmed`](crate::cache::availability::Availability::is_confirmed).
    pub(super) is_confirmed: bool,
}

impl Informing<'_> {
    /// Starts an informer. Returns whether it had not started.
    pub fn start(self, id: InformerId) -> bool {
        self.informers.start(id, self.is_confirmed.then_some(self.store), &self.fields.borrow())
    }

    /// Registers a handler with an informer.
    pub fn add_handler(self, id: InformerId, options: HandlerOptions, now: Instant) -> Result<HandlerId, Error> {
        self.informers.add_handler(id, options, self.store, &self.fields.borrow(), now)
    }

    /// Adds indexes to an informer.
    pub fn add_indexers(self, id: InformerId, indexers: Vec<Indexer>) -> Result<(), Error> {
        self.informers.add_indexers(id, indexers, self.store, self.fields)
    }

    /// Takes the values of an object in an informer's index by a function.
    pub fn decide(self, id: InformerId, index: &str, key: &str, object: ObjectId, values: Vec<Rc<str>>) {
        if let Some(informer) = self.informers.get_mut(id) {
            informer.decide(index, key, object, values, self.store);
        }
    }

    /// Tells the handlers of an informer every object once more, where their resync is due.
    pub(super) fn resync(self, id: InformerId, now: Instant) {
        self.informers.resync(id, self.store, &self.fields.borrow(), now);
    }
}
