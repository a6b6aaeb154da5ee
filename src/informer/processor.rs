//! The processor: it distributes notifications to the listeners of all informers of a store, and from there into flushes.

use std::rc::Rc;

use slab::Slab;

use crate::json::fields::FieldSet;

use super::id::{HandlerId, InformerId};
use super::informer::Informer;
use super::interruption::Interruption;
use super::listener::ProcessorListener;
use super::notification::{Notification, NotificationKind};

/// How many notifications of one handler go into one flush. The rest follows in the next, so that the host has its turn between them.
const MAX_NOTIFICATIONS_A_FLUSH: usize = 500;

/// What a flush tells the handlers.
#[derive(Debug, Default)]
pub struct Notifications {
    /// Each once.
    pub table: Vec<Rc<Notification>>,
    /// Flat `[registration, index into the table]`, as it crosses to JavaScript.
    pub pairs: Vec<u32>,
    /// Informers that have synced.
    pub informers_synced: Vec<InformerId>,
    /// Registrations that have handled the state they began with.
    pub handlers_synced: Vec<HandlerId>,
    /// What went wrong with the stream.
    pub interruptions: Vec<Interruption>,
}

impl Notifications {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.informers_synced.is_empty() && self.handlers_synced.is_empty() && self.interruptions.is_empty()
    }
}

/// The listeners by id, and what the next flush gives them.
#[derive(Debug, Default)]
pub(super) struct Processor {
    listeners: Slab<ProcessorListener>,
    // Those with something to take or to be told.
    pending: Vec<HandlerId>,
    // Notifications that go to handlers past their queues, until the flush that tells them is over.
    straight: Vec<Rc<Notification>>,
    // Those that the flush under way gave something to.
    served: Vec<HandlerId>,
    // Removed ones whose ids may be used again after the flush under way.
    retired: Vec<HandlerId>,
    // Whether a queue overflowed since that was last asked.
    overflowed: bool,
    // Between what a flush takes and its end.
    flushing: bool,
    flushes: u64,
}

impl Processor {
    /// Adds a listener.
    pub(super) fn add(&mut self, listener: ProcessorListener) -> HandlerId {
        HandlerId::of(self.listeners.insert(listener))
    }

    /// The listener of a registration, while its id stands for it.
    pub(super) fn get(&self, id: HandlerId) -> Option<&ProcessorListener> {
        self.listeners.get(id.index()).filter(|listener| !listener.is_removed())
    }

    /// The same, to change it. What that leaves to give is given by the next flush after [`Processor::pend`].
    pub(super) fn get_mut(&mut self, id: HandlerId) -> Option<&mut ProcessorListener> {
        self.listeners.get_mut(id.index()).filter(|listener| !listener.is_removed())
    }

    /// All that were not removed.
    pub(super) fn iter(&self) -> impl Iterator<Item = &ProcessorListener> {
        self.listeners.iter().map(|(_, listener)| listener).filter(|listener| !listener.is_removed())
    }

    /// Takes a listener away. What was not given to its handler never will be.
    pub(super) fn remove(&mut self, id: HandlerId) {
        if let Some(listener) = self.get_mut(id) {
            listener.remove();
            self.retired.push(id);
        }
    }

    /// Forgets all at once.
    pub(super) fn clear(&mut self) {
        self.listeners.clear();
        self.pending.clear();
        self.straight.clear();
        self.served.clear();
        self.retired.clear();
    }

    // ------------------------------------------------------------------------------------------------- what they hear

    /// Hands a notification to every listener of every informer that has synced. One that tells no change goes to those alone that hear of such.
    pub(super) fn distribute(&mut self, notification: &Rc<Notification>, informers: &Slab<Informer>, fields: &FieldSet) {
        let unchanged = notification.kind == NotificationKind::Resynced;
        let may_go_straight = self.straight.len() < MAX_NOTIFICATIONS_A_FLUSH && !unchanged && !self.flushing;
        let mut went_straight = false;
        for (_, informer) in informers {
            if !informer.distributes() || unchanged && !informer.tells_unchanged() {
                continue;
            }
            for id in informer.handlers() {
                if unchanged && !self.listeners[id.index()].hears_unchanged() {
                    continue;
                }
                if may_go_straight && self.hand_straight(*id) {
                    went_straight = true;
                } else {
                    self.enqueue(*id, notification, fields);
                }
            }
        }
        // At the index that those who took it have noted.
        if went_straight {
            self.straight.push(notification.clone());
        }
    }

