//! What waits for one handler, in order.

use std::collections::VecDeque;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::notification::{Notification, NotificationKind};
use crate::key::Key;
use crate::selector::Interest;

/// How what waits of one object merges with what comes of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Merge<'a> {
    /// Not at all.
    Not,
    /// Into what became of the object.
    All,
    /// The same for a handler that does not hear of every update. An update that is no news may be dropped, so no resync becomes part of one. With
    /// an interest, updates that it does not want are dropped here; else who hears of them judges.
    News(Option<&'a Interest>),
}

/// A listener's queue. Notifications of one object may merge while none of them was delivered:
///
/// | waits | comes | becomes |
/// |---|---|---|
/// | update 1→2 | update 2→3 | update 1→3 |
/// | add | update | add, of the newest |
/// | add | delete | nothing |
/// | update | delete | delete |
/// | delete | add | both: it is another object |
#[derive(Debug, Default)]
pub(super) struct Queue {
    // A place is empty where an object came and went.
    notifications: VecDeque<Option<Rc<Notification>>>,
    // How many have left at the front, so that places keep their numbers. It wraps below 0 where more were put back than left.
    left: u64,
    // By key, the place of the last notification that the next one may merge with.
    mergeable: FxHashMap<Key, u64>,
    // How many wait, and how many of them are of a resync.
    count: usize,
    resyncs: usize,
}

impl Queue {
    /// Adds a notification, merged with what waits of the same object as `merge` says.
    ///
    /// Returns how many notifications of the initial state nobody will see.
    pub(super) fn push(&mut self, notification: Rc<Notification>, merge: Merge<'_>) -> usize {
        let Some(key) = notification.key().filter(|_| !matches!(merge, Merge::Not)).cloned() else {
            self.append(notification);
            return 0;
        };
        let index = self.place_of(&key);
        let waiting = self.notifications.get(index).and_then(Option::as_ref);
        match waiting.map_or(Merged::Both, |first| merged(first, &notification, merge)) {
            Merged::Both => {
                self.mergeable.insert(key, self.left.wrapping_add(self.notifications.len() as u64));
                self.append(notification);
                0
            }
            Merged::One(merged) => {
                self.replace(index, Some(merged));
                0
            }
            Merged::None => {
                self.mergeable.remove(&key);
                let unseen = self.replace(index, None);
                usize::from(unseen.is_some_and(|unseen| unseen.kind == NotificationKind::InitiallyAdded))
            }
        }
    }

    /// Where the notification stands that the next one of this object may merge with; beyond all where there is none.
    fn place_of(&self, key: &Key) -> usize {
        self.mergeable.get(key).and_then(|place| usize::try_from(place.wrapping_sub(self.left)).ok()).unwrap_or(usize::MAX)
    }

    fn append(&mut self, notification: Rc<Notification>) {
        self.came(&notification);
        self.notifications.push_back(Some(notification));
    }

    /// Puts this in a place that holds a notification, and returns that.
    fn replace(&mut self, index: usize, by: Option<Rc<Notification>>) -> Option<Rc<Notification>> {
        if let Some(by) = &by {
            self.came(by);
        }
        let gone = std::mem::replace(self.notifications.get_mut(index)?, by)?;
        self.went(&gone);
        // An object that changes back and forth would leave a place for each time.
        while matches!(self.notifications.back(), Some(None)) {
            self.notifications.pop_back();
        }
        Some(gone)
    }

    fn came(&mut self, notification: &Notification) {
        self.count += 1;
        self.resyncs += usize::from(notification.kind == NotificationKind::Resynced);
    }

    fn went(&mut self, notification: &Notification) {
        self.count -= 1;
        self.resyncs -= usize::from(notification.kind == NotificationKind::Resynced);
    }

    /// Takes the first notification.
    pub(super) fn pop(&mut self) -> Option<Rc<Notification>> {
        loop {
            let notification = self.notifications.pop_front()?;
            self.left = self.left.wrapping_add(1);
            let Some(notification) = notification else { continue };
            self.went(&notification);
            // What follows is told by itself, because this one was delivered.
            if let Some(key) = notification.key()
                && self.mergeable.get(key) == Some(&self.left.wrapping_sub(1))
            {
                self.mergeable.remove(key);
            }
            return Some(notification);
        }
    }

    /// Puts notifications that were taken back to the front, in their order. Nothing merges with them any more.
    pub(super) fn push_front(&mut self, notifications: impl DoubleEndedIterator<Item = Rc<Notification>>) {
        for notification in notifications.rev() {
            self.left = self.left.wrapping_sub(1);
            self.came(&notification);
            self.notifications.push_front(Some(notification));
        }
    }

    /// All that waits, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Rc<Notification>> {
        self.notifications.iter().flatten()
    }

    /// Notifications that wait.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether an earlier resync has not been told yet.
    pub(super) fn awaits_resync(&self) -> bool {
        self.resyncs > 0
    }

    /// Forgets all of it.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What becomes of two notifications of one object.
enum Merged {
    /// They cannot merge.
    Both,
    /// This stands for both.
    One(Rc<Notification>),
    /// Nothing is left to tell.
    None,
}

