//! Watchers in the order in which they came, of whom any may go at once.

use crate::watch::id::WatcherId;

/// The ids of watchers, each with the turn at which it came. Turns grow.
///
/// Who goes leaves a gap, and the gaps are closed when they are many: closing each at once would make the end of all watchers, which is how
/// a page leaves, cost the square of their number.
#[derive(Debug, Default)]
pub(super) struct Roster {
    ids: Vec<WatcherId>,
    turns: Vec<u64>,
    gaps: usize,
}

/// What stands in a gap; no watcher has it.
const GAP: WatcherId = WatcherId::of(usize::MAX);

impl Roster {
    /// Adds who came last.
    pub(super) fn push(&mut self, turn: u64, id: WatcherId) {
        self.ids.push(id);
        self.turns.push(turn);
    }

    /// Takes out who came at this turn; whether it was there.
    pub(super) fn remove(&mut self, turn: u64, id: WatcherId) -> bool {
        let Ok(place) = self.turns.binary_search(&turn) else { return false };
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

    /// The last ids, so many at most; some may stand for nobody.
    pub(super) fn last(&self, count: usize) -> &[WatcherId] {
        &self.ids[self.ids.len().saturating_sub(count)..]
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len() - self.gaps
    }

    /// The ids; closes the gaps before.
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
        self.turns.retain(|_| ids.next().is_some_and(|id| *id != GAP));
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
            for (turn, (comes, pick)) in steps.into_iter().enumerate() {
                let (turn, id) = (turn as u64, WatcherId::of(pick));
                if comes {
                    roster.push(turn, id);
                    model.push((turn, id));
                } else if !model.is_empty() {
                    let one = model.remove(pick % model.len());
                    prop_assert!(roster.remove(one.0, one.1));
                    gone.push(one);
                }
                for (turn, id) in &gone {
                    prop_assert!(!roster.remove(*turn, *id), "who is gone goes no more");
                }
                let expected: Vec<WatcherId> = model.iter().map(|(_, id)| *id).collect();
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