    /// Has a listener take the next notification of `straight` past its queue. Whether it does.
    #[inline]
    fn hand_straight(&mut self, id: HandlerId) -> bool {
        let listener = &mut self.listeners[id.index()];
        let takes = listener.take_straight(self.straight.len());
        if takes && listener.pend() {
            self.pending.push(id);
        }
        takes
    }

    #[inline]
    fn enqueue(&mut self, id: HandlerId, notification: &Rc<Notification>, fields: &FieldSet) {
        let listener = &mut self.listeners[id.index()];
        self.overflowed |= listener.hear(notification, fields);
        if listener.pend_if_due() {
            self.pending.push(id);
        }
    }

    /// Gives a listener the state that its handler begins with.
    pub(super) fn begin(&mut self, id: HandlerId, state: &[Rc<Notification>], fields: &FieldSet) {
        if let Some(listener) = self.get_mut(id) {
            for notification in state {
                listener.hear(notification, fields);
            }
            listener.upstream_synced();
            self.pend(id);
        }
    }

    /// The next flush looks at a listener, if there is something to give.
    pub(super) fn pend(&mut self, id: HandlerId) {
        if self.get_mut(id).is_some_and(ProcessorListener::pend_if_due) {
            self.pending.push(id);
        }
    }

    /// The handler is not done with the last of so many notifications of this flush (see [`ProcessorListener::wait`]).
    pub(super) fn handler_waits(&mut self, id: HandlerId, begun: usize, pace: bool) {
        if let Some(listener) = self.listeners.get_mut(id.index()).filter(|listener| !listener.is_removed()) {
            listener.wait(begun, pace, &self.straight);
        }
    }

    /// The handler is done with what it was given, and takes more.
    pub(super) fn handler_done(&mut self, id: HandlerId) {
        if let Some(listener) = self.get_mut(id) {
            listener.done();
            self.pend(id);
        }
    }

    // ------------------------------------------------------------------------------------------------- flushes

    /// Whether a flush would give anything.
    pub(super) fn has_output(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether a queue overflowed since the last call.
    pub(super) fn take_overflowed(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    /// Adds what the next flush gives. [`Processor::end_flush`] follows when it has been told.
    pub(super) fn take(&mut self, flush: &mut Notifications) {
        self.flushes += 1;
        self.flushing = true;
        for (place, notification) in self.straight.iter().enumerate() {
            notification.set_place(self.flushes, u32::try_from(place).unwrap_or(u32::MAX));
        }
        flush.table.clone_from(&self.straight);
        for id in std::mem::take(&mut self.pending) {
            let Some(listener) = self.listeners.get_mut(id.index()) else { continue };
            for place in 0..listener.begin_flush() {
                flush.pairs.extend_from_slice(&[id.number(), u32::try_from(place).unwrap_or(u32::MAX)]);
            }
            for notification in listener.take(MAX_NOTIFICATIONS_A_FLUSH) {
                let place = notification.place_in(self.flushes).unwrap_or_else(|| {
                    let place = u32::try_from(flush.table.len()).unwrap_or(u32::MAX);
                    notification.set_place(self.flushes, place);
                    flush.table.push(notification.clone());
                    place
                });
                flush.pairs.extend_from_slice(&[id.number(), place]);
            }
            if listener.tell_synced() {
                flush.handlers_synced.push(id);
            }
            self.served.push(id);
        }
    }

    /// The flush is over: handlers that did not say otherwise are done with it.
    pub(super) fn end_flush(&mut self) {
        self.flushing = false;
        self.straight.clear();
        for id in std::mem::take(&mut self.served) {
            if let Some(listener) = self.listeners.get_mut(id.index()) {
                listener.end_flush();
                self.pend(id);
            }
        }
        for id in std::mem::take(&mut self.retired) {
            self.listeners.try_remove(id.index());
            self.pending.retain(|pending| *pending != id);
        }
    }

    // ------------------------------------------------------------------------------------------------- memory

    /// Bytes of the places of what waits.
    pub(super) fn bytes(&self) -> usize {
        self.listeners.iter().map(|(_, listener)| listener.bytes()).sum()
    }

    /// Bytes of what waits for these, with the objects that nobody but readers hold. Looks at all of it.
    pub(super) fn bytes_with_late(&self, ids: &[HandlerId]) -> usize {
        ids.iter().filter_map(|id| self.listeners.get(id.index())).map(ProcessorListener::bytes_with_late).sum()
    }
}
