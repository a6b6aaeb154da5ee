//! One registration of a handler.

use std::rc::Rc;

use crate::informer::notice::{Notice, NoticeKind};
use crate::informer::queue::Queue;
use crate::informer::resync::Resync;
use crate::informer::sync::SyncTracker;
use crate::json::fields::FieldSet;
use crate::key::Key;
use crate::object::{Holder, Object};
use crate::runtime::Millis;
use crate::selector::Filter;

/// Changes that may wait for a handler which is not done with the last.
pub const DEFAULT_BOUND: usize = 1000;

/// How a handler is registered.
#[derive(Clone, Debug)]
pub struct HandlerOptions {
    /// Its own resync period in milliseconds; 0 is none, `None` the informer's.
    pub resync_period: Option<Millis>,
    /// Whether what waits of one object merges.
    pub coalesce: bool,
    /// Changes that may wait while it is not done with the last; then what waits merges, after a notice of that.
    pub bound: usize,
    /// Only these objects. One that comes to pass is added, one that ceases to is deleted, with its last state that passed.
    pub filter: Option<Filter>,
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self { resync_period: None, coalesce: false, bound: DEFAULT_BOUND, filter: None }
    }
}

/// A registration. It hears of everything once and in order; what waits for it is no concern of others.
#[derive(Debug)]
pub struct Handler {
    pub(super) resync: Resync,
    options: HandlerOptions,
    queue: Queue,
    tracker: SyncTracker,
    /// Whether it was told that it is synced.
    synced_told: bool,
    /// It is not done with what it was given: until it says so, it gets nothing.
    waiting: bool,
    // What it was given and may not have handled.
    in_hand: Vec<Rc<Notice>>,
    // It was not done at once with the last notice: it gets one at a time, so that what waits can merge.
    paced: bool,
    // The queue was full; until it is empty, what waits merges.
    overflowing: bool,
    /// Whether it stands among those that a flush looks at.
    pub(super) pending: bool,
    /// Notices of the next flush, or of the one under way, that it is given without a queue: so many, from the first on.
    pub(super) straight: usize,
    /// It was removed; nothing is given to it any more.
    pub(super) gone: bool,
}

impl Handler {
    /// Bytes that one notice takes: itself, its place in the queue, and where it is found to be merged.
    const PLACE: usize = size_of::<Notice>() + 2 * size_of::<(Rc<Notice>, Key, u64)>();

    /// A handler that has heard of nothing.
    pub fn new(options: HandlerOptions, resync: Resync) -> Self {
        Self {
            resync,
            options,
            queue: Queue::default(),
            tracker: SyncTracker::default(),
            synced_told: false,
            waiting: false,
            in_hand: Vec::new(),
            paced: false,
            overflowing: false,
            pending: false,
            straight: 0,
            gone: false,
        }
    }

    /// Whether a change may pass its queue by: nothing waits there, and it takes every change as it is.
    pub fn is_straight(&self) -> bool {
        let free = self.straight > 0 || !self.pending;
        free && !(self.waiting || self.paced || self.gone || self.options.coalesce)
            && self.options.filter.is_none()
            && self.queue.is_empty()
    }

    /// Queues what a notice is to this handler. Returns whether its queue overflowed with it.
    pub fn hear(&mut self, notice: &Rc<Notice>, fields: &FieldSet) -> bool {
        let Some(notice) = self.filtered(notice, fields) else { return false };
        let mut full = false;
        self.overflowing &= !self.queue.is_empty();
        match notice.kind {
            NoticeKind::InitiallyAdded => self.tracker.start(1),
            _ if self.waiting && !self.overflowing && !self.options.coalesce && self.queue.len() >= self.options.bound => {
                self.overflowing = true;
                full = true;
                self.queue.push(Notice::overflow(), false);
            }
            _ => {}
        }
        let unseen = self.queue.push(notice, self.options.coalesce || self.overflowing);
        self.finish(unseen);
        full
    }

    fn filtered(&self, notice: &Rc<Notice>, fields: &FieldSet) -> Option<Rc<Notice>> {
        let (Some(filter), Some(object)) = (&self.options.filter, &notice.object) else { return Some(notice.clone()) };
        let passes = filter.passes(object, fields);
        if notice.kind != NoticeKind::Updated {
            return passes.then(|| notice.clone());
        }
        let old = notice.old.as_ref().filter(|old| filter.passes(old, fields));
        match (old, passes) {
            (Some(_), true) => Some(notice.clone()),
            (None, true) => Some(Notice::new(NoticeKind::Added, object.clone(), None)),
            (Some(old), false) => Some(Notice::new(NoticeKind::Deleted, old.clone(), Some(old.clone()))),
            (None, false) => None,
        }
    }

