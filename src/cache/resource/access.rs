//! What reads, watches, writes and checks work with: the state, and the ways to wait for it and to ask past it.

use std::rc::Rc;

use super::index_function::IndexFunction;
use super::shared_cacher::SharedCacher;
use super::upstream::Upstream;
use super::waits::Waits;
use crate::runtime::SharedRuntime;
use crate::source::Collection;
use crate::status::{Error, Status};

/// The state of one resource, and its upstream.
pub(super) struct Access {
    /// What the resource is called in messages and paths.
    pub(super) name: Rc<str>,
    /// The state.
    pub(super) cacher: Rc<SharedCacher>,
    /// Waits for what the stream brings to the state.
    pub(super) waits: Waits,
    /// Answers what the state cannot.
    pub(super) upstream: Upstream,
    /// Gives the values in the computed indexes.
    pub(super) index_function: Rc<IndexFunction>,
    pub(super) runtime: SharedRuntime,
}

impl Access {
    /// The answer for an object that is not there: as an apiserver words it, where the upstream is one.
    pub(super) fn not_found(&self, name: &str) -> Error {
        match self.upstream.collection() {
            Some(Collection { group, .. }) => Status::not_found_in(&self.name, group.as_deref(), name),
            None => Status::not_found(&self.name, name),
        }
        .into()
    }
}
