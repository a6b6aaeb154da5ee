//! What the next flush delivers, and who has something to take at it.

use std::rc::Rc;

use crate::sort::sort_by;

use super::demand::Demand;
use super::event::WatchEvent;
use super::id::WatcherId;
use super::outbox::Outbox;
use super::set::Watchers;

/// How many waiting events of one watcher go into one flush. The rest follows in the next, so that the host has its turn between them.
const MAX_EVENTS_A_FLUSH: usize = 500;

/// The outbox of the next flush, and the watchers that it has to look at.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    outbox: Outbox,
    // Those to whom something happened since the last flush.
    pending: Vec<WatcherId>,
    // The watchers of everything, once an event went straight to each of them. They stay an audience until anything happens to one of them,
    // which makes that one pending: so nobody need be asked for the next event.
    audience: Option<Rc<[WatcherId]>>,
    // Tells this audience from those before it.
    number: u32,
    // Watchers whose batch began since the last flush. The next flush completes it.
    served: Vec<WatcherId>,
    delivered: u64,
}

impl Delivery {
    /// Something happened to this watcher: the next flush looks at it.
    pub(super) fn pend(&mut self, id: WatcherId) {
        self.audience = None;
        self.pending.push(id);
    }

    /// Puts an event into the table of the flush.
    #[inline]
    pub(super) fn event(&mut self, event: WatchEvent) -> u32 {
        self.outbox.event(event)
    }

    /// Delivers an event to a watcher that takes it at once. `begins` says whether its batch begins with it.
    #[inline]
    pub(super) fn deliver(&mut self, id: WatcherId, event: u32, begins: bool) {
        if begins {
            self.served.push(id);
        }
        self.outbox.deliver(id, event);
        self.delivered += 1;
    }

    /// Whether the watchers of everything are an audience.
    #[inline]
    pub(super) fn has_audience(&self) -> bool {
        self.audience.is_some()
    }

    /// Delivers an event to the audience.
    pub(super) fn deliver_to_audience(&mut self, event: u32) {
        if let Some(watchers) = &self.audience {
            self.outbox.deliver_all(watchers, event, self.number);
            self.delivered += watchers.len() as u64;
        }
    }

    /// Deliveries of this flush so far that were noted one by one.
    pub(super) fn noted(&self) -> usize {
        self.outbox.delivered()
    }

    /// The watchers of all deliveries that were noted after the first `noted` are the audience from now on.
    pub(super) fn make_audience(&mut self, noted: usize) {
        self.audience = Some(self.outbox.watchers_since(noted));
        self.number = self.number.checked_add(1).unwrap_or(1);
    }

    /// Moves what waits for willing subscribers into the outbox. Returns whether there is more than one flush can hold.
    fn pump(&mut self, watchers: &mut Watchers) -> bool {
        let mut more = false;
        let mut pending = std::mem::take(&mut self.pending);
        sort_by(&mut pending, WatcherId::cmp);
        pending.dedup();
        for id in pending {
            let Some(watcher) = watchers.get_mut(id) else { continue };
            let mut moved = 0;
            if matches!(watcher.queue().demand(), Demand::Batch(_)) {
                self.served.push(id);
            }
            while moved < MAX_EVENTS_A_FLUSH
                && let Some(event) = watcher.next_wanted()
            {
                let index = self.outbox.shared_event(event);
                self.outbox.deliver(id, index);
                moved += 1;
            }
            self.delivered += moved as u64;
            if let Some(reason) = watcher.take_end() {
                self.outbox.ended.push((id, reason));
            } else if moved == MAX_EVENTS_A_FLUSH && !watcher.queue().is_empty() {
                self.pend(id);
                more = true;
            }
        }
        more
    }

    /// Takes what is to be delivered now; whether more follows at once. Batches that received something are complete.
    pub(super) fn take(&mut self, watchers: &mut Watchers) -> (Outbox, bool) {
        let more = self.pump(watchers);
        watchers.remove_retired();
        for id in std::mem::take(&mut self.served) {
            if let Some(watcher) = watchers.get_mut(id) {
                watcher.queue_mut().end_batch();
            }
        }
        (std::mem::take(&mut self.outbox), more)
    }

    /// Whether a flush would deliver something.
    pub(super) fn has_output(&self) -> bool {
        !self.outbox.is_empty() || !self.pending.is_empty()
    }

    /// Deliveries so far, each counted once a subscriber.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }
}