    /// Queues the objects once more, unless that waits still.
    pub fn hear_resync<'a>(&mut self, notices: impl Iterator<Item = &'a Rc<Notice>>, fields: &FieldSet) {
        if self.queue.awaits_resync() {
            return;
        }
        // It tells no change, so it is none of those that the bound is about.
        for notice in notices {
            if let Some(notice) = self.filtered(notice, fields) {
                self.queue.push(notice, self.options.coalesce || self.overflowing);
            }
        }
    }

    /// All of the initial state is queued.
    pub fn upstream_synced(&mut self) {
        self.tracker.upstream_synced();
    }

    /// What it is given now: at most so many notices.
    pub fn take(&mut self, most: usize) -> &[Rc<Notice>] {
        if self.waiting || self.gone {
            return &[];
        }
        debug_assert!(self.in_hand.is_empty(), "a flush is over before the next");
        let most = if self.paced { 1 } else { most };
        self.in_hand.extend((0..most).map_while(|_| self.queue.pop()));
        &self.in_hand
    }

    /// Whether something waits that it would take.
    pub fn is_due(&self) -> bool {
        !self.waiting && !self.gone && (!self.queue.is_empty() || self.tracker.has_synced() && !self.synced_told)
    }

    /// It is not done with the last of so many notices that it was given; it never got to those after, which wait again. With `pace` it gets
    /// one at a time from now on, until it is done with one at once.
    ///
    /// `straight` is what the flush gave without queues.
    pub fn wait(&mut self, begun: usize, pace: bool, straight: &[Rc<Notice>]) {
        self.waiting = true;
        self.paced = pace;
        let straight = &straight[..self.straight.min(straight.len())];
        let queued = begun.saturating_sub(straight.len()).min(self.in_hand.len());
        self.queue.push_front(self.in_hand.drain(queued..));
        self.queue.push_front(straight.iter().skip(begun).cloned());
        self.straight = 0;
    }

    /// It is done with all that it was given.
    pub fn done(&mut self) {
        self.waiting = false;
        let initial = self.in_hand.drain(..).filter(|notice| notice.kind == NoticeKind::InitiallyAdded).count();
        self.finish(initial);
    }

    /// A flush is over: unless it said that it is not done, it is.
    pub fn given(&mut self) {
        self.straight = 0;
        if !self.waiting {
            self.paced = false;
            self.done();
        }
    }

    fn finish(&mut self, notices: usize) {
        // Counted by this very type on both sides, so there are as many.
        let counted = self.tracker.finish(notices);
        debug_assert!(counted.is_ok(), "{counted:?}");
    }

    /// Whether it has handled the state that it began with, whether or not its function threw.
    pub fn has_synced(&self) -> bool {
        self.tracker.has_synced()
    }

    /// Whether it is to be told now that it has synced.
    pub fn tell_synced(&mut self) -> bool {
        let tell = self.tracker.has_synced() && !self.synced_told && !self.gone;
        self.synced_told |= tell;
        tell
    }

    /// Nothing is given to it any more.
    pub fn remove(&mut self) {
        self.gone = true;
        self.queue.clear();
        // Outside a flush nothing else looks at it again.
        self.in_hand = Vec::new();
    }

    /// Bytes of what waits for it, and of what it was given and is not done with: places, and the objects that nobody but readers hold.
    pub(super) fn held(&self) -> usize {
        let late = |object: &Option<Rc<Object>>| {
            object.as_ref().filter(|object| object.holder() == Holder::Nobody).map_or(0, |object| object.size())
        };
        let notices = self.queue.iter().chain(&self.in_hand);
        notices.map(|notice| Self::PLACE + late(&notice.object) + late(&notice.old)).sum()
    }

    /// Bytes of the places alone.
    pub(super) fn bytes(&self) -> usize {
        Self::PLACE * (self.queue.len() + self.in_hand.len())
    }

    /// Notices that wait.
    pub fn queued(&self) -> usize {
        self.straight + self.queue.len()
    }
}

/// A notice of each object, the same to all who hear it.
pub(super) fn notices_of<'a>(objects: impl Iterator<Item = &'a Rc<Object>>, kind: NoticeKind) -> Vec<Rc<Notice>> {
    let old = |object: &Rc<Object>| (kind == NoticeKind::Resynced).then(|| object.clone());
    objects.map(|object| Notice::new(kind, object.clone(), old(object))).collect()
}
