//! What the rows of a view become at its next look, merged by row.

use std::rc::Rc;

use crate::object::Object;

use super::rows::{NONE_PENDING, Row, Rows};

/// What one row becomes.
pub(super) struct Next {
    pub(super) row: u32,
    /// None: it goes.
    pub(super) object: Option<Rc<Object>>,
    /// Whether its place is the one that the row has.
    pub(super) stays: bool,
}

/// Each row knows where its next state stands here.
#[derive(Default)]
pub(super) struct Pending(Vec<Next>);

impl Pending {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a row becomes; `None` where it stays what it is.
    pub(super) fn of(&self, row: &Row) -> Option<&Next> {
        self.0.get(row.pending as usize)
    }

    /// The rows that go.
    pub(super) fn gone(&self) -> impl Iterator<Item = u32> {
        self.0.iter().filter(|next| next.object.is_none()).map(|next| next.row)
    }

    /// Notes what a row becomes, in place of what it was to become.
    #[allow(clippy::cast_possible_truncation)] // no more than rows
    pub(super) fn note(&mut self, next: Next, rows: &mut Rows) {
        let Some(row) = rows.get_mut(next.row) else { return };
        match self.0.get_mut(row.pending as usize) {
            Some(waiting) => *waiting = next,
            None => {
                row.pending = self.0.len() as u32;
                self.0.push(next);
            }
        }
    }

    /// Forgets what a row was to become.
    pub(super) fn forget(&mut self, row: u32, rows: &mut Rows) {
        let Some(row) = rows.get_mut(row).filter(|row| row.pending != NONE_PENDING) else { return };
        let at = std::mem::replace(&mut row.pending, NONE_PENDING);
        self.0.swap_remove(at as usize);
        if let Some(moved) = self.0.get(at as usize).and_then(|moved| rows.get_mut(moved.row)) {
            moved.pending = at;
        }
    }

    /// Takes the next one, in no particular order.
    pub(super) fn pop(&mut self, rows: &mut Rows) -> Option<Next> {
        let next = self.0.pop()?;
        if let Some(row) = rows.get_mut(next.row) {
            row.pending = NONE_PENDING;
        }
        Some(next)
    }

    /// Gives back memory that a burst took.
    pub(super) fn shrink(&mut self) {
        if self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(2 * self.0.len());
        }
    }

    /// Bytes that they take. The objects count elsewhere.
    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Next>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    fn next(row: u32, version: u64) -> Next {
        Next { row, object: Some(named("x", version)), stays: false }
    }

    #[test]
    fn a_row_has_one_next_state_the_newest() {
        let (mut rows, mut pending) = (Rows::default(), Pending::default());
        let row = rows.add(&named("x", 1));
        assert!(pending.of(rows.get(row)).is_none());
        pending.note(next(row, 2), &mut rows);
        pending.note(next(row, 3), &mut rows);
        let taken = pending.pop(&mut rows).and_then(|next| next.object).unwrap();
        assert_eq!(taken.version().as_u64(), Some(3));
        assert!(pending.is_empty() && pending.of(rows.get(row)).is_none());
    }

    #[test]
    fn what_is_forgotten_leaves_the_others_where_their_rows_find_them() {
        let (mut rows, mut pending) = (Rows::default(), Pending::default());
        let all = ["a", "b", "c"].map(|name| rows.add(&named(name, 1)));
        all.iter().for_each(|row| pending.note(next(*row, 2), &mut rows));
        pending.forget(all[0], &mut rows);
        pending.forget(all[0], &mut rows);
        let found = all.map(|row| pending.of(rows.get(row)).map(|next| next.row));
        assert_eq!(found, [None, Some(all[1]), Some(all[2])]);
    }
}
