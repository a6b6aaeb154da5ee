//! The rows of a view: found by key, standing in an order, counted by group.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use slab::Slab;

use crate::allocation::allocation;
use crate::key::Key;
use crate::object::{Holder, Object};
use crate::sort::sort_by;

use super::count::Counts;
use super::criteria::Place;
use super::ranks::Ranks;

/// An object with its place in the order.
pub(super) struct Row {
    pub(super) object: Rc<Object>,
    sort_key: Box<[u8]>,
    group: Option<Rc<str>>,
    ranked: bool,
    /// Where its next state waits; see [`Pending`](super::pending::Pending).
    pub(super) pending: u32,
    /// Whether a range shows it; see [`Ranges`](super::ranges::Ranges).
    pub(super) shown: bool,
}

impl Row {
    /// Whether it stands in the order. One that does not waits to be taken in.
    pub(super) fn is_ranked(&self) -> bool {
        self.ranked
    }

    /// Whether this is the place that it has.
    pub(super) fn stands_at(&self, place: &Place<'_>) -> bool {
        *self.sort_key == *place.sort_key && self.group == place.group
    }
}

/// In place of an index: nothing waits for the row.
pub(super) const NONE_PENDING: u32 = u32::MAX;

/// How the order has changed: a row has left one position, and a row has entered one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) left: Option<usize>,
    pub(super) entered: Option<usize>,
}

/// Rows by number. The number of a row that is gone is used again.
#[derive(Default)]
pub(super) struct Rows {
    rows: Slab<Row>,
    by_key: FxHashMap<Key, u32>,
    ranks: Ranks,
    counts: Counts,
    key_bytes: usize,
}

impl Rows {
    /// How many stand in the order.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// A row.
    pub(super) fn get(&self, row: u32) -> &Row {
        &self.rows[row as usize]
    }

    /// The same, to note something of it. `None` where it is gone.
    pub(super) fn get_mut(&mut self, row: u32) -> Option<&mut Row> {
        self.rows.get_mut(row as usize)
    }

    /// Whether there is a row of this number.
    pub(super) fn has(&self, row: u32) -> bool {
        self.rows.contains(row as usize)
    }

    /// The row of a key.
    pub(super) fn find(&self, key: &str) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// The position of a row in the order; `None` where it does not stand there.
    pub(super) fn position(&self, row: u32) -> Option<usize> {
        self.get(row).ranked.then(|| self.ranks.rank(row))
    }

    /// The rows in their order, from a position on.
    pub(super) fn from(&self, position: usize) -> impl Iterator<Item = u32> {
        self.ranks.from(position.min(self.ranks.len()))
    }

    /// How many rows of the order have each group.
    pub(super) fn counts(&self) -> Vec<(Rc<str>, usize)> {
        self.counts.iter().map(|(value, count)| (value.clone(), count)).collect()
    }

    /// Whether any count differs from what it was when this was last asked.
    pub(super) fn take_counts_changed(&mut self) -> bool {
        self.counts.take_changed()
    }

    /// Bytes of rows and places. The objects count elsewhere.
    pub(super) fn bytes(&self) -> usize {
        let row = size_of::<Row>() + 2 * size_of::<(Key, u32)>() + Ranks::PLACE_BYTES;
        self.rows.len() * row + self.key_bytes
    }

    /// Bytes of objects that nobody but readers hold. Looks at all rows.
    pub(super) fn late_bytes(&self) -> usize {
        let late = |row: &Row| if row.object.holder() == Holder::Nobody { row.object.size() } else { 0 };
        self.rows.iter().map(|(_, row)| late(row)).sum()
    }

    /// Adds a row, which does not stand in the order yet.
    #[allow(clippy::cast_possible_truncation)] // more rows than that do not fit in memory
    pub(super) fn add(&mut self, object: &Rc<Object>) -> u32 {
        let object = object.clone();
        let key = object.key().clone();
        let row = Row { object, sort_key: Box::default(), group: None, ranked: false, pending: NONE_PENDING, shown: false };
        let number = self.rows.insert(row) as u32;
        self.by_key.insert(key, number);
        number
    }

    /// Adds a row, and gives it its place. It enters the order with [`enter_all`](Rows::enter_all).
    pub(super) fn add_at(&mut self, object: &Rc<Object>, place: Place<'_>) -> u32 {
        let row = self.add(object);
        self.give(row, place);
        row
    }

    /// Makes these rows, which have their places, the order: sorted once.
    pub(super) fn enter_all(&mut self, mut rows: Vec<u32>) {
        sort_by(&mut rows, |a, b| self.get(*a).sort_key.cmp(&self.get(*b).sort_key));
        self.ranks.fill(&rows);
        rows.into_iter().for_each(|row| self.rows[row as usize].ranked = true);
    }

