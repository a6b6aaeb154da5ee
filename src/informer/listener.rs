//! The processor listener of one registered handler: its queue, and what the handler is doing.

use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::key::Key;
use crate::object::{Holder, Object};
use crate::selector::{Filter, Interest};
use crate::time::{Instant, Millis};

use super::notification::{Notification, NotificationKind};
use super::queue::{Merge, Queue};
use super::resync::Resync;
use super::sync::SyncTracker;

/// Changes that may wait for a handler which is not done with the last: enough for a burst, and few to catch up with.
pub const DEFAULT_BUFFER_SIZE: usize = 1000;

/// How a handler is registered.
#[derive(Clone, Debug)]
pub struct HandlerOptions {
    /// Its own resync period in milliseconds; 0 is none, `None` the informer's.
    pub resync_period: Option<Millis>,
    /// Whether what waits of one object merges.
    pub coalesce: bool,
    /// Changes that may wait while it is not done with the last. Then what waits merges, after a notification of that.
    pub buffer_size: usize,
    /// Only these objects. One that comes to pass is added, one that ceases to is deleted, with its last state that passed.
    pub filter: Option<Filter>,
    /// Which updates it hears of. Additions, deletions and resyncs are told in any case.
    pub news: News,
}

impl Default for HandlerOptions {
    fn default() -> Self {
        Self { resync_period: None, coalesce: false, buffer_size: DEFAULT_BUFFER_SIZE, filter: None, news: News::Every }
    }
}

/// Which updates a handler hears of.
#[derive(Clone, Debug, Default)]
pub enum News {
    /// All.
    #[default]
    Every,
    /// Those that this interest wants.
    Of(Rc<Interest>),
    /// Those that the facade lets pass, because functions of users decide what is news to them.
    Judged,
}

/// A listener hears of everything once and in order. What waits for it is no concern of others.
#[derive(Debug)]
pub struct ProcessorListener {
    resync: Resync,
    options: HandlerOptions,
    queue: Queue,
    // The queue was full. Until it is empty, what waits merges.
    overflowing: bool,
    tracker: SyncTracker,
    synced_told: bool,
    handler: Handler,
    // What the handler was given and may not have handled.
    in_hand: Vec<Rc<Notification>>,
    // Whether the next flush looks at it.
    pending: bool,
    // How many notifications of the next flush, or of the one under way, go past its queue: the first so many.
    straight: usize,
}

/// What the handler is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handler {
    /// It takes what there is.
    Ready,
    /// It was not done at once with the last notification: it takes one at a time, so that what waits can merge.
    Paced,
    /// It is not done with what it was given. Until it says so, it gets nothing; then it is ready, or paced.
    Busy { paced: bool },
    /// It was removed, and gets nothing any more.
    Removed,
}

impl ProcessorListener {
    /// Bytes that one notification takes: itself, its place in the queue, and where it is found to be merged.
    const PLACE_BYTES: usize = size_of::<Notification>() + 2 * size_of::<(Rc<Notification>, Key, u64)>();

    /// A listener that has heard of nothing.
    pub(super) fn new(options: HandlerOptions, resync: Resync) -> Self {
        Self {
            resync,
            options,
            queue: Queue::default(),
            overflowing: false,
            tracker: SyncTracker::default(),
            synced_told: false,
            handler: Handler::Ready,
            in_hand: Vec::new(),
            pending: false,
            straight: 0,
        }
    }

    // ------------------------------------------------------------------------------------------------- what it hears

    /// Takes a notification past its queue, as number `place` of the next flush. Only where nothing waits before it, and no option asks for more.
    pub(super) fn take_straight(&mut self, place: usize) -> bool {
        let free = self.straight > 0 || !self.pending;
        let straight = free
            && self.straight == place
            && self.handler == Handler::Ready
            && !self.options.coalesce
            && self.options.filter.is_none()
            && !matches!(self.options.news, News::Of(_))
            && self.queue.is_empty();
        if straight {
            self.straight = place + 1;
        }
        straight
    }

