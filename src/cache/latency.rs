//! How long changes are on their way, from their frame to the subscribers.

use std::rc::Rc;

use crate::metrics::{DispatchStage, Metrics};
use crate::time::Instant;

/// A change that was dispatched and not flushed.
struct Dispatched {
    read: Instant,
    applied: Instant,
    /// To how many watchers it goes.
    deliveries: u64,
}

/// Counts it in the metrics.
pub(super) struct Latency {
    metrics: Rc<Metrics>,
    on_their_way: Vec<Dispatched>,
}

impl Latency {
    /// Counts there.
    pub(super) fn new(metrics: Rc<Metrics>) -> Self {
        Self { metrics, on_their_way: Vec::new() }
    }

    /// A change whose frame was read then is applied now.
    pub(super) fn applied(&self, read: Instant, now: Instant) {
        self.metrics.dispatched(DispatchStage::StorageToCache, now.since(read), 1);
    }

    /// It goes to so many watchers with the next flush.
    pub(super) fn dispatched(&mut self, read: Instant, applied: Instant, deliveries: u64) {
        if deliveries > 0 {
            self.on_their_way.push(Dispatched { read, applied, deliveries });
        }
    }

    /// What was dispatched is handed to the subscribers at this moment.
    pub(super) fn flushed(&mut self, clock: &dyn Fn() -> Instant) {
        if self.on_their_way.is_empty() {
            return; // reading the clock is a call into the host
        }
        let now = clock();
        for Dispatched { read, applied, deliveries } in self.on_their_way.drain(..) {
            self.metrics.dispatched(DispatchStage::CacheToWatcher, now.since(applied), deliveries);
            self.metrics.dispatched(DispatchStage::Total, now.since(read), deliveries);
        }
    }
}