    /// Puts a row that does not stand in the order where its place is.
    pub(super) fn enter(&mut self, row: u32, place: Place<'_>) {
        self.give(row, place);
        self.rank(row);
    }

    /// Gives a row its next object, whose place is the same.
    pub(super) fn replace(&mut self, row: u32, object: Rc<Object>) {
        self.rows[row as usize].object = object;
    }

    /// Gives a row its next object, and moves it to where that belongs. `None` where it stands there. The positions are only found out where
    /// somebody asks for them.
    pub(super) fn renew(&mut self, at: u32, object: Rc<Object>, place: Place<'_>, ask: bool) -> Option<Step> {
        let row = &mut self.rows[at as usize];
        row.object = object;
        if !row.ranked {
            self.enter(at, place);
            return Some(Step { left: None, entered: self.asked(at, ask) });
        }
        if row.group != place.group {
            if let Some(group) = &row.group {
                self.counts.remove(group);
            }
            if let Some(group) = &place.group {
                self.counts.add(group);
            }
            row.group = place.group;
        }
        if *row.sort_key == *place.sort_key {
            return None;
        }
        let left = self.asked(at, ask);
        self.ranks.remove(at);
        let held = &mut self.rows[at as usize].sort_key;
        self.key_bytes = self.key_bytes - allocation(held.len()) + allocation(place.sort_key.len());
        if held.len() == place.sort_key.len() {
            held.copy_from_slice(place.sort_key);
        } else {
            *held = place.sort_key.into();
        }
        self.rank(at);
        Some(Step { left, entered: self.asked(at, ask) })
    }

    /// Removes a row. Where it stood is only found out where somebody asks for it.
    pub(super) fn remove(&mut self, at: u32, ask: bool) -> Step {
        let mut left = None;
        if self.get(at).ranked {
            left = self.asked(at, ask);
            self.ranks.remove(at);
        }
        let row = self.rows.remove(at as usize);
        self.key_bytes -= if row.ranked { allocation(row.sort_key.len()) } else { 0 };
        self.by_key.remove(row.object.key());
        if let Some(group) = &row.group {
            self.counts.remove(group);
        }
        Step { left, entered: None }
    }

    fn give(&mut self, row: u32, Place { sort_key, group }: Place<'_>) {
        if let Some(group) = &group {
            self.counts.add(group);
        }
        self.key_bytes += allocation(sort_key.len());
        let row = &mut self.rows[row as usize];
        row.sort_key = sort_key.into();
        row.group = group;
    }

    fn rank(&mut self, row: u32) {
        let sort_key = &*self.rows[row as usize].sort_key;
        self.ranks.insert(row, |other| *self.rows[other as usize].sort_key < *sort_key);
        self.rows[row as usize].ranked = true;
    }

    fn asked(&self, row: u32, ask: bool) -> Option<usize> {
        ask.then(|| self.ranks.rank(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocation::table;
    use crate::testing::named;

    fn place(sort_key: &[u8]) -> Place<'_> {
        Place { sort_key, group: Some("g".into()) }
    }

    #[test]
    fn law_08_bounded_rows_count_as_many_bytes_as_they_take_with_their_keys_and_their_table() {
        let mut rows = Rows::default();
        // So many that an array which doubles is full, and a table half full.
        let numbers =
            (0..2048).map(|number| rows.add_at(&named(&format!("{number}"), 1), place(format!("{number:020}").as_bytes()))).collect();
        rows.enter_all(numbers);
        let keys = 2048 * allocation(20);
        let taken = rows.rows.capacity() * size_of::<Row>() + table(&rows.by_key) + keys + 2048 * Ranks::PLACE_BYTES;
        assert!(rows.bytes().abs_diff(taken) * 20 < taken, "{} bytes are counted, {taken} are taken", rows.bytes());
    }

    #[test]
    fn a_row_is_found_counted_and_stands_where_its_place_is_until_it_goes() {
        let mut rows = Rows::default();
        let [a, b] = ["a", "b"].map(|name| rows.add(&named(name, 1)));
        assert_eq!((rows.len(), rows.position(a)), (0, None), "it stands nowhere yet");
        rows.enter(a, place(b"1"));
        rows.enter(b, place(b"2"));
        assert_eq!((rows.position(a), rows.position(b), rows.counts()), (Some(0), Some(1), vec![("g".into(), 2)]));
        let step = rows.renew(a, named("a", 2), place(b"3"), true).unwrap();
        assert_eq!((step.left, step.entered, rows.position(a)), (Some(0), Some(1), Some(1)));
        assert!(rows.renew(a, named("a", 3), place(b"3"), true).is_none(), "it stands there");
        assert_eq!(rows.remove(b, true).left, Some(0));
        rows.remove(a, false);
        assert_eq!((rows.len(), rows.find("a"), rows.counts(), rows.bytes()), (0, None, vec![], 0));
    }
}