fn merged(first: &Rc<Notification>, next: &Rc<Notification>, merge: Merge<'_>) -> Merged {
    let Some(object) = next.object.clone() else { return Merged::Both };
    match (first.kind, next.kind) {
        (kind, _) if kind.is_deletion() => Merged::Both,
        (kind, next) if kind.is_addition() && next.is_deletion() => Merged::None,
        (kind, _) if kind.is_addition() => Merged::One(Notification::new(kind, object, None)),
        (NotificationKind::Resynced, NotificationKind::Updated) | (NotificationKind::Updated, NotificationKind::Resynced)
            if matches!(merge, Merge::News(_)) =>
        {
            Merged::Both
        }
        (NotificationKind::Resynced, _) => Merged::One(next.clone()),
        (_, NotificationKind::Resynced) => Merged::One(first.clone()),
        (_, kind) => match (&first.old, merge) {
            (Some(old), Merge::News(Some(interest))) if !kind.is_deletion() && !interest.wants_merged(old, &object) => Merged::None,
            _ => Merged::One(Notification::new(kind, object, first.old.clone())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    fn notification(kind: NotificationKind, old: u64, new: u64) -> Rc<Notification> {
        Notification::new(kind, named("x", new), (old > 0).then(|| named("x", old)))
    }

    fn added(version: u64) -> Rc<Notification> {
        notification(NotificationKind::Added, 0, version)
    }

    fn updated(old: u64, new: u64) -> Rc<Notification> {
        notification(NotificationKind::Updated, old, new)
    }

    fn deleted(version: u64) -> Rc<Notification> {
        notification(NotificationKind::Deleted, version - 1, version)
    }

    fn drained(queue: &mut Queue) -> Vec<String> {
        std::iter::from_fn(|| queue.pop()).map(|notification| format!("{notification:?}")).collect()
    }

    fn told(notifications: &[Rc<Notification>]) -> Vec<String> {
        let mut queue = Queue::default();
        for notification in notifications {
            queue.push(notification.clone(), Merge::All);
        }
        let count = queue.len();
        let told = drained(&mut queue);
        assert_eq!((told.len(), queue.len()), (count, 0));
        told
    }

    #[test]
    fn q_34_undelivered_notifications_of_one_object_merge_where_that_was_asked_for() {
        assert_eq!(told(&[updated(1, 2), updated(2, 3)]), ["U(x@1->3)"]);
        assert_eq!(told(&[added(1), updated(1, 2)]), ["A(x@2)"]);
        assert_eq!(told(&[added(1), deleted(2)]), [""; 0]);
        assert_eq!(told(&[updated(1, 2), deleted(3)]), ["D(x@3)"]);
        assert_eq!(told(&[deleted(3), added(4)]), ["D(x@3)", "A(x@4)"], "another object of that name");
        assert_eq!(told(&[deleted(3), added(4), updated(4, 5)]), ["D(x@3)", "A(x@5)"]);
        assert_eq!(told(&[deleted(3), added(4), deleted(5)]), ["D(x@3)"]);
    }

    #[test]
    fn law_08_bounded_what_comes_and_goes_leaves_no_places() {
        let mut queue = Queue::default();
        queue.push(notification(NotificationKind::InitiallyAdded, 0, 1), Merge::Not);
        for version in 0..100 {
            queue.push(added(2 * version + 2), Merge::All);
            queue.push(deleted(2 * version + 3), Merge::All);
            assert_eq!((queue.notifications.len(), queue.len()), (1, 1));
        }
        queue.push(added(300), Merge::All);
        queue.push(updated(300, 301), Merge::All);
        assert_eq!(drained(&mut queue), ["A!(x@1)", "A(x@301)"]);
    }

    #[test]
    fn q_34_nothing_merges_unasked_or_across_a_delivery() {
        let mut queue = Queue::default();
        queue.push(updated(1, 2), Merge::Not);
        queue.push(updated(2, 3), Merge::Not);
        assert_eq!(drained(&mut queue), ["U(x@1->2)", "U(x@2->3)"]);

        queue.push(added(1), Merge::All);
        assert_eq!(format!("{:?}", queue.pop().unwrap()), "A(x@1)");
        queue.push(deleted(2), Merge::All);
        assert_eq!(drained(&mut queue), ["D(x@2)"]);
    }

    #[test]
    fn an_initial_add_that_goes_unseen_is_counted() {
        let mut queue = Queue::default();
        assert_eq!(queue.push(notification(NotificationKind::InitiallyAdded, 0, 1), Merge::All), 0);
        assert_eq!(queue.push(updated(1, 2), Merge::All), 0);
        assert_eq!(queue.push(deleted(3), Merge::All), 1);
        assert!(queue.is_empty() && queue.pop().is_none());
    }

    #[test]
    fn a_resync_gives_way_to_what_changed() {
        let resynced = |version| notification(NotificationKind::Resynced, version, version);
        assert_eq!(told(&[resynced(1), resynced(1)]), ["U(x@1->1)"]);
        assert_eq!(told(&[resynced(1), updated(1, 2)]), ["U(x@1->2)"]);
        assert_eq!(told(&[updated(1, 2), resynced(2)]), ["U(x@1->2)"]);
        assert_eq!(told(&[added(1), resynced(1)]), ["A(x@1)"]);
        let mut queue = Queue::default();
        queue.push(resynced(1), Merge::All);
        assert!(queue.awaits_resync());
        queue.push(updated(1, 2), Merge::All);
        assert!(!queue.awaits_resync());
    }

    #[test]
    fn chg_07_a_resync_and_an_update_merge_neither_way_where_updates_may_be_no_news() {
        let resynced = |version| notification(NotificationKind::Resynced, version, version);
        for order in [[updated(1, 2), resynced(2)], [resynced(1), updated(1, 2)]] {
            let mut queue = Queue::default();
            order.iter().for_each(|notification| _ = queue.push(notification.clone(), Merge::News(None)));
            assert_eq!(queue.len(), 2, "{order:?}");
            // A deletion says all there is to say.
            queue.push(deleted(3), Merge::News(None));
            assert_eq!(format!("{:?}", queue.iter().last().unwrap()), "D(x@3)");
        }
    }
}
