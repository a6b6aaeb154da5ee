//! What is to be delivered at the next flush: one table of events, and who receives which.

use rustc_hash::FxHashMap;

use crate::object::ObjectId;
use crate::watch::event::{EndReason, EventKind, WatchEvent};

/// Everything of one flush, in delivery order.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Events, each once per form.
    pub events: Vec<WatchEvent>,
    /// Flat `[watcher, index into events]`.
    pub pairs: Vec<u32>,
    /// Streams that end after these events.
    pub ended: Vec<(u32, EndReason)>,
    /// Not 0: every event goes to the same watchers as each one of other flushes with this number.
    pub crowd: u32,
    // Only for events that come out of queues: direct dispatch knows its own indices.
    seen: FxHashMap<(ObjectId, EventKind), u32>,
}

impl Outbox {
    /// Puts an event into the table and returns its index.
    pub fn event(&mut self, event: WatchEvent) -> u32 {
        let index = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        self.events.push(event);
        index
    }

    /// As [`Outbox::event`], but an event that is in the table already keeps its place. The same object may stand in it at more
    /// than one version: as a change, and as part of the state that a watch began with later.
    pub fn shared_event(&mut self, event: WatchEvent) -> u32 {
        let key = (event.object.id(), event.kind);
        if let Some(index) = self.seen.get(&key)
            && self.events[*index as usize].version == event.version
        {
            return *index;
        }
        let index = self.event(event);
        self.seen.insert(key, index);
        index
    }

    /// Notes a delivery.
    #[inline]
    pub fn deliver(&mut self, watcher: u32, event: u32) {
        self.crowd = 0;
        self.pairs.extend_from_slice(&[watcher, event]);
    }

    /// The deliveries since `begin`, all of one event, as they are for event 0.
    pub fn pairs_for_first(&self, begin: usize) -> Vec<u32> {
        self.pairs[begin..].chunks_exact(2).flat_map(|pair| [pair[0], 0]).collect()
    }

    /// Notes the deliveries of an event to many at once, given as they are for event 0; `crowd` is the number of these many.
    pub fn deliver_all(&mut self, pairs: &[u32], event: u32, crowd: u32) {
        let begin = self.pairs.len();
        self.crowd = if begin == 0 || self.crowd == crowd { crowd } else { 0 };
        self.pairs.extend_from_slice(pairs);
        if event != 0 {
            for pair in self.pairs[begin..].chunks_exact_mut(2) {
                pair[1] = event;
            }
        }
    }

    /// Whether there is nothing to deliver.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.ended.is_empty()
    }
}
