//! What is to be delivered at the next flush: one table of events, and who receives which.

use std::borrow::Cow;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::object::ObjectId;
use crate::watch::event::{EndReason, EventKind, WatchEvent};
use crate::watch::id::WatcherId;

/// Everything of one flush, in delivery order.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Events, each once per form.
    pub events: Vec<WatchEvent>,
    // As `Outbox::pairs` gives them, without those of the audience.
    pairs: Vec<u32>,
    /// Streams that end after these events.
    pub ended: Vec<(WatcherId, EndReason)>,
    // The watchers that each of the events so far goes to, as long as nothing else is delivered. Their deliveries are not written down.
    audience: Option<Audience>,
    // Where events from queues stand. Direct dispatch knows its own indices.
    seen: FxHashMap<(ObjectId, EventKind), u32>,
}

/// The watchers of a flush whose every event goes to all of them.
#[derive(Clone, Debug)]
pub struct Audience {
    /// Never 0. Audiences of one number are the same watchers in the same order.
    pub number: u32,
    /// Their ids.
    pub watchers: Rc<[WatcherId]>,
    events: u32,
}

impl Outbox {
    /// Puts an event into the table and returns its index.
    pub fn event(&mut self, event: WatchEvent) -> u32 {
        let index = u32::try_from(self.events.len()).unwrap_or(u32::MAX);
        self.events.push(event);
        index
    }

    /// As [`Outbox::event`], but an event that is in the table already keeps its place.
    ///
    /// The same object may stand in the table at two versions: as a change, and in the state that a later watch began with.
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
    pub fn deliver(&mut self, watcher: WatcherId, event: u32) {
        if self.audience.is_some() {
            self.spread();
        }
        self.pairs.extend_from_slice(&[watcher.number(), event]);
    }

    /// So many deliveries have been noted one by one.
    pub fn delivered(&self) -> usize {
        self.pairs.len() / 2
    }

    /// The watchers of the deliveries that were noted one by one, without the first `delivered` ones.
    pub fn watchers_since(&self, delivered: usize) -> Rc<[WatcherId]> {
        self.pairs[2 * delivered..].chunks_exact(2).map(|pair| pair[0].into()).collect()
    }

    /// Notes the deliveries of an event to an audience of this number.
    pub fn deliver_all(&mut self, watchers: &Rc<[WatcherId]>, event: u32, number: u32) {
        match &mut self.audience {
            None if self.pairs.is_empty() && event == 0 => {
                self.audience = Some(Audience { number, watchers: watchers.clone(), events: 1 });
            }
            Some(audience) if audience.number == number && audience.events == event => audience.events += 1,
            _ => {
                self.spread();
                self.pairs.extend(watchers.iter().flat_map(|watcher| [watcher.number(), event]));
            }
        }
    }

    fn spread(&mut self) {
        if let Some(audience) = self.audience.take() {
            self.pairs = audience.pairs();
        }
    }

    /// The audience, if every event goes to it.
    pub fn audience(&self) -> Option<&Audience> {
        self.audience.as_ref().filter(|audience| audience.events as usize == self.events.len())
    }

    /// All deliveries in their order: flat `[watcher, index into events]`.
    pub fn pairs(&self) -> Cow<'_, [u32]> {
        self.audience.as_ref().map_or(Cow::Borrowed(&*self.pairs), |audience| Cow::Owned(audience.pairs()))
    }

    /// Whether there is nothing to deliver.
    pub fn is_empty(&self) -> bool {
        self.audience.is_none() && self.pairs.is_empty() && self.ended.is_empty()
    }
}

impl Audience {
    fn pairs(&self) -> Vec<u32> {
        (0..self.events).flat_map(|event| self.watchers.iter().flat_map(move |watcher| [watcher.number(), event])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deliveries_are_counted_and_those_behind_a_number_are_told() {
        let mut outbox = Outbox::default();
        for watcher in 1..=3 {
            outbox.deliver(watcher.into(), 0);
        }
        assert_eq!(outbox.delivered(), 3);
        assert_eq!(*outbox.watchers_since(1), [2.into(), 3.into()]);
        assert_eq!(outbox.pairs(), [1, 0, 2, 0, 3, 0].as_slice());
    }
}
