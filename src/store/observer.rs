//! Who hears what happens to a store: the one interface between what changes and who observes it.

use std::rc::Rc;

use crate::change::{Change, Difference};
use crate::json::fields::FieldSet;
use crate::object::Object;
use crate::time::Instant;
use crate::version::Version;

use super::store::Store;

/// A whole list that replaced what a store held.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// What it changed, in key order.
    pub differences: &'a [Difference],
    /// The store, which holds the list already.
    pub store: &'a Store,
    /// The version that the store was at before.
    pub from: &'a Version,
    /// The list's version. It is below `from` after a reset of the server.
    pub to: &'a Version,
    /// When it was applied, on the monotonic clock.
    pub at: Instant,
}

/// Watchers, views and informers. They are told after the store has changed, one after the other, and know nothing of each other.
///
/// `fields` is always the set of paths that the observer's filters were made with.
pub trait StoreObserver {
    /// What the store shows of a first list that is not whole yet has changed: `None` is gone. Watchers do not hear of it: no version goes with it.
    fn shown(&mut self, previous: Option<&Rc<Object>>, object: Option<&Rc<Object>>, fields: &FieldSet);

    /// The upstream told one change.
    fn changed(&mut self, change: &Change, fields: &FieldSet);

    /// A whole list replaced what was held.
    fn replaced(&mut self, replacement: &Replacement<'_>, fields: &FieldSet);

    /// The cache was closed at this version, and the store is empty for good.
    fn reset(&mut self, reached: &Version);
}