    /// Queues what a notification is to this handler. Returns whether its queue overflowed with it.
    pub(super) fn hear(&mut self, notification: &Rc<Notification>, fields: &FieldSet) -> bool {
        let Some(notification) = self.filtered(notification, fields) else { return false };
        if !self.wants(&notification, fields) {
            return false;
        }
        let mut full = false;
        self.overflowing &= !self.queue.is_empty();
        let busy = matches!(self.handler, Handler::Busy { .. });
        match notification.kind {
            NotificationKind::InitiallyAdded => self.tracker.start(1),
            _ if busy && !self.overflowing && !self.options.coalesce && self.queue.len() >= self.options.buffer_size => {
                self.overflowing = true;
                full = true;
                self.queue.push(Notification::overflow(), Merge::Not);
            }
            _ => {}
        }
        let unseen = self.queue.push(notification, merge(&self.options, self.overflowing));
        self.finish(unseen);
        full
    }

    /// Only updates are ever held back.
    fn wants(&self, notification: &Notification, fields: &FieldSet) -> bool {
        match (&self.options.news, &notification.old, &notification.object) {
            (News::Of(interest), Some(old), Some(object)) if notification.kind == NotificationKind::Updated => {
                interest.wants(old, object, fields)
            }
            _ => true,
        }
    }

    fn filtered(&self, notification: &Rc<Notification>, fields: &FieldSet) -> Option<Rc<Notification>> {
        let (Some(filter), Some(object)) = (&self.options.filter, &notification.object) else { return Some(notification.clone()) };
        if notification.kind != NotificationKind::Updated {
            // Whatever its last state: who was told of the object is told of its end.
            let known = notification.old.as_ref().filter(|_| notification.kind.is_deletion()).unwrap_or(object);
            return filter.passes(known, fields).then(|| notification.clone());
        }
        let passes = filter.passes(object, fields);
        let old = notification.old.as_ref().filter(|old| filter.passes(old, fields));
        match (old, passes) {
            (Some(_), true) => Some(notification.clone()),
            (None, true) => Some(Notification::new(NotificationKind::Added, object.clone(), None)),
            (Some(old), false) => Some(Notification::new(NotificationKind::Deleted, old.clone(), Some(old.clone()))),
            (None, false) => None,
        }
    }

