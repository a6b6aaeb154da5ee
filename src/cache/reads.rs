//! What is read of the objects: the state at a version, and the indexes.

use std::rc::Rc;

use crate::cache::cacher::Cacher;
use crate::object::Object;
use crate::status::{Error, Status};
use crate::store::State;
use crate::version::Version;

/// What is read of the objects.
impl Cacher {
    /// The objects as they are, at the cacher's version.
    pub fn state(&self) -> State<'_> {
        State::present(&self.store, self.version.clone())
    }

    /// The objects as they were at a version: those of the last list or change up to it. 410 Expired when the window does not reach back to
    /// it; 504 when the cacher has not come so far, which is to be waited for before.
    pub fn state_at(&self, version: &Version) -> Result<State<'_>, Error> {
        if *version > self.version {
            return Err(Status::too_large(version, &self.version).into());
        }
        match self.window.undo_to(version) {
            Some(since) => Ok(State::past(&self.store, version.clone(), since)),
            None => Err(Status::new(410, "Expired", format!("too old resource version: {version}")).into()),
        }
    }

    /// Whether the objects as they were at a version can be read.
    pub fn has_state_at(&self, version: &Version) -> bool {
        *version <= self.version && self.window.undo_to(version).is_some()
    }

    /// The upstream has forgotten what lies before this version: past states before it are no longer served.
    pub fn compact(&mut self, version: &Version) {
        self.window.compact(version);
    }

    /// What is held proved to be what the upstream holds, or not: then no past state is served until it does.
    pub fn mark_consistent(&mut self, consistent: bool) {
        self.window.mark_consistent(consistent);
    }

    /// The objects that have a value in an index, in key order (see [`Store::by_index`]).
    pub fn by_index<'s>(&'s self, index: &str, value: &str) -> Result<impl Iterator<Item = &'s Rc<Object>> + use<'s>, Error> {
        self.store.by_index(index, value)
    }

    /// The values of an index (see [`Store::index_values`]).
    pub fn index_values(&self, index: &str) -> Result<Vec<Rc<str>>, Error> {
        self.store.index_values(index)
    }

    /// Whether there is such an index (see [`Store::has_index`]).
    pub fn has_index(&self, index: &str) -> bool {
        self.store.has_index(index)
    }
}
