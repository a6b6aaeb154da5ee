//! What reads, watches, writes and checks work with: the state, and the ways to wait for it and to ask past it.

use std::rc::Rc;

use super::index_function::IndexFunction;
use super::shared_cacher::SharedCacher;
use super::upstream::Upstream;
use super::waits::Waits;
use crate::runtime::SharedRuntime;

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