    /// Queues the objects once more, unless that waits still. It tells no change, so the bound does not count it.
    pub(super) fn hear_resync<'a>(&mut self, notifications: impl Iterator<Item = &'a Rc<Notification>>, fields: &FieldSet) {
        if self.queue.awaits_resync() {
            return;
        }
        for notification in notifications {
            if let Some(notification) = self.filtered(notification, fields) {
                self.queue.push(notification, merge(&self.options, self.overflowing));
            }
        }
    }

    /// All of the initial state is queued.
    pub(super) fn upstream_synced(&mut self) {
        self.tracker.upstream_synced();
    }

    /// The informer checks whether its resync is due.
    pub(super) fn resync_due(&mut self, now: Instant) -> bool {
        self.resync.fall_due(now)
    }

    /// Whether it hears of objects that did not change.
    pub(super) fn hears_unchanged(&self) -> bool {
        self.resync.is_syncing()
    }

    // ------------------------------------------------------------------------------------------------- what its handler takes

    /// Whether something waits that the handler would take.
    fn is_due(&self) -> bool {
        let takes = matches!(self.handler, Handler::Ready | Handler::Paced);
        takes && (!self.queue.is_empty() || self.tracker.has_synced() && !self.synced_told)
    }

    /// Has the next flush look at it, if there is something to give; whether that is new.
    pub(super) fn pend_if_due(&mut self) -> bool {
        !self.pending && self.is_due() && self.pend()
    }

    /// Has the next flush look at it; whether that is new.
    pub(super) fn pend(&mut self) -> bool {
        !std::mem::replace(&mut self.pending, true)
    }

    /// A flush looks at it. Returns how many notifications the handler is given past its queue.
    pub(super) fn begin_flush(&mut self) -> usize {
        self.pending = false;
        if self.is_removed() { 0 } else { self.straight }
    }

    /// What the handler is given now from the queue. What goes past the queue counts towards `max`.
    pub(super) fn take(&mut self, max: usize) -> &[Rc<Notification>] {
        let count = match self.handler {
            Handler::Ready => max.saturating_sub(self.straight),
            Handler::Paced => max.saturating_sub(self.straight).min(1),
            Handler::Busy { .. } | Handler::Removed => return &[],
        };
        debug_assert!(self.in_hand.is_empty(), "a flush is over before the next");
        self.in_hand.extend((0..count).map_while(|_| self.queue.pop()));
        &self.in_hand
    }

    /// The handler is not done with the last of so many notifications that it was given. It never got to those after, which wait again. With
    /// `pace` it gets one at a time from now on, until it is done with one at once.
    ///
    /// `straight` is what the flush gave past the queues.
    pub(super) fn wait(&mut self, begun: usize, pace: bool, straight: &[Rc<Notification>]) {
        self.handler = Handler::Busy { paced: pace };
        let straight = &straight[..self.straight.min(straight.len())];
        let queued = begun.saturating_sub(straight.len()).min(self.in_hand.len());
        self.queue.push_front(self.in_hand.drain(queued..));
        self.queue.push_front(straight.iter().skip(begun).cloned());
        self.straight = 0;
    }

    /// The handler is done with all that it was given.
    pub(super) fn done(&mut self) {
        if let Handler::Busy { paced } = self.handler {
            self.handler = if paced { Handler::Paced } else { Handler::Ready };
        }
        let initial = self.in_hand.drain(..).filter(|notification| notification.kind == NotificationKind::InitiallyAdded).count();
        self.finish(initial);
    }

    /// A flush is over: unless the handler said that it is not done, it is.
    pub(super) fn end_flush(&mut self) {
        self.straight = 0;
        match self.handler {
            Handler::Busy { .. } => return,
            Handler::Paced => self.handler = Handler::Ready,
            Handler::Ready | Handler::Removed => {}
        }
        self.done();
    }

    fn finish(&mut self, notifications: usize) {
        // Counted by this very type on both sides, so there are as many.
        let counted = self.tracker.finish(notifications);
        debug_assert!(counted.is_ok(), "{counted:?}");
    }

    // ------------------------------------------------------------------------------------------------- how it stands

    /// Whether the handler has handled the state that it began with, whether or not its function threw.
    pub fn has_synced(&self) -> bool {
        self.tracker.has_synced()
    }

    /// Whether the handler is to be told now that it has synced; told once.
    pub(super) fn tell_synced(&mut self) -> bool {
        let tell = self.tracker.has_synced() && !self.synced_told && !self.is_removed();
        self.synced_told |= tell;
        tell
    }

    /// The handler gets nothing any more.
    pub(super) fn remove(&mut self) {
        self.handler = Handler::Removed;
        self.queue.clear();
        // Outside a flush nothing else looks at it again.
        self.in_hand = Vec::new();
    }

    /// Whether its handler was removed.
    pub(super) fn is_removed(&self) -> bool {
        self.handler == Handler::Removed
    }

    /// Bytes of what waits for it, and of what its handler is not done with: places, and the objects that nobody but readers hold.
    pub(super) fn bytes_with_late(&self) -> usize {
        let late = |object: &Option<Rc<Object>>| {
            object.as_ref().filter(|object| object.holder() == Holder::Nobody).map_or(0, |object| object.size())
        };
        let notifications = self.queue.iter().chain(&self.in_hand);
        notifications.map(|notification| Self::PLACE_BYTES + late(&notification.object) + late(&notification.old)).sum()
    }

    /// Bytes of the places alone.
    pub(super) fn bytes(&self) -> usize {
        Self::PLACE_BYTES * (self.queue.len() + self.in_hand.len())
    }

    /// Notifications that wait.
    pub fn queued(&self) -> usize {
        self.straight + self.queue.len()
    }
}

