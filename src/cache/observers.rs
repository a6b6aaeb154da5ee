//! Who observes the store: live views, informers, watchers.
//!
//! All are told here, one after the other, in this order: first the views, then the informers, then the watchers. None of them asks another, so
//! the order is seen by nobody but who reads a trace. They are told after the store has changed and before the window keeps the change.

use std::rc::Rc;

use crate::cache::memory::Grower;
use crate::change::Change;
use crate::informer::Informers;
use crate::json::fields::FieldSet;
use crate::metrics::Metrics;
use crate::object::Object;
use crate::store::{Replacement, StoreObserver};
use crate::version::Version;
use crate::view::{ViewId, Views};
use crate::watch::Dispatcher;

/// All observers of a cacher.
pub(super) struct Observers {
    pub(super) views: Views,
    pub(super) informers: Informers,
    pub(super) dispatcher: Dispatcher,
}

impl Observers {
    /// Nobody yet. What is dispatched is counted there.
    pub(super) fn new(metrics: Rc<Metrics>) -> Self {
        Self { views: Views::default(), informers: Informers::default(), dispatcher: Dispatcher::counting(metrics) }
    }

    /// What is shown of the first list has changed before the list is whole: `None` is gone. Watchers begin when it is.
    pub(super) fn shown(&mut self, previous: Option<&Rc<Object>>, object: Option<&Rc<Object>>, fields: &FieldSet) {
        self.views.shown(previous, object, fields);
        self.informers.shown(previous, object, fields);
    }

    /// One change. Returns whether watchers without room wait to be served before the next.
    pub(super) fn changed(&mut self, change: &Change, fields: &FieldSet) -> bool {
        self.views.changed(change, fields);
        self.informers.changed(change, fields);
        self.dispatcher.changed(change, fields);
        self.dispatcher.is_blocked()
    }

    /// A whole list has replaced the state.
    pub(super) fn replaced(&mut self, list: &Replacement<'_>, fields: &FieldSet) {
        self.views.replaced(list, fields);
        self.informers.replaced(list, fields);
        self.dispatcher.replaced(list, fields);
    }

    /// The cacher is closed at this version.
    pub(super) fn close(&mut self, reached: &Version) {
        self.views.reset(reached);
        self.informers.reset(reached);
        self.dispatcher.reset(reached);
    }

    /// Bytes that views and informers take. What waits for watchers is not counted before they are late.
    pub(super) fn bytes(&self) -> usize {
        self.views.bytes() + self.informers.bytes()
    }

    /// Notes what each takes now.
    pub(super) fn note_bytes(&mut self) {
        self.views.note_bytes();
        self.informers.note_bytes();
        self.dispatcher.note_bytes();
    }

    /// Who has grown most lately, and by how many bytes.
    pub(super) fn grown(&self) -> (Grower, usize) {
        let (view, watcher, informer) = (self.views.grown(), self.dispatcher.grown(), self.informers.grown());
        let all = [(Grower::Informer(informer.0), informer.1), (Grower::Watcher(watcher.0), watcher.1), (Grower::View(view.0), view.1)];
        all.into_iter().max_by_key(|(_, growth)| *growth).unwrap_or((Grower::View(ViewId::default()), 0))
    }

    /// Whether a flush would tell anything.
    pub(super) fn have_output(&self) -> bool {
        self.dispatcher.has_output() || self.views.has_changes() || self.informers.has_output()
    }
}
