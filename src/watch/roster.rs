//! Watchers in the order in which they came. Any of them may go at any time.

use crate::watch::id::WatcherId;

/// The ids of watchers, each with the number under which it joined. Numbers grow.
///
/// A watcher that goes leaves a gap. Gaps are closed when they are half of all places. To close each at once would cost the square of the number
/// of watchers when all of them end, as when a page leaves.
#[derive(Debug, Default)]
pub(super) struct Roster {
    ids: Vec<WatcherId>,
    joined: Vec<u64>,
    gaps: usize,
}

/// What stands in a gap; no watcher has it.
const GAP: WatcherId = WatcherId::of(usize::MAX);

impl Roster {
    /// Adds a watcher behind all others.
    pub(super) fn push(&mut self, joined: u64, id: WatcherId) {
        self.ids.push(id);
        self.joined.push(joined);
    }

    /// Takes out the watcher that joined under this number; whether it was there.
    pub(super) fn remove(&mut self, joined: u64, id: WatcherId) -> bool {
        let Ok(place) = self.joined.binary_search(&joined) else { return false };
        if self.ids[place] != id {
            return false;
        }
        self.ids[place] = GAP;
        self.gaps += 1;
        if 2 * self.gaps > self.ids.len() {
            self.close_gaps();
        }
        true
    }

    /// The last ids, so many at most. Some may stand for nobody.
    pub(super) fn last(&self, count: usize) -> &[WatcherId] {
        &self.ids[self.ids.len().saturating_sub(count)..]
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len() - self.gaps
    }

    /// The ids. Closes the gaps first.
    pub(super) fn all(&mut self) -> &[WatcherId] {
        if self.gaps > 0 {
            self.close_gaps();
        }
        &self.ids
    }

    /// Adds the ids to these.
    pub(super) fn add_to(&self, found: &mut Vec<WatcherId>) {
        if self.gaps == 0 {
            found.extend_from_slice(&self.ids);
        } else {
            found.extend(self.ids.iter().filter(|id| **id != GAP));
        }
    }

    fn close_gaps(&mut self) {
        let mut ids = self.ids.iter();
        self.joined.retain(|_| ids.next().is_some_and(|id| *id != GAP));
        self.ids.retain(|id| *id != GAP);
        self.gaps = 0;
        if self.ids.is_empty() {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn who_is_there_stands_in_the_order_of_coming(steps in prop::collection::vec((any::<bool>(), 0usize..40), 0..200)) {
            let (mut roster, mut model): (Roster, Vec<(u64, WatcherId)>) = Default::default();
            let mut gone = Vec::new();
            for (joined, (comes, pick)) in steps.into_iter().enumerate() {
                let (joined, id) = (joined as u64, WatcherId::of(pick));
                if comes {
                    roster.push(joined, id);
                    model.push((joined, id));
                } else if !model.is_empty() {
                    let one = model.remove(pick % model.len());
                    prop_assert!(roster.remove(one.0, one.1));
                    gone.push(one);
                }
                for (joined, id) in &gone {
                    prop_assert!(!roster.remove(*joined, *id), "who is gone goes no more");
                }
                let expected: Vec<WatcherId> = model.iter().map(|(_, id)| *id).collect();
                prop_assert!(2 * roster.gaps <= roster.ids.len(), "no more than half of it is gaps");
                let mut found = Vec::new();
                roster.add_to(&mut found);
                prop_assert_eq!((&found, roster.len()), (&expected, expected.len()));
                if pick % 3 == 0 {
                    prop_assert_eq!(roster.all(), expected);
                }
            }
        }
    }
}