/// How what waits for a handler merges.
fn merge(options: &HandlerOptions, overflowing: bool) -> Merge<'_> {
    match &options.news {
        _ if !options.coalesce && !overflowing => Merge::Not,
        News::Every => Merge::All,
        News::Of(interest) => Merge::News(Some(interest)),
        News::Judged => Merge::News(None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::resync::CheckPeriod;
    use super::*;
    use crate::selector::FilterText;
    use crate::testing::{labelled, named};

    fn listener() -> ProcessorListener {
        ProcessorListener::new(HandlerOptions::default(), CheckPeriod::new(0).admit(0, Instant::START))
    }

    fn added(version: u64) -> Rc<Notification> {
        Notification::new(NotificationKind::Added, named("x", version), None)
    }

    fn given(listener: &mut ProcessorListener) -> Vec<String> {
        listener.begin_flush();
        listener.take(500).iter().map(|notification| format!("{notification:?}")).collect()
    }

    #[test]
    fn a_busy_handler_gets_nothing_and_then_one_at_a_time_until_it_is_done_at_once() {
        let (mut listener, fields) = (listener(), FieldSet::new(Vec::new()));
        (1..=5).for_each(|version| _ = listener.hear(&added(version), &fields));
        assert_eq!(given(&mut listener).len(), 5);
        listener.wait(1, true, &[]);
        listener.end_flush();
        assert!(given(&mut listener).is_empty() && !listener.pend_if_due());
        assert_eq!(listener.queued(), 4, "it never got to these");
        listener.done();
        assert!(listener.pend_if_due());
        assert_eq!(given(&mut listener), ["A(x@2)"]);
        listener.end_flush();
        assert_eq!(given(&mut listener).len(), 3, "it was done at once");
    }

    #[test]
    fn only_the_next_in_order_goes_past_an_empty_queue() {
        let (mut listener, fields) = (listener(), FieldSet::new(Vec::new()));
        assert!(!listener.take_straight(1), "another was first, and it has not heard of that");
        assert!(listener.take_straight(0) && listener.pend() && listener.take_straight(1));
        assert_eq!(listener.queued(), 2);
        listener.hear(&added(3), &fields);
        assert!(!listener.take_straight(2), "one waits before it");
        listener.remove();
        assert_eq!((listener.begin_flush(), listener.take(500).len()), (0, 0));
    }

    #[test]
    fn in_33_who_was_told_of_an_object_is_told_of_its_end_whatever_its_last_state() {
        let mut fields = FieldSet::new(Vec::new());
        let filter = Filter::new(FilterText { labels: Some("app=web"), ..FilterText::default() }, &mut fields).unwrap();
        let options = HandlerOptions { filter: Some(filter), ..HandlerOptions::default() };
        let mut listener = ProcessorListener::new(options, CheckPeriod::new(0).admit(0, Instant::START));
        let state = |version, app| labelled("x", version, &[("app", app)]);
        let mut told_of_end = |held, last| {
            let deleted = Notification::new(NotificationKind::Deleted, state(2, last), Some(state(1, held)));
            listener.hear(&deleted, &fields);
            let told = given(&mut listener);
            listener.end_flush();
            told
        };
        assert_eq!(told_of_end("web", "web"), ["D(x@2)"]);
        assert_eq!(told_of_end("web", "db"), ["D(x@2)"]);
        assert_eq!(told_of_end("db", "web"), [""; 0]);
    }

    #[test]
    fn law_08_bounded_what_waits_and_what_its_handler_is_not_done_with_count_alike() {
        let (mut listener, fields) = (listener(), FieldSet::new(Vec::new()));
        (1..=3).for_each(|version| _ = listener.hear(&added(version), &fields));
        assert_eq!(listener.bytes(), 3 * ProcessorListener::PLACE_BYTES);
        given(&mut listener);
        listener.wait(2, true, &[]);
        listener.end_flush();
        let places = listener.queue.len() + listener.in_hand.len();
        assert!(!listener.in_hand.is_empty() && !listener.queue.is_empty());
        assert_eq!(listener.bytes(), places * ProcessorListener::PLACE_BYTES);
    }
}
